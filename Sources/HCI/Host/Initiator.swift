import BluetoothCore

/// A connection request.
public struct ConnectionRequest: Hashable, Sendable {
  public var peer: BluetoothAddress
  public var parameters: ConnectionParameters
  public var parameterPolicy: ParameterPolicy
  /// The timeout for finding the peer, including failed attempts.
  public var deadline: Duration

  public init(
    peer: BluetoothAddress, parameters: ConnectionParameters = .fast,
    parameterPolicy: ParameterPolicy = .accept, deadline: Duration = .seconds(30)
  ) {
    self.peer = peer
    self.parameters = parameters
    self.parameterPolicy = parameterPolicy
    self.deadline = deadline
  }
}

extension ConnectionParameters {
  /// A short interval for discovery and streams, and a supervision timeout suitable for a Raspberry Pi: with the Linux
  /// kernel's 420 ms, links are lost.
  public static let fast = ConnectionParameters(
    intervalMin: ConnectionInterval(.microseconds(7500)), intervalMax: ConnectionInterval(.milliseconds(15)),
    supervisionTimeout: SupervisionTimeout(.seconds(4)))
}

/// Establishes links, one at a time: a controller accepts no second LE Create Connection while one is pending.
///
/// A link is established when its first packet arrives. On a Raspberry Pi many links are reported as complete and lost
/// immediately afterwards with 0x3E, before any packet. Those attempts are repeated transparently.
final class Initiator {
  /// The maximum number of attempts that may end before the first packet.
  static let maximumAttempts = 6

  private enum State {
    case idle
    /// Waiting for the scan to stop.
    case pausing
    /// LE Create Connection was sent; waiting for its result.
    case creating
    /// LE Create Connection Cancel was sent; still waiting for the result of the creation.
    case cancelling
    /// The link is connected; waiting for its first packet.
    case establishing(LEConnection)
    /// Waiting before the next attempt.
    case backingOff
  }

  private final class Attempt {
    let request: ConnectionRequest
    let completion: (Result<LEConnection, HCIError>) -> Void
    var count = 0
    /// Set when the caller or the deadline has ended the attempt.
    var verdict: HCIError?
    var deadline: Timers.Token?

    init(_ request: ConnectionRequest, _ completion: @escaping (Result<LEConnection, HCIError>) -> Void) {
      self.request = request
      self.completion = completion
    }
  }

  private unowned let host: HostController
  private let scan: ScanController
  private let timers: Timers
  private let controller: ControllerInformation
  private var state = State.idle
  private var attempts: [Attempt] = []
  private var watchdog: Timers.Token?
  /// Whether a creation was cancelled, and the controller has not reported its end.
  private var hasOpenCreation = false

  init(_ host: HostController, scan: ScanController, timers: Timers, controller: ControllerInformation) {
    self.host = host
    self.scan = scan
    self.timers = timers
    self.controller = controller
  }

