import HaloBluetoothCore

/// A request for a link that waits until the controller is set up.
final class WaitingConnection {
  private let request: ConnectionRequest
  private var completion: ((Result<LEConnection, StackError>) -> Void)?
  private var cancelAttempt: (() -> Void)?

  init(_ request: ConnectionRequest, _ completion: @escaping (Result<LEConnection, StackError>) -> Void) {
    self.request = request
    self.completion = completion
  }

  func start(_ initiator: Initiator) {
    guard let completion = completion.take() else { return }
    cancelAttempt = initiator.connect(request, completion: completion)
  }

  func fail(_ error: StackError) { completion.take()?(.failure(error)) }

  /// Cancels it, whether it has started or not.
  func cancel() {
    cancelAttempt.take()?()
    fail(.cancelled)
  }
}
