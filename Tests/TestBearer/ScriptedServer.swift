import HaloBluetoothCore
import TestLoop
import TestSupport

/// A server that a test plays: what is sent to it is answered from a table, or not at all.
@BluetoothActor
open class ScriptedServer {
  package let timers = testTimers
  /// Called for each PDU that it sends, with the time.
  package var onPDU: ((RawSpan, Arrival) -> Void)?

  /// How many more PDUs there is room for; nil for any number.
  package var room: Int?
  package var hasRoom: Bool { room != 0 }

  package private(set) var sent: [String] = []
  private var answers: [String: [String]] = [:]
  /// Answers what the table does not.
  package var server: (([UInt8]) -> [UInt8]?)?

  package init() {}

  /// Answers `request` with PDUs, one after the other, each time.
  package func answer(_ request: String, _ pdus: String...) {
    answers[request.filter { $0 != " " }] = pdus
  }

  /// Answers the search for Service Changed, which is at 0x0003, and the subscription to it with `1204000200`.
  package func offerServiceChanged() {
    answer("06 0100 ffff 0028 0118", "07 0100 0400")
    answer("06 0500 ffff 0028 0118", "01 06 0500 0a")
    answer("08 0100 0400 0328", "09 07 0200 20 0300 052a")
    answer("08 0400 0400 0328", "01 08 0400 0a")
    answer("04 0400 0400", "05 01 0400 0229")
    answer("12 0400 0200", "13")
  }

  package func takeSent() -> [String] {
    defer { sent = [] }
    return sent
  }

  /// Takes a PDU of the client.
  package func send(_ pdu: RawSpan) {
    let text = Hex.string(Array(pdu))
    sent.append(text)
    if let room { self.room = max(0, room - 1) }
    guard let pdus = answers[text] ?? server?(Array(pdu)).map({ [Hex.string($0)] }) else { return }
    timers.schedule(after: .zero) { [weak self] in
      for pdu in pdus { self?.receive(pdu) }
    }
  }

  /// Sends a PDU to the client.
  package func receive(_ pdu: String) {
    let bytes = hex(pdu)
    onPDU?(bytes.span.bytes, Arrival(timers.now))
  }
}
