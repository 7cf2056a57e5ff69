import ATT
import HaloBluetoothCore

/// A GATT procedure (Core Specification Vol 3, Part G, 4): a sequence of ATT requests and responses. It does no I/O; its
/// caller sends the requests and passes the responses to it.
package protocol GATTProcedure {
  /// The result of the procedure.
  associatedtype Output: Sendable

  /// The first step.
  mutating func start() -> GATTStep<Output>
  /// The step after the response to the last request, or after its failure.
  mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<Output>
  /// Called instead of ``next(_:)`` when the procedure was cancelled: the request that cleans up on the server. Nil if
  /// none is needed.
  mutating func abandon() -> (any ATTPDU)?
  /// Whether its last request has to be sent before a write without response that is called after it, as it writes in parts.
  static var precedesCommands: Bool { get }
}

extension GATTProcedure {
  package mutating func abandon() -> (any ATTPDU)? { nil }
  package static var precedesCommands: Bool { false }

  /// This procedure, and one after it.
  func then<Next: GATTProcedure>(_ make: @escaping (Output) -> Next?) -> Chain<Self, Next> {
    Chain(self, make)
  }
}

/// The next step of a procedure.
package enum GATTStep<Output: Sendable>: Sendable {
  /// Sends a request, and waits for its response.
  case request(any ATTPDU)
  /// Ends with a result.
  case done(Output)
  /// Ends with an error.
  case failed(StackError)

  /// A failure that describes the server's violation.
  static func misbehaved(_ what: String) -> Self { .failed(.misbehaved(what)) }

  /// The failure after a failed transaction that the procedure does not handle, or after a response of the wrong kind,
  /// which the bearer does not pass on.
  static func failed(_ result: Result<any ATTPDU, StackError>) -> Self {
    switch result {
    case .failure(let error): .failed(error)
    case .success(let pdu): .misbehaved("unexpected \(pdu.opcode)")
    }
  }
}

/// The position of a discovery. It only increases, so that a server cannot make it loop.
struct DiscoveryCursor {
  /// The handles that are left; nil after the last handle.
  private(set) var remaining: HandleRange?
  private var count = 0

  /// The limit of entries, far above that of any real device.
  private static let maximumEntries = 4096

  init(_ range: HandleRange) {
    remaining = range.isValid ? range : nil
  }

  /// Checks the next entry and moves past it.
  ///
  /// - Returns: nil if it is valid, otherwise the error
  mutating func advance(over entry: HandleRange) -> String? {
    guard let range = remaining else { return "an entry at \(entry.start), behind the end of the range" }
    guard entry.isValid else { return "an entry with the handles \(entry)" }
    guard range.contains(entry.start), entry.end <= range.end else {
      return "an entry at \(entry), outside \(range)"
    }
    count += 1
    guard count <= Self.maximumEntries else { return "more than \(Self.maximumEntries) entries" }
    remaining = entry.end.next.flatMap { $0 <= range.end ? HandleRange($0, range.end) : nil }
    return nil
  }
}

/// Two procedures as one: the second is made from the output of the first, and follows it at once. The output is nil if the
/// first has not found the input of the second.
struct Chain<First: GATTProcedure, Second: GATTProcedure>: GATTProcedure {
  private var first: First
  private var second: Second?
  private let make: (First.Output) -> Second?

  fileprivate init(_ first: First, _ make: @escaping (First.Output) -> Second?) {
    self.first = first
    self.make = make
  }

  mutating func start() -> GATTStep<Second.Output?> { goOn(first.start()) }

  mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<Second.Output?> {
    if let step = second?.next(result) { output(of: step) } else { goOn(first.next(result)) }
  }

  private mutating func goOn(_ step: GATTStep<First.Output>) -> GATTStep<Second.Output?> {
    switch step {
    case .request(let pdu): return .request(pdu)
    case .failed(let error): return .failed(error)
    case .done(let found):
      second = make(found)
      guard let step = second?.start() else { return .done(nil) }
      return output(of: step)
    }
  }

  private func output(of step: GATTStep<Second.Output>) -> GATTStep<Second.Output?> {
    switch step {
    case .request(let pdu): .request(pdu)
    case .failed(let error): .failed(error)
    case .done(let output): .done(output)
    }
  }
}
