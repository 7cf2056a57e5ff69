import BluetoothCore

/// The host side of HCI: sets up the controller, sends commands, and hands events to what they concern (Core
/// Specification Vol 4, Part E). `LinkTable` holds the links and their data, `Initiator` establishes them,
/// `ScanController` scans.
///
/// It does no I/O. Pass received packets to ``receive(_:at:)``, which must not be called from within a closure that it
/// calls; outgoing packets are passed to the closure given to the initializer. Both include the H4 type byte. `Timers`
/// provides the time. Call ``initialize(completion:)`` first.
///
/// What each packet reads has no dynamic check for exclusive access, here and in the layers above: 80 instructions each.
public final class HostController {
  /// Counts of discarded input.
  public struct Counters: Hashable, Sendable {
    /// Packets that can't be decoded.
    public var malformedPackets = 0
    /// ACL data of unknown or disconnected links.
    public var strayData = 0
    /// The number of times that the controller failed and was set up again.
    public var hardwareErrors = 0
    /// Requests for other connection parameters that were rejected because there were too many.
    public var excessParameterRequests = 0
  }

  /// The timeout of a command.
  public static let commandDeadline = Duration.seconds(3)
  /// The maximum number of hardware errors within ``hardwareErrorPeriod``. After less frequent errors the controller is
  /// always set up again.
  static let maximumHardwareErrors = 3
  static let hardwareErrorPeriod = Duration.seconds(600)

  @exclusivity(unchecked) public private(set) var counters = Counters()
  /// The properties of the controller; nil until it is set up.
  public private(set) var controller: ControllerInformation?

  /// Called for each advertising report.
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  /// Called when the controller rejects a scan.
  public var onScanFailure: ((HCIError) -> Void)?
  /// Called when the controller has failed for good: once, and once more after each ``revive()``. All links have been
  /// reported as disconnected before.
  public var onFailure: ((HCIError) -> Void)?

  private let timers: Timers
  /// The times of recent hardware errors.
  private var breakdowns: [Instant] = []
  private let randomAddress: BluetoothAddress
  private let commands: CommandQueue
  private let links: LinkTable
  private let silence: SilenceWatch
  private let parameterRequests: ParameterRequests
  private var scan: ScanController?
  @exclusivity(unchecked) private var initiator: Initiator?
  private var desiredScan: ScanParameters?
  /// The failure of the controller; nil while it is usable.
  @exclusivity(unchecked) public private(set) var failure: HCIError?

  /// - Parameters:
  ///   - timers: the clock of all deadlines
  ///   - randomAddress: the address to scan and connect with if the controller has no public one: a random
  ///     static address, whose two most significant bits are 1
  ///   - send: sends a packet to the controller; the span is valid only during the call
  public init(timers: Timers, randomAddress: BluetoothAddress, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.randomAddress = randomAddress
    let commands = CommandQueue(timers: timers, send: send)
    let links = LinkTable(timers: timers, commands: commands, send: send)
    self.commands = commands
    self.links = links
    parameterRequests = ParameterRequests(commands)
    silence = SilenceWatch(timers: timers) { links.hasPacketsInFlight }
    commands.onTimeout = { [weak self] error in self?.fail(error) }
    links.onSent = { [weak self] in self?.silence.begin() }
    links.onLost = { [weak self] connection, reason in
      self?.parameterRequests.remove(connection.handle)
      self?.initiator?.lost(connection, reason)
    }
    silence.onSilence = { [weak self] in self?.send(ReadBDADDR()) { _ in } }
  }

  /// Outstanding commands and links retain their completions. No completion is called here, as the owner may be
  /// deallocated, too. Call ``close()`` first to end all operations with a result.
  deinit {
    commands.removeAll()
    links.forget()
  }

  // MARK: Setting up

  /// Resets the controller and reads its properties.
  public func initialize(completion: @escaping (Result<ControllerInformation, HCIError>) -> Void) {
    if let failure { return completion(.failure(failure)) }
    dropLinks(.hardwareFailure, .cancelled)
    commands.restart(.cancelled)
    links.controllerWasReset()
    var setup = ControllerSetup(randomAddress: randomAddress)
    take(setup.start(), of: setup, completion)
  }

