import BluetoothCore

/// A wish for a link.
public struct ConnectionRequest: Hashable, Sendable {
  public var peer: BluetoothAddress
  public var parameters: ConnectionParameters
  public var parameterPolicy: ParameterPolicy
  /// How long to wait for the peer, tries that failed included.
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
  /// A short interval for discovery and streams, and a supervision timeout that a Raspberry Pi survives: the
  /// 420 ms of the Linux kernel kill links.
  public static let fast = ConnectionParameters(
    intervalMin: ConnectionInterval(.microseconds(7500)), intervalMax: ConnectionInterval(.milliseconds(15)),
    supervisionTimeout: SupervisionTimeout(.seconds(4)))
}

/// Makes links, one at a time: a controller takes no second LE Create Connection while one is open.
///
/// A link counts once it is established: many links on a Raspberry Pi are reported as complete and lost a
/// moment later with 0x3E, before any packet has come over them. Those are tried again, unseen by the caller.
final class Initiator {
  /// How often a link may be lost before its first packet.
  static let maximumAttempts = 6

  private enum State {
    case idle
    /// The scan is being paused.
    case pausing
    /// LE Create Connection is out; its outcome is awaited.
    case creating
    /// LE Create Connection Cancel is out; the outcome of the creation is awaited all the same.
    case cancelling
    /// The link is there, and waits for its first packet.
    case establishing(LEConnection)
    /// Waiting before the next attempt.
    case backingOff
  }

  private final class Attempt {
    let request: ConnectionRequest
    let completion: (Result<LEConnection, HCIError>) -> Void
    var count = 0
    /// Set once the caller, or the deadline, has ended it.
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
  /// Whether a creation was cancelled, and the controller has not said that it has ended.
  private var hasOpenCreation = false

  init(_ host: HostController, scan: ScanController, timers: Timers, controller: ControllerInformation) {
    self.host = host
    self.scan = scan
    self.timers = timers
    self.controller = controller
  }

  /// Makes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that gives up; a link that is made all the same is ended unseen.
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

  /// Fails everything: the controller is gone or was reset.
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
        // A controller that does not end what it should have ended has to be reset.
        if host.hasNeverEnded(attempt.request.peer) { return host.fail(.commandTimedOut(Disconnect.opcode)) }
        finish(.failure(.connectionFailed(attempt.request.peer, .connectionAlreadyExists)))
      case .commandFailed(_, .commandDisallowed) where hasOpenCreation:
        host.fail(.commandTimedOut(LECreateConnectionCancel.opcode))
      default: finish(.failure(attempt.verdict ?? error))
      }
    }
    // While it initiates, the controller listens all the time; that is over as soon as the peer is heard.
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
    // The completion follows in any case, says the specification. Who does not keep to it costs two seconds.
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
    // The next one, or the scan, goes on first: the caller may take its time.
    begin()
    attempt.completion(result)
  }

  // MARK: Events

  /// Takes a connection event.
  ///
  /// - Returns: the link, if it is one that was asked for
  func receive(_ event: LEConnectionComplete) -> LEConnection? {
    hasOpenCreation = false
    guard let attempt = attempts.first else { return nil }
    switch state {
    case .creating, .cancelling: break
    default: return nil
    }
    guard event.status == .success else {
      // The late end of a creation that was cancelled and given up; this one was not cancelled.
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

  /// The host has taken note of a new link: its first packet is asked for.
  func probe(_ connection: LEConnection) {
    guard case .establishing(let current) = state, current === connection, let attempt = attempts.first
    else { return }
    if attempt.verdict != nil {
      // A success that raced with the cancellation.
      return connection.disconnect()
    }
    host.send(LEReadRemoteFeatures(handle: connection.handle)) { [weak self] result in
      guard let self, case .failure = result else { return }
      // It can't be asked. A link that is not established is lost within six intervals (Vol 6, Part B, 4.5.2).
      let grace = connection.parameters.interval.duration * 8
      watchdog = timers.schedule(after: grace) { [weak self] in self?.established(connection) }
    }
  }

  /// A packet has come over a link.
  func established(_ connection: LEConnection) {
    guard case .establishing(let current) = state, current === connection, connection.isConnected,
      let attempt = attempts.first, attempt.verdict == nil
    else { return }
    finish(.success(connection))
  }

  /// A link is gone.
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
