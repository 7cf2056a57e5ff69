import BluetoothCore
import EventLoop
import GATTClient
import Glibc
import HCI
import L2CAP
import SystemCalls

/// Establishes links through the kernel, one at a time: it scans until the peer advertises, and then has the kernel
/// connect, with the scan paused, since a controller that is scanning rejects the kernel's scan.
///
/// The kernel would listen, too. But a socket that waits there while the adapter is switched off is what some kernels
/// don't survive (docs/08-the-kernel.md, "A fault of the kernel").
@BluetoothActor
final class KernelConnector {
  /// How often a link that failed immediately is retried.
  static let maximumAttempts = 6
  /// How long the kernel may look for a peer that has just advertised.
  private static let renewalPeriod = Duration.seconds(4)
  /// The interval for checking whether an adapter that is going down is up after all.
  private static let usabilityPeriod = Duration.milliseconds(100)

  @BluetoothActor
  private final class Attempt {
    let request: ConnectionRequest
    let completion: (Result<any ATTLink, HCIError>) -> Void
    var count = 0
    var deadline = Instant.zero
    /// The last status that the controller reported for this peer.
    var lastStatus: HCIErrorCode?
    /// Links established since this became the first in the queue.
    var made: Set<ConnectionHandle> = []
    var giveUp: (() -> Void)?
    var timer: Timers.Token?
    var isOver = false
    /// Whether the peer's next advertisement is waited for.
    var isListening = false
    /// Whether the controller is establishing the link, and not only looking for the peer.
    var isConnecting = false

    init(
      _ request: ConnectionRequest, _ completion: @escaping (Result<any ATTLink, HCIError>) -> Void
    ) {
      self.request = request
      self.completion = completion
    }
  }

  private unowned let adapter: KernelAdapter
  private let address: BluetoothAddress
  private let controller: RawController
  private var attempts: [Attempt] = []

  init(_ adapter: KernelAdapter, address: BluetoothAddress, controller: RawController) {
    self.adapter = adapter
    self.address = address
    self.controller = controller
  }