  private func take(
    _ step: ControllerSetup.Step, of setup: ControllerSetup,
    _ completion: @escaping (Result<ControllerInformation, HCIError>) -> Void
  ) {
    switch step {
    case .send(let command):
      commands.enqueue(command, endsWithStatus: false) { [weak self] response in
        var setup = setup
        self?.take(setup.next(response), of: setup, completion)
      }
    case .done(let result):
      if case .success(let information) = result { adopt(information) }
      completion(result)
    }
  }

  /// Allows packets again after a failure; call ``initialize(completion:)`` next. ``onFailure`` may be called again. Do
  /// not call it after ``close()``.
  public func revive() {
    if failure != .cancelled { failure = nil }
  }

  private func adopt(_ information: ControllerInformation) {
    controller = information
    links.setBuffers(capacity: information.aclPackets, dataLength: information.aclDataLength)
    let scan = ScanController(
      commands, usesExtendedCommands: information.usesExtendedScan,
      ownAddressType: information.ownAddressType)
    scan.onFailure = { [weak self] error in
      self?.desiredScan = nil
      self?.onScanFailure?(error)
    }
    self.scan = scan
    initiator = Initiator(self, links: links, scan: scan, timers: timers, controller: information)
    scan.setDesired(desiredScan)
  }

  /// The transport was closed: all outstanding operations fail.
  public func transportClosed(_ reason: String) {
    fail(.transportClosed(reason))
  }

  /// Stops using the controller: all outstanding operations end with `.cancelled`, and ``onFailure`` is not called.
  public func close() {
    end(.cancelled)
    onFailure = nil
    onReport = nil
    onScanFailure = nil
  }

  func fail(_ error: HCIError) {
    if end(error) { onFailure?(error) }
  }

  /// - Returns: false if it had failed or was closed before
  @discardableResult
  private func end(_ error: HCIError) -> Bool {
    guard failure == nil else { return false }
    failure = error
    dropLinks(.hardwareFailure, error)
    commands.fail(error)
    return true
  }

  /// Precedes failing the outstanding commands: the scan controller would take that for a rejection, and stop the
  /// desired scan.
  private func dropLinks(_ reason: HCIErrorCode, _ error: HCIError) {
    let initiator = self.initiator
    // The completion of the failed attempt may start a new one at once; this must not affect it.
    self.initiator = nil
    scan = nil
    initiator?.fail(error)
    parameterRequests.removeAll()
    links.removeAll(reason, error)
  }

  // MARK: Commands

  /// Sends a command and waits for Command Complete.
  ///
  /// - Parameters:
  ///   - command: the command with its parameters
  ///   - deadline: how long to wait for the controller
  ///   - completion: called exactly once, with the return parameters or the error
  public func send<Command: HCICompletingCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Command.Response, HCIError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  /// Sends a command and waits for Command Status. Its result follows as a separate event.
  ///
  /// - Parameters:
  ///   - command: the command with its parameters
  ///   - deadline: how long to wait for the controller
  ///   - completion: called exactly once
  public func send<Command: HCIStatusCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Void, HCIError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  // MARK: Scanning and connecting

  /// Sets the desired scan; nil for none. It stays in effect through connecting and through a reset.
  public func setScan(_ parameters: ScanParameters?) {
    desiredScan = parameters
    scan?.setDesired(parameters)
  }

