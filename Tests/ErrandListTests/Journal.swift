import HCI
import HaloBluetoothCore
import TestLoop
import HaloSimulation

/// What the peers of an errand, and the controller of its radio, have seen.
@BluetoothActor
final class Journal {
  struct Event: Equatable {
    /// Nil for the controller.
    var device: String?
    var text: String
    /// Whether it is a request that gets no answer.
    var isUnanswered = false
    var time: Instant
  }

  private(set) var events: [Event] = []
  private var counts: [String: Int] = [:]
  private let timers = testTimers

  func note(_ text: String, by device: String? = nil, isUnanswered: Bool = false) {
    counts[text, default: 0] += 1
    events.append(Event(device: device, text: text, isUnanswered: isUnanswered, time: timers.now))
  }

  /// What a device has seen of its links, without discovery, which has as many requests as a library finds useful.
  func seen(by device: String) -> [String] {
    events.filter { $0.device == device && $0.text != "discover" }.map(\.text)
  }

  func count(_ text: String) -> Int { counts[text] ?? 0 }

  /// Whether all links have ended; and the controller looks for nothing any more.
  var allHasEnded: Bool {
    let scans = events.filter { $0.device == nil && $0.text.hasPrefix("scan") }.map(\.text)
    return count("connected") == events.count { $0.text.hasPrefix("disconnected") }
      && scans.last != "scan on"
      && count("connecting") == count("connected") + count("given up") + count("refused")
  }
}

/// The transport to a virtual controller. It journals what the host looks for.
@BluetoothActor
final class ToldTransport: HCITransportLayer {
  let transport: any HCITransport
  private let journal: Journal
  /// Whether no confirmation of an indication is sent, as by an app that hangs.
  private let confirmsNothing: Bool
  private static let confirmation: UInt8 = 0x1E

  init(_ transport: any HCITransport, _ journal: Journal, confirmsNothing: Bool = false) {
    (self.transport, self.journal, self.confirmsNothing) = (transport, journal, confirmsNothing)
  }

  var onPacket: ((RawSpan, Arrival) -> Void)? {
    get { transport.onPacket }
    set {
      transport.onPacket = newValue.map { take in
        { [journal] packet, arrival in
          if Self.refusesLink(packet) { journal.note("refused") }
          take(packet, arrival)
        }
      }
    }
  }
  func send(_ packet: RawSpan) {
    let isData = packet.byte(at: 0) == HCIPacketType.acl.rawValue
    if isData, confirmsNothing, packet.byte(at: 9) == Self.confirmation { return }
    if !isData { tell(packet) }
    transport.send(packet)
  }

  /// Whether it is the status of a command that was to create a link, and an error.
  private static func refusesLink(_ packet: RawSpan) -> Bool {
    let bytes = Array(packet)
    guard bytes.count == 7, bytes.prefix(2) == [HCIPacketType.event.rawValue, 0x0F], bytes[3] != 0 else {
      return false
    }
    let opcode = HCIOpcode(rawValue: UInt16(bytes[5]) | UInt16(bytes[6]) << 8)
    return opcode == LECreateConnection.opcode || opcode == LEExtendedCreateConnection.opcode
  }

  private func tell(_ command: RawSpan) {
    switch HCIOpcode(ofCommand: command) {
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode:
      journal.note("scan " + (command.byte(at: 4) == 1 ? "on" : "off"))
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: journal.note("connecting")
    case LECreateConnectionCancel.opcode: journal.note("given up")
    default: break
    }
  }
}