  /// Establishes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that cancels the attempt; a link that is established nevertheless is disconnected.
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<LEConnection, HCIError>) -> Void
  ) -> () -> Void {
    let attempt = Attempt(request, completion)
    attempt.deadline = timers.schedule(after: request.deadline) { [weak self, weak attempt] in
      guard let attempt else { return }
      self?.end(attempt, .peerNotFound(request.peer, seconds: request.deadline.inSeconds))
    }
    attempts.append(attempt)
    if attempts.count == 1 { begin() }
    return { [weak self, weak attempt] in
      if let attempt { self?.end(attempt, .cancelled) }
    }
  }

  /// Fails all attempts: the controller was closed or reset.
  func fail(_ error: HCIError) {
    let waiting = attempts
    attempts = []
    state = .idle
    timers.cancel(watchdog)
    for attempt in waiting {
      timers.cancel(attempt.deadline)
      attempt.completion(.failure(error))
    }
  }

  // MARK: One attempt

  private func begin() {
    guard !attempts.isEmpty else {
      state = .idle
      return scan.resume()
    }
    state = .pausing
    scan.pause { [weak self] in self?.create() }
  }

  private func create() {
    guard case .pausing = state, let attempt = attempts.first else { return }
    if let verdict = attempt.verdict { return finish(.failure(verdict)) }
    attempt.count += 1
    state = .creating
    let accepted = { [weak self] (result: Result<Void, HCIError>) in
      guard let self, case .failure(let error) = result, attempts.first === attempt else { return }
      switch error {
      case .commandFailed(_, .connectionAlreadyExists):
        // A controller that does not disconnect a link in time has to be reset.
        if host.hasNeverEnded(attempt.request.peer) { return host.fail(.commandTimedOut(Disconnect.opcode)) }
        finish(.failure(.connectionFailed(attempt.request.peer, .connectionAlreadyExists)))
      case .commandFailed(_, .commandDisallowed) where hasOpenCreation:
        host.fail(.commandTimedOut(LECreateConnectionCancel.opcode))
      default: finish(.failure(attempt.verdict ?? error))
      }
    }
    // While initiating, the controller listens continuously, until the peer is received.
    let window = ScanInterval(.milliseconds(60))
    let scan = InitiatorScan(interval: window, window: window)
    let request = attempt.request
    if controller.usesExtendedConnect {
      host.send(
        LEExtendedCreateConnection {
          $0.ownAddressType = controller.ownAddressType
          $0.peerAddress = request.peer
          $0.le1M = .init(scan: scan, parameters: request.parameters)
        },
        completion: accepted)
    } else {
      host.send(
        LECreateConnection {
          $0.scan = scan
          $0.peerAddress = request.peer
          $0.ownAddressType = controller.ownAddressType
          $0.parameters = request.parameters
        },
        completion: accepted)
    }
  }

  private func end(_ attempt: Attempt, _ verdict: HCIError) {
    guard attempt.verdict == nil, let index = attempts.firstIndex(where: { $0 === attempt }) else { return }
    attempt.verdict = verdict
    guard index == 0 else {
      attempts.remove(at: index)
      timers.cancel(attempt.deadline)
      return attempt.completion(.failure(verdict))
    }
    switch state {
    case .idle, .pausing, .cancelling: break
    case .creating: cancelCreation(verdict)
    case .establishing(let connection): connection.disconnect()
    case .backingOff:
      timers.cancel(watchdog)
      finish(.failure(verdict))
    }
  }

  private func cancelCreation(_ verdict: HCIError) {
    state = .cancelling
    host.send(LECreateConnectionCancel()) { _ in }
    // The specification requires a completion event in any case. A controller that omits it costs two seconds.
    watchdog = timers.schedule(after: .seconds(2)) { [weak self] in
      guard let self, case .cancelling = state else { return }
      hasOpenCreation = true
      finish(.failure(verdict))
    }
  }

  private func finish(_ result: Result<LEConnection, HCIError>) {
    guard !attempts.isEmpty else { return }
    timers.cancel(watchdog)
    let attempt = attempts.removeFirst()
    timers.cancel(attempt.deadline)
    state = .idle
    // Continue with the next attempt, or the scan, before calling the completion, which may take time.
    begin()
    attempt.completion(result)
  }

  // MARK: Events

  /// Handles a connection event.
  ///
  /// - Returns: the link, if it was requested
  func receive(_ event: LEConnectionComplete) -> LEConnection? {
    hasOpenCreation = false
    guard let attempt = attempts.first else { return nil }
    switch state {
    case .creating, .cancelling: break
    default: return nil
    }
    guard event.status == .success else {
      // The late result of a cancelled creation; the current one was not cancelled.
      if event.status == .unknownConnectionIdentifier, case .creating = state { return nil }
      finish(.failure(attempt.verdict ?? .connectionFailed(attempt.request.peer, event.status)))
      return nil
    }
    guard event.role == .central, event.peerAddress.value == attempt.request.peer.value else { return nil }
    timers.cancel(watchdog)
    let connection = LEConnection(
      host, handle: event.handle, peer: attempt.request.peer,
      parameters: event.parameters,
      parameterPolicy: attempt.request.parameterPolicy)
    state = .establishing(connection)
    return connection
  }

  /// The host has registered a new link: checks it by requesting its first packet.
  func probe(_ connection: LEConnection) {
    guard case .establishing(let current) = state, current === connection, let attempt = attempts.first
    else { return }
    if attempt.verdict != nil {
      // The link was established before the cancellation took effect.
      return connection.disconnect()
    }
    host.send(LEReadRemoteFeatures(handle: connection.handle)) { [weak self] result in
      guard let self, case .failure = result else { return }
      // The request is not possible. A link that is not established is lost within six intervals (Vol 6, Part B,
      // 4.5.2).
      let grace = connection.parameters.interval.duration * 8
      watchdog = timers.schedule(after: grace) { [weak self] in self?.established(connection) }
    }
  }

  /// A packet has arrived on a link.
  func established(_ connection: LEConnection) {
    guard case .establishing(let current) = state, current === connection, connection.isConnected,
      let attempt = attempts.first, attempt.verdict == nil
    else { return }
    finish(.success(connection))
  }

  /// A link is disconnected.
  func lost(_ connection: LEConnection, _ reason: HCIErrorCode) {
    guard case .establishing(let current) = state, current === connection, let attempt = attempts.first
    else { return }
    if let verdict = attempt.verdict { return finish(.failure(verdict)) }
    guard reason == .connectionFailedToBeEstablished else {
      return finish(.failure(.connectionFailed(connection.peer, reason)))
    }
    guard attempt.count < Self.maximumAttempts else {
      return finish(.failure(.connectionNotEstablished(connection.peer, attempts: attempt.count)))
    }
    state = .backingOff
    let pause = Duration.milliseconds(50 << min(attempt.count - 1, 4))
    watchdog = timers.schedule(after: pause) { [weak self] in
      guard let self, case .backingOff = state else { return }
      state = .pausing
      create()
    }
  }
}
