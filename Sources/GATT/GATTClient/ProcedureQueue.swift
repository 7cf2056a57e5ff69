import ATT
import HaloBluetoothCore

/// Checks each value before it is written. Returns the reason if it must not be, and the write fails with
/// `StackError.forbidden(_:)`. The offset is nil unless the value is a part of a longer one.
package typealias WritePolicy = (_ handle: AttributeHandle, _ value: [UInt8], _ offset: Int?) -> String?

/// The order in which a client uses its bearer: that of the calls. Procedures run one after the other, as the parts of prepared
/// writes must not be mixed, and servers are most reliable with one procedure at a time. A write without response is sent when
/// the procedures before it have begun and the link has room for it; later calls wait.
package final class ProcedureQueue {
  /// Identifies a procedure or write that waits or runs.
  package struct Token: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private enum Kind {
    case procedure
    /// A write without response.
    case command
  }

  private struct Waiting {
    var id: UInt64
    var kind: Kind
    /// Whether it can be sent, if it is a write without response.
    var isReady: () -> Bool
    var start: () -> Void
  }

  private let bearer: ATTBearer
  /// Whether the link has room for a PDU that can wait, or has ended.
  private let hasRoom: () -> Bool
  private var waiting: [Waiting] = []
  /// The procedure that runs.
  private var running: UInt64?
  /// Whether the running procedure was cancelled.
  private var isAbandoned = false
  /// Whether commands wait for the end of the running procedure, of which requests follow that belong before them.
  private var holdsCommands = false
  private var nextID: UInt64 = 0
  private var isAdvancing = false

  package var writePolicy: WritePolicy?
  /// Raises the security of the link after a refusal with Insufficient Authentication or Insufficient Encryption. The request
  /// is repeated then, once (Core Specification Vol 3, Part C, 10.3.2).
  package var onInsufficientSecurity: ((ATTErrorCode, @escaping (Result<Void, StackError>) -> Void) -> Void)?
  /// Called each time the last procedure has ended.
  package var onIdle: (() -> Void)?

  package init(_ bearer: ATTBearer, hasRoom: @escaping () -> Bool = { true }) {
    self.bearer = bearer
    self.hasRoom = hasRoom
  }

  /// Whether no procedure runs or waits.
  package var isIdle: Bool { running == nil && !waiting.contains { $0.kind == .procedure } }

  /// Whether a write without response may be sent now: nothing is before it, and the link has room.
  var takesCommand: Bool { waiting.isEmpty && !holdsCommands && hasRoom() }

  /// Runs a procedure after the previous ones. `completion` is called exactly once, unless the
  /// procedure is cancelled.
  ///
  /// - Parameters:
  ///   - allowsTimeout: whether a server that does not answer it may stay connected; see
  ///     `ATTBearer.request(_:allowsTimeout:completion:)`
  ///   - make: creates the procedure when it starts; the MTU may have changed by then
  ///   - completion: called with the result or the error
  @discardableResult
  package func run<Procedure: GATTProcedure>(
    allowsTimeout: Bool = false, _ make: @escaping () -> Procedure,
    completion: @escaping (Result<Procedure.Output, StackError>) -> Void
  ) -> Token {
    add(.procedure, isReady: { true }) { [weak self] in
      self?.holdsCommands = Procedure.precedesCommands
      self?.perform(make(), allowsTimeout: allowsTimeout, completion)
    }
  }

  /// Sends a write without response in its turn. Call it if it is not sent now: see ``takesCommand``.
  ///
  /// - Parameters:
  ///   - isReady: whether it can be sent, as far as this is not a matter of the link; call ``advance()`` when it has changed
  ///   - send: sends it
  func post(isReady: @escaping () -> Bool, _ send: @escaping () -> Void) -> Token {
    add(.command, isReady: isReady, send)
  }

  private func add(_ kind: Kind, isReady: @escaping () -> Bool, _ start: @escaping () -> Void) -> Token {
    let id = nextID
    nextID += 1
    waiting.append(Waiting(id: id, kind: kind, isReady: isReady, start: start))
    advance()
    return Token(id: id)
  }

  /// Cancels a procedure or write; its completion is not called. One that has not begun is removed. A procedure that has begun
  /// ends with the response to its open request, which cannot be withdrawn; further requests are not sent.
  ///
  /// - Returns: whether it had not begun
  @discardableResult
  package func cancel(_ token: Token) -> Bool {
    if token.id == running {
      isAbandoned = true
    } else if let index = waiting.firstIndex(where: { $0.id == token.id }) {
      waiting.remove(at: index)
      advance()
      return true
    }
    return false
  }

  /// Starts the procedures and writes that may start: call it when the link has room again, and after the exchange of the MTU.
  func advance() {
    // A procedure that has ended at once goes on here, and not inside its end.
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while let next = waiting.first {
      switch next.kind {
      case .procedure:
        // The exchange of the MTU, which is no procedure, has its turn before.
        guard running == nil, !bearer.isBusy else { return }
        running = next.id
        isAbandoned = false
      case .command:
        guard !holdsCommands, hasRoom(), next.isReady() else { return }
      }
      waiting.removeFirst()
      next.start()
    }
  }

  private func perform<Procedure: GATTProcedure>(
    _ procedure: Procedure, allowsTimeout: Bool,
    _ completion: @escaping (Result<Procedure.Output, StackError>) -> Void
  ) {
    var procedure = procedure
    func take(_ step: GATTStep<Procedure.Output>) {
      switch step {
      case .request(let pdu):
        if let objection = objection(to: pdu) {
          return end(&procedure) { completion(.failure(.forbidden(objection))) }
        }
        request(pdu, allowsTimeout: allowsTimeout) { result in
          if self.isAbandoned { self.end(&procedure) {} } else { take(procedure.next(result)) }
        }
      case .done(let output): finish { completion(.success(output)) }
      case .failed(let error): finish { completion(.failure(error)) }
      }
    }
    take(procedure.start())
  }

  /// Sends a request, and sends it once more if the link was not secure enough and is by then.
  private func request(
    _ pdu: any ATTPDU, allowsTimeout: Bool, completion: @escaping (Result<any ATTPDU, StackError>) -> Void
  ) {
    bearer.request(pdu, allowsTimeout: allowsTimeout) { [self] result in
      guard case .failure(let error) = result, !isAbandoned, let code = error.attCode,
        [.insufficientAuthentication, .insufficientEncryption].contains(code), let onInsufficientSecurity
      else { return completion(result) }
      onInsufficientSecurity(code) { [self] raised in
        switch raised {
        case .success where isAbandoned: completion(result)
        case .success: bearer.request(pdu, allowsTimeout: allowsTimeout, completion: completion)
        case .failure(let cause): completion(.failure(error.refusal(because: cause)))
        }
      }
    }
  }

  /// Ends a procedure before it is done.
  private func end(_ procedure: inout some GATTProcedure, _ report: @escaping () -> Void) {
    guard let last = procedure.abandon() else { return finish(report) }
    bearer.request(last) { _ in self.finish(report) }
  }

  private func objection(to request: any ATTPDU) -> String? {
    guard let writePolicy else { return nil }
    return switch request {
    case let write as ATTWriteRequest: writePolicy(write.handle, write.value, nil)
    case let write as ATTPrepareWriteRequest:
      writePolicy(write.part.handle, write.part.value, Int(write.part.offset))
    default: nil
    }
  }

  private func finish(_ report: () -> Void) {
    running = nil
    holdsCommands = false
    report()
    advance()
    if isIdle { onIdle?() }
  }
}
