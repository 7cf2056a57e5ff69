import ATT
import BluetoothCore

/// Runs procedures on a bearer, one after the other: the parts of a prepared write must not be mixed with another
/// one's, and a server that is asked one thing at a time is a server that works.
public final class ProcedureQueue {
  /// Names a procedure that waits or runs.
  public struct Token: Hashable, Sendable {
    fileprivate let id: UInt64
  }

  private struct Waiting {
    var id: UInt64
    var start: () -> Void
  }

  private let bearer: ATTBearer
  private var waiting: [Waiting] = []
  private var isRunning = false
  private var nextID: UInt64 = 0

  /// Called each time the last procedure has ended.
  public var onIdle: (() -> Void)?

  public init(_ bearer: ATTBearer) {
    self.bearer = bearer
  }

  public var isIdle: Bool { !isRunning && waiting.isEmpty }

  /// Runs a procedure as soon as those before it have ended. `completion` is called exactly once, unless the
  /// procedure is removed.
  ///
  /// - Parameter make: makes the procedure when its turn has come; the MTU may be another by then
  @discardableResult
  public func run<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure, completion: @escaping (Result<Procedure.Output, GATTError>) -> Void
  ) -> Token {
    let id = nextID
    nextID += 1
    waiting.append(
      Waiting(id: id) { [weak self] in
        self?.perform(make()) { result in
          completion(result)
        }
      })
    startNext()
    return Token(id: id)
  }

  /// Takes back a procedure that has not begun. One that has begun goes on: a request can't be taken back.
  ///
  /// - Returns: whether it was taken back, so that its completion is not called
  public func remove(_ token: Token) -> Bool {
    guard let index = waiting.firstIndex(where: { $0.id == token.id }) else { return false }
    waiting.remove(at: index)
    return true
  }

  private func startNext() {
    guard !isRunning, !waiting.isEmpty else { return }
    isRunning = true
    waiting.removeFirst().start()
  }

  private func perform<Procedure: GATTProcedure>(
    _ procedure: Procedure, completion: @escaping (Result<Procedure.Output, GATTError>) -> Void
  ) {
    var procedure = procedure
    func take(_ step: GATTStep<Procedure.Output>) {
      switch step {
      case .request(let pdu):
        bearer.request(pdu) { result in take(procedure.next(result)) }
      case .done(let output): finish { completion(.success(output)) }
      case .failed(let error): finish { completion(.failure(error)) }
      }
    }
    take(procedure.start())
  }

  private func finish(_ report: () -> Void) {
    isRunning = false
    report()
    startNext()
    if isIdle { onIdle?() }
  }
}