  /// Establishes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that cancels the attempt
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
    let attempt = Attempt(request, completion)
    attempt.deadline = adapter.timers.current + request.deadline
    attempt.timer = adapter.timers.schedule(at: attempt.deadline) { [weak self, weak attempt] in
      guard let attempt else { return }
      self?.finish(attempt, .failure(.peerNotFound(request.peer, seconds: request.deadline.inSeconds)))
    }
    attempts.append(attempt)
    if attempts.count == 1 { begin() }
    return { [weak self, weak attempt] in
      if let attempt { self?.finish(attempt, .failure(.cancelled)) }
    }
  }

  /// Fails everything: the adapter is gone.
  func fail(_ error: HCIError) {
    let waiting = attempts
    attempts = []
    for attempt in waiting { finish(attempt, .failure(error)) }
  }

  private func begin() {
    guard let attempt = attempts.first else {
      adapter.isListening = false
      return controller.resumeScan()
    }
    listen(attempt)
  }

  private func listen(_ attempt: Attempt) {
    guard !attempt.isOver else { return }
    guard adapter.isUsable() else {
      adapter.timers.schedule(after: Self.usabilityPeriod) { [weak self] in self?.listen(attempt) }
      return
    }
    if adapter.hasLink(to: attempt.request.peer) { return prepare(attempt) }
    attempt.isListening = true
    adapter.isListening = true
    controller.resumeScan()
  }

  /// Handles an advertising report.
  func heard(_ report: AdvertisingReport) {
    guard let attempt = attempts.first, attempt.isListening, report.eventType.contains(.connectable),
      report.address == attempt.request.peer
    else { return }
    prepare(attempt)
  }

  /// The controller does not scan for this process: the kernel has to find the peer.
  func cannotListen() {
    guard let attempt = attempts.first, attempt.isListening else { return }
    prepare(attempt)
  }

  private func prepare(_ attempt: Attempt) {
    attempt.isListening = false
    adapter.isListening = false
    controller.pauseScan { [weak self] in
      guard let self, !attempt.isOver else { return }
      adapter.load(attempt.request) { [weak self] in self?.create(attempt) }
    }
  }

  private func create(_ attempt: Attempt) {
    guard !attempt.isOver else { return }
    // The adapter's failure ends all attempts, if it fails: to connect to one that is going down is what some kernels
    // don't survive.
    guard adapter.isUsable() else { return listen(attempt) }
    attempt.count += 1
    attempt.isConnecting = false
    renew(attempt, attempt.count)
    attempt.giveUp = L2CAPSocket.connect(
      to: attempt.request.peer, from: address, deadline: attempt.request.deadline
    ) { [weak self] result in
      guard let self, !attempt.isOver else { return }
      attempt.giveUp = nil
      if case .failure(.cancelled) = result { return }
      adapter.catchUp()
      // Catching up may have shown that the adapter is gone.
      guard !attempt.isOver else { return }
      switch result {
      case .success(let socket):
        let isOurs = socket.handle.map { attempt.made.contains($0) } ?? false
        finish(attempt, .success(adapter.adopt(socket, for: attempt.request, isOurs: isOurs)))
      case .failure(let failure): judge(attempt, failure)
      }
    }
  }

  private func judge(_ attempt: Attempt, _ failure: L2CAPConnectFailure) {
    let peer = attempt.request.peer
    switch failure.verdict {
    case .failed(let reason):
      // If the adapter is what is gone, its failure ends the attempt, too.
      if adapter.isUsable() {
        finish(attempt, .failure(.adapter(AdapterError("connect to \(peer)", reason))))
      }
    case .retry(let reason):
      guard attempt.count < Self.maximumAttempts else {
        if case .connectionEnded = reason {
          let isLost = attempt.lastStatus == nil || attempt.lastStatus == .connectionFailedToBeEstablished
          let error =
            isLost
            ? HCIError.connectionNotEstablished(peer, attempts: attempt.count)
            : .connectionFailed(peer, attempt.lastStatus ?? .unspecifiedError)
          return finish(attempt, .failure(error))
        }
        return finish(attempt, .failure(.adapter(AdapterError("connect to \(peer)", reason))))
      }
      tryAgain(attempt, after: .milliseconds(50 << max(0, min(attempt.count - 1, 4))))
    case .notHeard:
      listen(attempt)
    case nil: break
    }
  }

  /// The kernel does not look for the peer for longer than this: after it, scanning for the peer starts again. A kernel
  /// that got the request while it powered the adapter on may not look at all.
  private func renew(_ attempt: Attempt, _ count: Int) {
    adapter.timers.schedule(after: Self.renewalPeriod) { [weak self] in
      guard let self, !attempt.isOver, attempt.count == count, attempt.giveUp != nil else { return }
      if attempt.isConnecting { return renew(attempt, count) }
      adapter.onNote?(
        "the kernel has not connected to \(attempt.request.peer) in time; cancelled, and tried again")
      attempt.count = 0
      interrupt(attempt, .deadline)
    }
  }

  private func tryAgain(_ attempt: Attempt, after pause: Duration) {
    adapter.timers.schedule(after: pause) { [weak self] in self?.create(attempt) }
  }

  /// The controller's events show that an attempt has failed, before the kernel acts upon that: its socket is closed now.
  private func interrupt(_ attempt: Attempt, _ failure: L2CAPConnectFailure) {
    guard let giveUp = attempt.giveUp else { return }
    attempt.giveUp = nil
    giveUp()
    judge(attempt, failure)
  }

  private func finish(_ attempt: Attempt, _ result: Result<any ATTLink, HCIError>) {
    guard !attempt.isOver else { return }
    attempt.isOver = true
    adapter.timers.cancel(attempt.timer)
    let giveUp = attempt.giveUp
    attempt.giveUp = nil
    giveUp?()
    let wasFirst = attempts.first === attempt
    attempts.removeAll { $0 === attempt }
    // The next attempt, or the scan, continues first: the caller may take its time.
    if wasFirst { begin() }
    attempt.completion(result)
  }

  // MARK: Controller events

  func connected(_ handle: ConnectionHandle) {
    attempts.first?.made.insert(handle)
  }

  func disconnected(_ handle: ConnectionHandle, _ reason: HCIErrorCode) {
    guard let attempt = attempts.first, attempt.made.remove(handle) != nil else { return }
    attempt.lastStatus = reason
    interrupt(attempt, .system(SystemError("connect", errno: ECONNRESET)))
  }

  func failed(_ peer: BluetoothAddress, _ status: HCIErrorCode) {
    guard let attempt = attempts.first, attempt.request.peer.value == peer.value else { return }
    attempt.lastStatus = status
    switch status {
    case .connectionFailedToBeEstablished:
      interrupt(attempt, .system(SystemError("connect", errno: ECONNRESET)))
    // The kernel has looked for the peer for the maximum time.
    case .unknownConnectionIdentifier: interrupt(attempt, .deadline)
    default: break
    }
  }

  func connecting() {
    attempts.first?.isConnecting = true
  }

  /// The kernel has cancelled a connection attempt of the controller: one that was cancelled here, or the current one,
  /// as it took too long or the adapter is being powered off.
  func cancelledByKernel() {
    guard let attempt = attempts.first else { return }
    interrupt(attempt, .deadline)
  }
}
