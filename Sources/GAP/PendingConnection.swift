import GATTClient
import HCI
import HaloBluetoothCore

/// A connection to a peripheral that may be absent. It waits for an advertisement of the peripheral, without holding up
/// scans and other connections, and connects then; see ``Central/connectWhenHeard(_:completion:)``.
@BluetoothActor
package final class PendingConnection {
  /// How long the scan for it is continuous; after that it listens for 1/8 of the time.
  private static let eagerTime = Duration.seconds(30)

  private weak var central: Central?
  private let request: ConnectionRequest
  private var completion: ((Result<GATTLink, GAPError>) -> Void)?
  private var scan: Central.Scan?
  private var cancelAttempt: (() -> Void)?
  private var eagerEnd: Timers.Token?
  private var isEager = true

  init(
    _ central: Central, _ request: ConnectionRequest, isLinked: Bool,
    completion: @escaping (Result<GATTLink, GAPError>) -> Void
  ) {
    self.central = central
    self.request = request
    self.completion = completion
    eagerEnd = central.timers.schedule(after: Self.eagerTime) { [weak self] in
      self?.isEager = false
      if self?.scan != nil { self?.listen() }
    }
    if isLinked { connect() } else { listen() }
  }

  isolated deinit {
    end()
  }

  /// Gives it up. The completion is not called any more.
  package func cancel() {
    completion = nil
    end()
  }

  private func end() {
    central?.timers.cancel(eagerEnd)
    scan.take()?.cancel()
    cancelAttempt.take()?()
  }

  private func listen() {
    guard let central else { return finish(.failure(.hci(.notReady))) }
    let last = scan
    var parameters = isEager ? ScanParameters.aggressive : .gentle
    parameters.isActive = false
    scan = central.scan(parameters) { [weak self] in
      self?.finish(.failure(.hci(.notReady)))
    } handler: { [weak self] advertisement in
      guard let self, advertisement.address == request.peer, advertisement.isConnectable else { return }
      connect()
    }
    // The last scan ends after the new one has begun, so that the radio does not stop in between.
    last?.cancel()
  }

  private func connect() {
    scan.take()?.cancel()
    guard let central else { return finish(.failure(.hci(.notReady))) }
    var isOver = false
    let cancel = central.connect(request) { [weak self] result in
      isOver = true
      guard let self, completion != nil else {
        // The connection was cancelled too late.
        if case .success(let connection) = result { connection.end() }
        return
      }
      cancelAttempt = nil
      switch result {
      case .failure(.hci(.peerNotFound)), .failure(.hci(.peerDidNotAnswer)), .failure(.hci(.notTried)):
        listen()
      default: finish(result)
      }
    }
    if !isOver { cancelAttempt = cancel }
  }

  private func finish(_ result: Result<GATTLink, GAPError>) {
    let completion = completion.take()
    end()
    completion?(result)
  }
}
