import ATT
import HaloBluetoothCore

/// Runs procedures on a bearer, one after the other: the parts of prepared writes must not be mixed, and servers are
/// most reliable with one procedure at a time.
package final class ProcedureQueue {
  /// Names a procedure that waits or runs.
  package struct Token: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct Waiting {
    var id: UInt64
    var start: () -> Void
  }

  private let bearer: ATTBearer
  private var waiting: [Waiting] = []
  /// The procedure that runs.
  private var running: UInt64?
  /// Whether the running procedure was cancelled.
  private var isAbandoned = false
  private var nextID: UInt64 = 0

  /// Called each time the last procedure has ended.
  package var onIdle: (() -> Void)?

  package init(_ bearer: ATTBearer) {
    self.bearer = bearer
  }

  /// Whether no procedure runs or waits.
  package var isIdle: Bool { running == nil && waiting.isEmpty }

  /// Runs a procedure after the previous ones. `completion` is called exactly once, unless the
  /// procedure is cancelled.
  ///
  /// - Parameters:
  ///   - isExpendable: whether a server that does not answer it may stay connected; see
  ///     `ATTBearer.request(_:isExpendable:completion:)`
  ///   - make: creates the procedure when it starts; the MTU may have changed by then
  ///   - completion: called with the result or the error
  @discardableResult
  package func run<Procedure: GATTProcedure>(
    isExpendable: Bool = false, _ make: @escaping () -> Procedure,
    completion: @escaping (Result<Procedure.Output, GATTError>) -> Void
  ) -> Token {
    let id = nextID
    nextID += 1
    waiting.append(
      Waiting(id: id) { [weak self] in self?.perform(make(), isExpendable: isExpendable, completion) })
    startNext()
    return Token(id: id)
  }

  /// Cancels a procedure; its completion is not called. One that has not begun is removed. One that has begun ends with
  /// the response to its open request, which cannot be withdrawn; further requests are not sent.
  package func cancel(_ token: Token) {
    if token.id == running {
      isAbandoned = true
    } else if let index = waiting.firstIndex(where: { $0.id == token.id }) {
      waiting.remove(at: index)
    }
  }

  private func startNext() {
    guard running == nil, !waiting.isEmpty else { return }
    let next = waiting.removeFirst()
    running = next.id
    isAbandoned = false
    next.start()
  }

  private func perform<Procedure: GATTProcedure>(
    _ procedure: Procedure, isExpendable: Bool,
    _ completion: @escaping (Result<Procedure.Output, GATTError>) -> Void
  ) {
    var procedure = procedure
    func take(_ step: GATTStep<Procedure.Output>) {
      switch step {
      case .request(let pdu):
        bearer.request(pdu, isExpendable: isExpendable) { result in
          if !self.isAbandoned { return take(procedure.next(result)) }
          guard let last = procedure.abandon() else { return self.finish {} }
          self.bearer.request(last) { _ in self.finish {} }
        }
      case .done(let output): finish { completion(.success(output)) }
      case .failed(let error): finish { completion(.failure(error)) }
      }
    }
    take(procedure.start())
  }

  private func finish(_ report: () -> Void) {
    running = nil
    report()
    startNext()
    if isIdle { onIdle?() }
  }
}
