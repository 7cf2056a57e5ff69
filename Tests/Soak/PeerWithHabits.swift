import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import L2CAP
import HaloSimulation

/// A device that behaves on each link as some devices do, by public reports. It counts what a host must not do again.
@BluetoothActor
final class PeerWithHabits {
  enum Habit: CaseIterable {
    case none
    /// Exchange MTU is not answered (NimBLE-Arduino#125, trouble#619).
    case noMTUAnswer
    /// Each request is followed by an Error Response for the one before, which was answered (pySwitchbot#565).
    case lateErrors
    /// It asks for a slow link, and leaves six seconds after a refusal (trouble#478).
    case insistsOnParameters
    /// It asks for pairing, and leaves 30 ms later.
    case wantsPairing
  }

  static let serviceCount = 3
  static let valueCount = 12

  let address: BluetoothAddress
  private(set) var habit = Habit.none
  /// How many links there were with each habit.
  private(set) var links: [Habit: Int] = [:]
  /// Whether it was asked on the last link for an exchange of the MTU, which it has not answered.
  private(set) var wasAskedInVain = false
  /// Links that were left as parameters were refused.
  private(set) var refusals = 0

  private let medium: RadioMedium
  private let database = AttributeDatabase()
  private let seed: UInt64
  private var link: SimulatedLink?
  private var recombiner = Recombiner()
  private var bearer: ATTBearer?
  private var last: (opcode: UInt8, start: [UInt8])?

  init(_ address: BluetoothAddress, in medium: RadioMedium, seed: UInt64) {
    (self.address, self.medium, self.seed) = (address, medium, seed)
    for service in 0..<Self.serviceCount {
      database.addService(BluetoothUUID(UInt16(0xFF00 + 16 * service)))
      for value in 1...Self.valueCount / Self.serviceCount {
        database.addCharacteristic(
          BluetoothUUID(UInt16(0xFF00 + 16 * service + value)), [.read, .notify], value: [1])
      }
    }
    medium.add(self)
  }

  private func send(_ payload: RawSpan, on channel: ChannelID) {
    var frame = ByteWriter(capacity: payload.byteCount + BasicHeader.length)
    BasicHeader.writeFrame(payload, on: channel, into: &frame)
    link?.sendFromPeripheral(frame.span)
  }

  private func leave(_ link: SimulatedLink) {
    link.end(.remoteUserTerminatedConnection, .connectionTerminatedByLocalHost)
  }

  private func receive(attribute pdu: RawSpan) {
    let bytes = Array(pdu)
    switch (habit, bytes.first) {
    case (.noMTUAnswer, 0x02):
      wasAskedInVain = true
      return
    // Find Information, Read By Type, Read By Group Type: with the handle where they begin.
    case (.lateErrors, 0x04?), (.lateErrors, 0x08?), (.lateErrors, 0x10?):
      let request = (opcode: bytes[0], start: Array(bytes[1...2]))
      if let last, last.opcode == request.opcode {
        let error: [UInt8] = [0x01, last.opcode] + last.start + [0x0A]
        send(error.span.bytes, on: .attribute)
      }
      last = request
    default: break
    }
    bearer?.receive(pdu, at: Arrival(medium.timers.now))
  }

  /// An answer to the request for parameters.
  private func receive(signal: [UInt8], on link: SimulatedLink) {
    guard signal.count >= 6, signal[0] == 0x13, signal[4] != 0 else { return }
    link.after(.seconds(6)) { [weak self] link in
      self?.refusals += 1
      self?.leave(link)
    }
  }
}

extension PeerWithHabits: @BluetoothActor SimulatedDevice {
  var rssi: Int8 { -50 }
  var features: LEFeatures { .encryption }
  var version: RemoteVersion { RemoteVersion(CoreVersion(rawValue: 9), CompanyIdentifier(rawValue: 0xFFFF)) }
  var advertisement: RadioAdvertisement? { link == nil ? RadioAdvertisement(data: [2, 1, 6]) : nil }

  func nextAdvertisement(after now: Instant) -> Instant? { link == nil ? now + .milliseconds(100) : nil }

  func acceptsLink(from central: BluetoothAddress) -> Bool { true }

  func connected(_ link: SimulatedLink) {
    self.link = link
    let number = links.values.reduce(0, +)
    habit = Habit.allCases[Int(SplitMix.mix(seed &+ UInt64(number)) % UInt64(Habit.allCases.count))]
    links[habit, default: 0] += 1
    wasAskedInVain = false
    recombiner = Recombiner()
    let bearer = ATTBearer(timers: medium.timers) { [weak self] in self?.send($0, on: .attribute) }
    _ = ServerBearer(database, on: bearer, timers: medium.timers)
    self.bearer = bearer
    link.after(.milliseconds(300)) { [weak self] link in self?.ask(on: link) }
  }

  private func ask(on link: SimulatedLink) {
    switch habit {
    case .insistsOnParameters:
      // Connection Parameter Update Request: 400 ms, no latency, a timeout of 6 s.
      let request: [UInt8] = [0x12, 1, 8, 0, 0x40, 1, 0x40, 1, 0, 0, 0x58, 2]
      send(request.span.bytes, on: .leSignaling)
    case .wantsPairing:
      let request: [UInt8] = [0x0B, 0x01]
      send(request.span.bytes, on: .securityManager)
      link.after(.milliseconds(30)) { [weak self] in self?.leave($0) }
    case .none, .noMTUAnswer, .lateErrors: break
    }
  }

  func received(_ fragment: SimulatedFragment, on link: SimulatedLink) {
    let recombiner = recombiner
    recombiner.receive(fragment.data.span.bytes, isStart: fragment.isStart) { channel, payload in
      switch channel {
      case .attribute: receive(attribute: payload)
      case .leSignaling: receive(signal: Array(payload), on: link)
      default: break
      }
    }
  }

  func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) {
    (self.link, last) = (nil, nil)
    bearer?.close("the link has ended")
    bearer = nil
    medium.advertisingChanged(self)
  }
}