  /// Establishes a link.
  ///
  /// - Parameters:
  ///   - request: the peer, the link's parameters and the deadline
  ///   - completion: called exactly once. Data may arrive immediately afterwards, so set the closures of the
  ///     link in here.
  /// - Returns: a closure that cancels the attempt
  public func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<LEConnection, HCIError>) -> Void
  ) -> () -> Void {
    guard request.peer.kind.isKnown else {
      completion(.failure(.unknownAddressType(request.peer)))
      return {}
    }
    guard let initiator else {
      completion(.failure(failure ?? .notReady))
      return {}
    }
    return initiator.connect(request, completion: completion)
  }

  /// The number of ACL packets waiting for a controller buffer, on all links.
  public var waitingPackets: Int { links.waitingPackets }

  // MARK: Receiving

  /// Processes one complete packet from the controller, with its H4 type byte.
  ///
  /// - Parameters:
  ///   - packet: the H4 type byte and the packet
  ///   - time: when it was received
  public func receive(_ packet: RawSpan, at time: Instant) {
    guard failure == nil, let type = packet.byte(at: 0) else { return }
    silence.heard()
    let body = packet.extracting(1..<packet.byteCount)
    switch HCIPacketType(rawValue: type) {
    case .acl: receiveData(body, at: time)
    case .event:
      var reader = ByteReader(body)
      guard let event = try? HCIEvent(parsing: &reader) else {
        counters.malformedPackets += 1
        return
      }
      receive(event, at: time)
    default: counters.malformedPackets += 1
    }
  }

  /// The hot path: no copy, no allocation.
  private func receiveData(_ body: RawSpan, at time: Instant) {
    guard let packet = try? ACLPacket(body) else {
      counters.malformedPackets += 1
      return
    }
    guard let connection = links[packet.header.handle] else {
      counters.strayData += 1
      return
    }
    if connection.isUnproven { initiator?.established(connection) }
    connection.onData?(packet.data, packet.header.boundary != .continuing, time)
  }

  private func receive(_ event: HCIEvent, at time: Instant) {
    switch event {
    case .commandComplete(let event): commands.receive(event)
    case .commandStatus(let event): commands.receive(event)
    case .numberOfCompletedPackets(let event): links.receive(event)
    case .leAdvertisingReports(let event):
      counters.malformedPackets += event.isDamaged ? 1 : 0
      for report in event.reports { onReport?(report, time) }
    case .leConnectionComplete(let event): receive(event)
    case .disconnectionComplete(let event): links.receive(event)
    case .leConnectionUpdateComplete(let event): links[event.handle]?.receive(event)
    case .lePHYUpdateComplete(let event): links[event.handle]?.receive(event)
    case .leDataLengthChange(let event): links[event.handle]?.receive(event)
    case .leReadRemoteFeaturesComplete(let event): receive(event)
    case .leRemoteConnectionParameterRequest(let event):
      let isAnswered = parameterRequests.answer(event, on: links[event.handle], at: time)
      if !isAnswered { counters.excessParameterRequests += 1 }
    case .hardwareError(let event): recover(from: event.code)
    default: break
    }
  }

  private func receive(_ event: LEConnectionComplete) {
    // If the handle is assigned again, the old link is disconnected, even without an event.
    if event.status == .success { links.remove(event.handle, .unspecifiedError) }
    guard let connection = initiator?.receive(event) else {
      // An unexpected link: its creation was cancelled without waiting for the result, or another program has requested
      // it.
      if event.status == .success { send(Disconnect(handle: event.handle)) { _ in } }
      return
    }
    links.add(connection)
    initiator?.register(connection)
  }

  private func receive(_ event: LEReadRemoteFeaturesComplete) {
    guard let connection = links[event.handle] else { return }
    if event.status == .success { connection.remoteFeatures = event.features }
    // With status 0x3E, Disconnection Complete follows.
    guard event.status != .connectionFailedToBeEstablished else { return }
    initiator?.established(connection)
    if let controller { connection.requestPreferences(controller.leFeatures) }
  }

  /// A hardware error: links are lost, and the controller is set up again. If that fails, it is considered failed.
  private func recover(from code: UInt8) {
    counters.hardwareErrors += 1
    let count = counters.hardwareErrors
    let error = HCIError.hardwareError(code)
    dropLinks(.hardwareFailure, error)
    commands.restart(error)
    let now = timers.now
    breakdowns.removeAll { $0 + Self.hardwareErrorPeriod < now }
    breakdowns.append(now)
    guard breakdowns.count <= Self.maximumHardwareErrors else { return fail(error) }
    initialize { [weak self] result in
      // After another hardware error during setup, its event starts the next attempt.
      if case .failure = result, self?.counters.hardwareErrors == count { self?.fail(error) }
    }
  }
}
