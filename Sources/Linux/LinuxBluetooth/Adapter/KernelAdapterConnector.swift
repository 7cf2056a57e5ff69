import GAP
import HCI
import HaloBluetoothCore

/// Establishes links through the kernel, as ``ConnectionAttempts`` say: it scans until the peer advertises, and then has
/// the kernel connect, with the scan paused, since a controller that is scanning rejects the kernel's scan. Newer kernels
/// need the scan: they may not look for the peer themselves (``KernelRelease/takesScanForDiscovery``), and stop the scan
/// when they connect.
///
/// The kernel would scan, too. But a socket that waits there while the adapter is switched off triggers a fault of some kernels
/// (docs/08-the-kernel.md, "A fault of the kernel").
@BluetoothActor
final class KernelConnector {
  private unowned let adapter: KernelAdapter
  private let address: BluetoothAddress
  private let controller: RawController
  /// Its failure is that of the adapter; it also handles the events of the controller and of the kernel.
  let runner: ConnectionRunner<any ATTLink>
  /// Closes the socket that connects.
  private var closeSocket: (() -> Void)?

  /// - Parameter release: of the kernel; nil if it is unknown
  init(
    _ adapter: KernelAdapter, address: BluetoothAddress, controller: RawController,
    release: KernelRelease?
  ) {
    self.adapter = adapter
    self.address = address
    self.controller = controller
    let keepsScan = release.map { $0 >= .takesScanForDiscovery } ?? false
    runner = ConnectionRunner(.system, keepsScan: keepsScan, timers: adapter.timers)
    runner.perform = { [weak self] in self?.perform($0) }
  }

  /// Establishes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that cancels the attempt
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    runner.connect(request, completion: completion)
  }

  private func perform(_ action: ConnectionAttempts<any ATTLink>.Action) {
    switch action {
    case .listen(let request):
      guard adapter.isUsable() else { return runner.handle(.unusable) }
      if adapter.hasLink(to: request.peer) { return runner.handle(.cannotListen) }
      adapter.isListening = true
      controller.resumeScan()
    case .prepare(let id, let request):
      guard !runner.attempts.keepsScan else { return load(request, for: id) }
      adapter.isListening = false
      controller.pauseScan { [weak self] in
        guard let self, runner.attempts.isCurrent(id) else { return }
        load(request, for: id)
      }
    case .create(let id, let request): create(id, request)
    case .abandonCreation: closeSocket.take()?()
    case .rest:
      adapter.isListening = false
      controller.resumeScan()
    case .note(let text): adapter.onNote?(text)
    case .cancelCreation, .probe, .disconnect, .finish: break
    }
  }

  private func load(_ request: ConnectionRequest, for id: UInt64) {
    adapter.load(request) { [weak self] in self?.runner.handle(.prepared, of: id) }
  }

  /// How often it is asked whether a link has ended.
  private static let endingPause = Duration.milliseconds(20)

  private func create(_ id: UInt64, _ request: ConnectionRequest) {
    // The adapter's failure ends all attempts, if it fails: a connect while the adapter is going down triggers a fault of some
    // kernels.
    guard adapter.isUsable() else { return runner.handle(.unusable, of: id) }
    // The kernel would connect to a link whose end the controller has not reported yet.
    guard !adapter.isEndingLink(to: request.peer) else {
      adapter.timers.schedule(after: Self.endingPause) { [weak self] in
        guard let self, runner.attempts.isCurrent(id) else { return }
        create(id, request)
      }
      return
    }
    closeSocket = L2CAPSocket.connect(
      to: request.peer, from: address, deadline: request.deadline, sockets: adapter.sockets,
      timers: adapter.timers
    ) { [weak self] result in
      if case .failure(.cancelled) = result { return }
      guard let self, runner.attempts.isCurrent(id) else { return }
      closeSocket = nil
      runner.handle(.answered, of: id)
      adapter.catchUp()
      // Catching up may have shown that the adapter is gone.
      guard runner.attempts.isCurrent(id) else { return }
      switch result {
      case .success(let socket):
        let isOurs = socket.handle.map { runner.attempts.hasCreated($0) } ?? false
        let link = adapter.adopt(socket, for: request, isOurs: isOurs)
        runner.handle(.established(link), of: id)
        if let preferences = request.preferences { link.request(preferences) }
      case .failure(let failure): runner.handle(event(for: failure, request.peer), of: id)
      }
    }
  }

  private func event(
    for failure: L2CAPConnectFailure, _ peer: BluetoothAddress
  ) -> ConnectionAttempts<any ATTLink>.Event {
    switch failure.verdict {
    // If the adapter is gone, its failure ends the attempt, too.
    case .failed(let reason):
      adapter.isUsable() ? .ended(.failed(StackError("connect to \(peer)", reason))) : .unusable
    case .retry(.connectionEnded): .ended(.interrupted(nil))
    case .retry(let reason): .ended(.interrupted(StackError("connect to \(peer)", reason)))
    case .notHeard, nil: .ended(.notHeard)
    }
  }

  // MARK: Controller events

  /// Handles an advertising report.
  func heard(_ report: AdvertisingReport) {
    guard runner.attempts.isListening, report.eventType.contains(.connectable), isPeer(report.address) else {
      return
    }
    runner.handle(.heard)
  }

  func failed(_ peer: BluetoothAddress, _ status: HCIErrorCode) {
    guard runner.attempts.current?.peer.value == peer.value || isPeer(peer) else { return }
    runner.handle(.creationFailed(status))
  }

  /// Whether an address that the controller reports is the peer's. The kernel is asked for a link to the identity of a device
  /// that changes its address, but the raw channel shows the address on the air.
  private func isPeer(_ address: BluetoothAddress) -> Bool {
    guard let peer = runner.attempts.current?.peer else { return false }
    let address = address.plain
    return address == peer || adapter.security?.bonded(.central).identity(of: address) == peer
  }
}
