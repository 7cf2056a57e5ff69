import BluetoothCore
import GATTClient
import HCI
import HaloGATT
import TestLoop
import TestSupport

/// A link that a test plays: what is sent is answered from a table, or not at all.
@BluetoothActor
public final class FakeLink: ATTLink {
  public let timers = testTimers
  public let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  public var parameters: LinkParameters?
  public var onPDU: ((RawSpan, Instant) -> Void)?
  public var onClosed: ((LinkLoss) -> Void)?
  public var onEvent: ((LinkEvent) -> Void)?

  /// How many more PDUs there is room for; nil for any number.
  public var room: Int?
  public var hasRoom: Bool { room != 0 }
  public var onRoom: (() -> Void)?

  /// Whether the end of the link drops what is on its way.
  public var dropsPacketsAtEnd = false

  public private(set) var sent: [String] = []
  private var answers: [String: [String]] = [:]
  /// Answers what the table does not, as a server does.
  public var server: (([UInt8]) -> [UInt8]?)?

  public init() {}

  /// Answers `request` with PDUs, one after the other, each time.
  public func answer(_ request: String, _ pdus: String...) {
    answers[request.filter { $0 != " " }] = pdus
  }

  /// Answers the search for Service Changed, which is at 0x0003, and the subscription to it with `1204000200`.
  public func offerServiceChanged() {
    answer("06 0100 ffff 0028 0118", "07 0100 0400")
    answer("06 0500 ffff 0028 0118", "01 06 0500 0a")
    answer("08 0100 0400 0328", "09 07 0200 20 0300 052a")
    answer("08 0400 0400 0328", "01 08 0400 0a")
    answer("04 0400 0400", "05 01 0400 0229")
    answer("12 0400 0200", "13")
  }

  public func takeSent() -> [String] {
    defer { sent = [] }
    return sent
  }

  public func send(_ pdu: RawSpan) {
    let text = Hex.string(Array(pdu))
    sent.append(text)
    if let room { self.room = max(0, room - 1) }
    guard let pdus = answers[text] ?? server?(Array(pdu)).map({ [Hex.string($0)] }) else { return }
    timers.schedule(after: .zero) { [weak self] in
      for pdu in pdus { self?.receive(pdu) }
    }
  }

  public func receive(_ pdu: String) {
    let bytes = hex(pdu)
    onPDU?(bytes.span.bytes, timers.now)
  }

  public func lose(_ loss: LinkLoss) {
    let onClosed = self.onClosed
    self.onClosed = nil
    onClosed?(loss)
  }

  public func disconnect() {
    timers.schedule(after: .milliseconds(10)) { self.lose(.local) }
  }

  public func readRSSI() async throws(HCIError) -> Int8? { -50 }

  /// A client on this link.
  public func client() -> GATTClient { GATTClient(self, timers: timers) }
}
