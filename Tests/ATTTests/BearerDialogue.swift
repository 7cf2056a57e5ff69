import ATT
import HaloBluetoothCore
import TestSupport
import Testing

/// A bearer without a link: what it sends is collected, what it gets is spelled, and the time is told.
final class BearerDialogue {
  let timers = Timers()
  let bearer: ATTBearer
  private let out: Collected

  private final class Collected {
    var sent: [[UInt8]] = []
  }

  init(receiveMTU: Int = 517) {
    let out = Collected()
    self.out = out
    bearer = ATTBearer(timers: timers, receiveMTU: receiveMTU) { out.sent.append(Array($0)) }
  }

  /// What was sent since the last call, in hexadecimal digits.
  func takeSent() -> [String] {
    defer { out.sent = [] }
    return out.sent.map { Hex.string($0) }
  }

  func receive(_ bytes: String, read: UInt64 = 0) {
    let bytes = hex(bytes)
    bearer.receive(bytes.span.bytes, at: Arrival(timers.now, read: read))
  }

  /// Collects the results of a request.
  final class Outcome {
    fileprivate(set) var results: [Result<any ATTPDU, StackError>] = []

    var error: StackError? {
      if results.count == 1, case .failure(let error) = results[0] { error } else { nil }
    }
    var response: (any ATTPDU)? {
      if results.count == 1, case .success(let pdu) = results[0] { pdu } else { nil }
    }
  }

  func request(_ pdu: any ATTPDU) -> Outcome {
    let outcome = Outcome()
    bearer.request(pdu) { outcome.results.append($0) }
    return outcome
  }
}
