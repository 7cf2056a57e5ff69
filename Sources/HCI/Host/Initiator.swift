import HaloBluetoothCore

/// Establishes links by LE Create Connection, as ``ConnectionAttempts`` say. A controller accepts no second one while one
/// is pending.
final class Initiator {
  /// Called when the controller has, or lacks, a link that its events have not reported: it is to be set up again.
  var onHostControllerMismatch: ((StackError) -> Void)?

  private let links: LinkTable
  private let scan: ScanController
  private let advertiser: AdvertisingSets
  private let controller: ControllerInformation
  private let own: OwnAddress
  private let quiet: QuietCommands
  private let runner: ConnectionRunner<LEConnection>
  /// The link whose first packet is awaited.
  private var unproven: LEConnection? {
    didSet {
      oldValue?.awaitFirstPacket(false)
      unproven?.awaitFirstPacket(true)
    }
  }
  /// Whether a creation was cancelled, and the controller has not reported its end.
  private var hasOpenCreation = false
  /// How often in a row the controller has refused to create a link.
  private var refusals = 0
  private static let maximumRefusals = 3
  private var usesExtendedConnect: Bool
  /// The combinations of states that the controller has (7.8.27); zero if unknown, nil until they are needed.
  private var states: LEStates?
  /// Whether the controller has refused to create a link while it advertises, and not without.
  private var needsQuiet = false

  /// Whether the controller refuses again and again, without a link that could be the reason.
  private var isStuck: Bool { refusals >= Self.maximumRefusals && links.isEmpty }

  init(
    _ links: LinkTable, scan: ScanController, advertiser: AdvertisingSets, quiet: QuietCommands,
    timers: Timers, controller: ControllerInformation, own: OwnAddress
  ) {
    self.links = links
    self.scan = scan
    self.advertiser = advertiser
    self.controller = controller
    self.own = own
    self.quiet = quiet
    usesExtendedConnect = controller.usesExtendedConnect
    runner = ConnectionRunner(.controller, timers: timers)
    runner.perform = { [weak self] in self?.perform($0) }
  }

  /// Establishes a link. `completion` is called exactly once.
  ///
  /// - Returns: a closure that cancels the attempt; a link that is established nevertheless is disconnected.
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<LEConnection, StackError>) -> Void
  ) -> () -> Void {
    runner.connect(request, completion: completion)
  }

  /// Fails all attempts: the controller was closed or reset.
  func fail(_ error: StackError) {
    unproven = nil
    runner.fail(error)
  }

  private func perform(_ action: ConnectionAttempts<LEConnection>.Action) {
    switch action {
    case .prepare(let id, _):
      scan.pause { [weak self] in
        self?.prepareAdvertiser(for: id) { [weak self] in
          self?.quiet.whenDone { self?.runner.handle(.prepared, of: id) }
        }
      }
    case .create(let id, let request): create(id, request)
    case .cancelCreation: links.commands.send(LECreateConnectionCancel()) { _ in }
    case .abandonCreation: hasOpenCreation = true
    case .probe(let connection): probe(connection)
    case .disconnect(let connection):
      unproven = nil
      connection.disconnect()
    case .rest:
      quiet.tryNow()
      scan.resume()
      advertiser.resume(from: .creation)
    case .listen, .note, .finish: break
    }
  }

  /// Stops advertising for the attempt, if the controller can't do both, as far as is known.
  private func prepareAdvertiser(for id: UInt64, then next: @escaping () -> Void) {
    // The attempt may have been given up while something else ended.
    guard runner.attempts.isWanted(id) else { return }
    let desired = advertiser.desired
    guard needsQuiet || !desired.isEmpty else { return next() }
    guard let states else {
      guard controller.supportedCommands.contains(LEReadSupportedStates.self) else {
        states = []
        return prepareAdvertiser(for: id, then: next)
      }
      return links.commands.send(LEReadSupportedStates(), allowsTimeout: true) { [weak self] result in
        self?.states = (try? result.get()).map { LEStates(rawValue: $0.states) } ?? []
        self?.prepareAdvertiser(for: id, then: next)
      }
    }
    let canDoBoth = states.isEmpty || desired.allSatisfy { states.contains(.initiating(while: $0.kind)) }
    if needsQuiet || !canDoBoth { advertiser.pause(for: .creation, then: next) } else { next() }
  }

  /// - Parameter isQuiet: whether advertising was stopped for it, after the same creation was refused
  private func create(_ id: UInt64, _ request: ConnectionRequest, isQuiet: Bool = false) {
    let accepted = { [weak self] (result: Result<Void, StackError>) in
      guard let self, runner.attempts.isCurrent(id) else { return }
      guard case .failure(let error) = result else {
        refusals = 0
        if isQuiet { needsQuiet = true }
        return
      }
      guard let status = error.refusal else {
        return runner.handle(.ended(.failed(error)), of: id)
      }
      if !isQuiet, error.isOfStates, !advertiser.active.isEmpty {
        return advertiser.pause(for: .creation) { [weak self] in
          guard let self else { return }
          guard runner.attempts.isWanted(id) else {
            // It was cancelled while advertising stopped: the controller creates nothing.
            return runner.handle(.ended(.failed(error)), of: id)
          }
          create(id, request, isQuiet: true)
        }
      }
      refusals += 1
      switch status {
      case .unknownCommand where usesExtendedConnect:
        // The controller claims this command, and does not have it.
        usesExtendedConnect = false
        create(id, request, isQuiet: isQuiet)
      case .connectionAlreadyExists where links.hasLink(to: request.peer):
        runner.handle(.ended(.failed(.connectionFailed(request.peer, status))), of: id)
      // The event of this link, or of its end, was lost.
      case .connectionAlreadyExists: onHostControllerMismatch?(.hostControllerMismatch(error))
      // The event of another creation was lost.
      case .commandDisallowed where hasOpenCreation || isStuck:
        onHostControllerMismatch?(.hostControllerMismatch(error))
      default: runner.handle(.ended(.failed(error)), of: id)
      }
    }
    // While initiating, the controller listens continuously, until the peer is received.
    let interval = ScanInterval(.milliseconds(60))
    let includesCoded =
      usesExtendedConnect && request.preferences?.phys?.contains(.leCoded) == true
      && controller.leFeatures.contains(.phyCoded)
    let scan = InitiatorScan(
      interval: interval, window: interval.longestWindow(besideCoded: includesCoded))
    if usesExtendedConnect {
      links.commands.send(
        LEExtendedCreateConnection {
          $0.ownAddressType = own.type(to: request.peer)
          $0.peerAddress = request.peer
          $0.le1M = .init(scan: scan, parameters: request.parameters)
          $0.leCoded = includesCoded ? $0.le1M : nil
        },
        completion: accepted)
    } else {
      links.commands.send(
        LECreateConnection {
          $0.scan = scan
          $0.peerAddress = request.peer
          $0.ownAddressType = own.type(to: request.peer)
          $0.parameters = request.parameters
        },
        completion: accepted)
    }
  }

  /// Checks a link by requesting its first packet.
  private func probe(_ connection: LEConnection) {
    unproven = connection
    guard !connection.leftOut.contains(.readFeatures) else { return wait(for: connection) }
    links.commands.send(LEReadRemoteFeatures(handle: connection.handle)) { [weak self] result in
      guard let self, case .failure(let error) = result else { return }
      links.note(error, on: connection)
      wait(for: connection)
    }
  }

  /// Nothing can be requested of a new link. One that is not established is lost within six intervals (Vol 6, Part B, 4.5.2).
  private func wait(for connection: LEConnection) {
    guard unproven === connection else { return }
    runner.handle(.unprobed(connection.parameters.interval.duration * 8))
  }

  // MARK: Events

  var isIdle: Bool { runner.attempts.current == nil }

  var isCreating: Bool { runner.attempts.isCreating }

  /// The same, to a peer.
  func isCreating(_ peer: BluetoothAddress) -> Bool {
    isCreating && runner.attempts.current?.peer.value == peer.value
  }

  /// Handles a connection event of the central role.
  ///
  /// - Returns: the link, if it was requested; call ``register(_:)`` next
  func receive(_ event: LEConnectionComplete) -> LEConnection? {
    hasOpenCreation = false
    guard event.status == .success else {
      runner.handle(.creationFailed(event.status))
      return nil
    }
    guard runner.attempts.isCreating, let request = runner.attempts.current, event.role == .central,
      event.peerAddress.value == request.peer.value
    else { return nil }
    return LEConnection(links, event, request, ownAddress: own.onAir)
  }

  /// The host has registered a new link.
  func register(_ connection: LEConnection) {
    runner.handle(.created(connection.handle, connection))
  }

  /// A packet has arrived on a link.
  func established(_ connection: LEConnection) {
    guard unproven === connection, connection.isConnected else { return }
    unproven = nil
    runner.handle(.established(nil))
  }

  /// A link is disconnected.
  func lost(_ connection: LEConnection, _ reason: HCIErrorCode) {
    if unproven === connection { unproven = nil }
    runner.handle(.lost(connection.handle, reason))
  }
}
