import HaloBluetoothCore

/// The host side of HCI: sets up the controller, sends commands, and passes events to the objects that they concern (Core
/// Specification Vol 4, Part E). `LinkTable` holds the links and their data, `Initiator` establishes them, `ScanController`
/// scans.
///
/// It does no I/O. Pass received packets to ``receive(_:at:)``, which must not be called from within a closure that it
/// calls; outgoing packets are passed to the closure given to the initializer. Both include the H4 type byte. `Timers`
/// provides the time. Call ``initialize(completion:)`` first.
///
/// Properties that each packet reads have no dynamic check for exclusive access, here and in the layers above: 80 instructions
/// each.
package final class HostController {
  /// Counts of discarded input.
  package struct Counters: Hashable, Sendable {
    /// Packets that can't be decoded.
    package var malformedPackets = 0
    /// ACL data of unknown or disconnected links.
    package var unknownHandlePackets = 0
    /// The number of times that the controller failed and was set up again.
    package var breakdowns = 0
    /// Requests for other connection parameters that were rejected because there were too many.
    package var excessParameterRequests = 0
  }

  /// The timeout of a command.
  package static let commandDeadline = Duration.seconds(3)
  /// The maximum number of breakdowns within ``breakdownPeriod``. After less frequent ones the controller is always set up
  /// again.
  static let maximumBreakdowns = 3
  static let breakdownPeriod = Duration.seconds(600)

  @exclusivity(unchecked) package private(set) var counters = Counters()
  /// The properties of the controller; nil until it is set up.
  package private(set) var controller: ControllerInformation?

  /// Called for each advertising report.
  package var onReport: ((AdvertisingReport, Instant) -> Void)?
  /// Called when the controller refuses the scan, which is tried again; and with nil when it scans nevertheless.
  package var onScanRefusal: ((StackError?) -> Void)?
  /// Called for each link that a central has established, before its data are handled: set the closures of the link in here.
  /// Without this closure, such links are disconnected.
  package var onAccepted: ((LEConnection) -> Void)?
  /// Makes the private address that is used on the air in the place of the one that stays, which it gets; nil if the latter is
  /// used. Set it before ``initialize(completion:)``.
  package var makePrivateAddress: PrivateAddressMaker?
  /// Called with information for the user.
  package var onNote: ((String) -> Void)?
  /// Called when the controller has failed permanently: once, and once more after each ``revive()``. All links have been
  /// reported as disconnected before.
  package var onFailure: ((StackError) -> Void)?

  private let timers: Timers
  /// The times of recent breakdowns.
  private var breakdowns: [Instant] = []
  private let randomAddress: BluetoothAddress
  private let prefersRandomAddress: Bool
  private let watchesState: Bool
  private let commands: CommandQueue
  private let links: LinkTable
  private let watch: ControllerWatchdog
  private let parameterRequests: ParameterRequests
  private var scan: ScanController?
  private var advertiser: AdvertisingSets?
  private var turns: ScanTurns?
  private var quiet: QuietCommands?
  private var own: OwnAddress?
  private var rotation: AddressRotation?
  private var resolvingList: ResolvingList?
  private var resolvable: [ResolvableDevice] = []
  private var stateWatch: StateWatch?
  @exclusivity(unchecked) private var initiator: Initiator?
  private var desiredScan: ScanParameters?
  private var desiredAdvertising: [(set: AdvertisingSet, advertising: Advertising)] = []
  private var earlyACLBuffer = EarlyACLBuffer()
  /// The current set-up; the answers to earlier ones are ignored.
  private var setUp = 0
  private var onSetUp: ((Result<ControllerInformation, StackError>) -> Void)?
  private var waiting: [WaitingConnection] = []
  /// The failure of the controller; nil while it is usable.
  @exclusivity(unchecked) package private(set) var failure: StackError?

  /// - Parameters:
  ///   - timers: the clock of all deadlines
  ///   - randomAddress: the address to scan and connect with if the controller has no public one: a random
  ///     static address, whose two most significant bits are 1
  ///   - prefersRandomAddress: whether it is used in any case
  ///   - watchesState: whether it asks an idle controller for its links and its advertising
  ///   - send: sends a packet to the controller; the span is valid only during the call
  package init(
    timers: Timers, randomAddress: BluetoothAddress, prefersRandomAddress: Bool = false,
    watchesState: Bool = true, send: @escaping (RawSpan) -> Void
  ) {
    self.timers = timers
    self.randomAddress = randomAddress
    self.prefersRandomAddress = prefersRandomAddress
    self.watchesState = watchesState
    let commands = CommandQueue(timers: timers, send: send)
    let links = LinkTable(timers: timers, commands: commands, send: send)
    self.commands = commands
    self.links = links
    parameterRequests = ParameterRequests(commands)
    // The links outlive the watch.
    let watch = ControllerWatchdog(timers: timers) { [unowned links] in links.packets }
    self.watch = watch
    commands.onTimeout = { [weak self] error in self?.fail(error) }
    links.onSent = { [unowned links] in if links.hasPacketsInFlight { watch.begin() } }
    links.onLost = { [weak self] connection, reason in
      self?.parameterRequests.remove(connection.handle)
      self?.initiator?.lost(connection, reason)
      self?.earlyACLBuffer.ended(connection.handle, at: timers.now)
      // Some controllers do not advertise while there are as many links as they have room for.
      self?.turns?.linkEnded()
      self?.advertiser?.tryNow()
    }
    watch.onSilence = { [weak self] in self?.send(ReadBDADDR()) { _ in } }
    watch.onHeld = { [weak self] held in self?.hold(held) }
    commands.onUnaskedNOP = { [weak self] in self?.stateWatch?.hint() }
  }

  /// Outstanding commands and links retain their completions. No completion is called here, as the owner may be
  /// deallocated, too. Call ``close()`` first to end all operations with a result.
  deinit {
    commands.removeAll()
    links.forget()
  }

  // MARK: Setting up

  /// Resets the controller and reads its properties.
  package func initialize(completion: @escaping (Result<ControllerInformation, StackError>) -> Void) {
    if let failure { return completion(.failure(failure)) }
    dropLinks(.hardwareFailure, .cancelled)
    let last = onSetUp.take()
    onSetUp = completion
    beginSetUp(.cancelled)
    last?(.failure(.cancelled))
  }

  /// - Parameter error: the result of the outstanding commands
  private func beginSetUp(_ error: StackError) {
    setUp += 1
    commands.restart(error)
    links.controllerWasReset()
    var setup = ControllerSetup(
      randomAddress: randomAddress, prefersRandomAddress: prefersRandomAddress,
      makePrivateAddress: makePrivateAddress)
    take(setup.start(), of: setup, setUp)
  }

  private func take(_ step: ControllerSetup.Step, of setup: ControllerSetup, _ id: Int) {
    switch step {
    case .send(let command):
      // Commands that the set-up can do without need not be answered.
      let allowsTimeout = command is WriteLEHostSupport
      commands.enqueue(command, endsWithStatus: false, allowsTimeout: allowsTimeout) { [weak self] response in
        guard let self, setUp == id else { return }
        var setup = setup
        take(setup.next(response), of: setup, id)
      }
    case .done(let result):
      if case .success(let information) = result { adopt(information) }
      onSetUp.take()?(result)
    }
  }

  /// Allows packets again after a failure; call ``initialize(completion:)`` next. ``onFailure`` may be called again. Do
  /// not call it after ``close()``.
  package func revive() {
    if failure != .cancelled { failure = nil }
  }

  private func adopt(_ information: ControllerInformation) {
    controller = information
    let own = OwnAddress(information)
    self.own = own
    links.setBuffers(capacity: information.aclPackets, dataLength: information.aclDataLength)
    let scan = ScanController(
      commands, timers: timers, usesExtendedCommands: information.usesExtendedScan,
      ownAddressType: own.type)
    scan.onRefusal = { [weak self] error in
      guard let self else { return }
      if let error, turns?.refused(.scan, error) == true { return }
      onScanRefusal?(error)
    }
    scan.onSilence = { [weak self] count in self?.scanIsSilent(count) }
    self.scan = scan
    let advertiser = AdvertisingSets(commands, timers: timers, controller: information, own: own)
    self.advertiser = advertiser
    let quiet = QuietCommands(commands, scan, advertiser)
    self.quiet = quiet
    let initiator = Initiator(
      links, scan: scan, advertiser: advertiser, quiet: quiet, timers: timers, controller: information,
      own: own)
    quiet.isFree = { [unowned initiator] in initiator.isIdle }
    let resolvingList = ResolvingList(commands, quiet, information)
    self.resolvingList = resolvingList
    own.resolvingList = resolvingList
    resolvingList.set(resolvable)
    rotation = makePrivateAddress.map { AddressRotation(own, quiet, timers: timers, make: $0) }
    rotation?.isInUse = { [weak self] in self?.isInUse == true }
    rotation?.onRefusal = { [weak self] error in
      self?.onNote?("\(error); the private address stays, and is changed later")
    }
    initiator.onHostControllerMismatch = { [weak self] error in self?.recover(from: error) }
    self.initiator = initiator
    turns = ScanTurns(scan, advertiser, timers: timers) { [unowned initiator] in initiator.isIdle }
    advertiser.onRefusal = { [weak self] error in self?.turns?.refused(.advertising, error) == true }
    let stateWatch = StateWatch(
      commands, timers: timers, links: links, advertiser: advertiser, controller: information)
    stateWatch.onStateLost = { [weak self] in self?.recover(from: .stateLost) }
    self.stateWatch = watchesState ? stateWatch : nil
    if !desiredAdvertising.isEmpty { self.stateWatch?.begin() }
    scan.setDesired(desiredScan)
    for (set, advertising) in desiredAdvertising { advertiser.setDesired(advertising, in: set) }
    let waiting = self.waiting
    self.waiting = []
    for connection in waiting { connection.start(initiator) }
  }

  /// The transport was closed: all outstanding operations fail.
  ///
  /// - Parameters:
  ///   - reason: why, for people
  ///   - isFinal: whether it can't be opened again
  package func transportClosed(_ reason: String, isFinal: Bool = false) {
    fail(isFinal ? .transportEnded(reason) : .transportClosed(reason))
  }

  /// Stops using the controller: all outstanding operations end with `.cancelled`, and ``onFailure`` is not called.
  package func close() {
    end(.cancelled)
    onFailure = nil
    onReport = nil
    onScanRefusal = nil
    desiredAdvertising = []
    onAccepted = nil
    onNote = nil
  }

  func fail(_ error: StackError) {
    if end(error) { onFailure?(error) }
  }

  /// - Returns: false if it had failed or was closed before
  @discardableResult
  private func end(_ error: StackError) -> Bool {
    guard failure == nil else { return false }
    failure = error
    dropLinks(.hardwareFailure, error)
    commands.fail(error)
    onSetUp.take()?(.failure(error))
    let waiting = self.waiting
    self.waiting = []
    for connection in waiting { connection.fail(error) }
    return true
  }

  /// Precedes failing the outstanding commands: the scan controller would take that for a rejection, and stop the
  /// desired scan.
  private func dropLinks(_ reason: HCIErrorCode, _ error: StackError) {
    let initiator = self.initiator
    // The completion of the failed attempt may start a new one at once; this must not affect it.
    self.initiator = nil
    scan = nil
    turns = nil
    advertiser = nil
    quiet = nil
    rotation = nil
    resolvingList = nil
    stateWatch = nil
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
  package func send<Command: HCICompletingCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Command.Response, StackError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  /// Sends a command and waits for Command Status. Its result follows as a separate event.
  ///
  /// - Parameters:
  ///   - command: the command with its parameters
  ///   - deadline: how long to wait for the controller
  ///   - completion: called exactly once
  package func send<Command: HCIStatusCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  // MARK: Advertising, scanning and connecting

  /// Whether a scan, advertising or a link is wanted, and the private address is, or will be, on the air.
  private var isInUse: Bool {
    desiredScan != nil || !desiredAdvertising.isEmpty || initiator?.isIdle == false
  }

  /// The address is on the air from now on, and was not: it is a new one each time.
  private func useAddress() {
    if !isInUse { rotation?.renew() }
  }

  /// Sets the advertisement of a set; nil for none. It stays in effect through a reset, and is advertised again after a central
  /// has connected, unless ``onAccepted`` sets nil.
  package func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) {
    if advertising != nil { useAddress() }
    let place = desiredAdvertising.firstIndex { $0.set === set }
    switch (place, advertising) {
    case (let place?, let advertising?): desiredAdvertising[place].advertising = advertising
    case (let place?, nil): desiredAdvertising.remove(at: place)
    case (nil, let advertising?): desiredAdvertising.append((set, advertising))
    case (nil, nil): break
    }
    advertiser?.setDesired(advertising, in: set)
    if advertising != nil { stateWatch?.begin() }
  }

  /// Ends all advertisements, and calls `done` once when the controller has answered that: at once if it advertises nothing, and
  /// never if it fails.
  package func stopAdvertising(then done: @escaping () -> Void) {
    desiredAdvertising = []
    if let advertiser { advertiser.stop(then: done) } else { done() }
  }

  /// Sets the devices whose private addresses the controller resolves, if it can, as many as it has room for. It stays in effect
  /// through a reset.
  ///
  /// - Parameter devices: the most important first, each key once
  package func setResolvable(_ devices: [ResolvableDevice]) {
    resolvable = devices
    resolvingList?.set(devices)
  }

  /// Whether the controller has the key of a device, so that it should resolve its addresses.
  package func knows(_ identity: BluetoothAddress) -> Bool { resolvingList?.contains(identity) == true }

  /// Whether the controller resolves the addresses of a device, so that the one that stays stands for all.
  package func resolves(_ identity: BluetoothAddress) -> Bool { resolvingList?.resolves(identity) == true }

  /// Sets the desired scan; nil for none. It stays in effect through connecting and through a reset.
  package func setScan(_ parameters: ScanParameters?) {
    if parameters != nil { useAddress() }
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
  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<LEConnection, StackError>) -> Void
  ) -> () -> Void {
    guard request.peer.kind.isKnown else {
      completion(.failure(.unknownAddressType(request.peer)))
      return {}
    }
    if let initiator {
      useAddress()
      return initiator.connect(request, completion: completion)
    }
    guard failure == nil, onSetUp != nil else {
      completion(.failure(failure ?? .notReady))
      return {}
    }
    // While the controller is set up again, it waits.
    let waiting = WaitingConnection(request, completion)
    self.waiting.append(waiting)
    return { [weak self] in
      self?.waiting.removeAll { $0 === waiting }
      waiting.cancel()
    }
  }

  /// The number of ACL packets waiting for a controller buffer, on all links.
  package var waitingPackets: Int { links.waitingPackets }

  // MARK: Receiving

  /// Processes one complete packet from the controller, with its H4 type byte.
  ///
  /// - Parameters:
  ///   - packet: the H4 type byte and the packet
  ///   - arrival: when it was received
  package func receive(_ packet: RawSpan, at arrival: Arrival) {
    guard failure == nil, let type = packet.byte(at: 0) else { return }
    watch.heard()
    let body = packet.extracting(1..<packet.byteCount)
    switch HCIPacketType(rawValue: type) {
    case .acl: receiveData(body, at: arrival)
    case .event where body.byte(at: 0) == HCIEventCode.numberOfCompletedPackets.rawValue:
      guard let completed = try? CompletedPackets(body) else {
        counters.malformedPackets += 1
        return
      }
      links.receive(completed)
    case .event:
      var reader = ByteReader(body)
      guard let event = try? HCIEvent(parsing: &reader) else {
        counters.malformedPackets += 1
        return
      }
      receive(event, at: arrival.time)
    default: counters.malformedPackets += 1
    }
  }

  /// The hot path: no copy, no allocation.
  private func receiveData(_ body: RawSpan, at arrival: Arrival) {
    guard let packet = try? ACLPacket(body) else {
      counters.malformedPackets += 1
      return
    }
    guard let connection = links[packet.header.handle] else {
      let isKept = expectsLink && earlyACLBuffer.keep(body, of: packet.header.handle, at: arrival)
      counters.unknownHandlePackets += isKept ? 0 : 1
      return
    }
    if connection.isUnproven { initiator?.established(connection) }
    connection.deliver(packet, at: arrival)
  }

  /// Whether a link may come into being, so that its data may overtake its event.
  private var expectsLink: Bool { initiator?.isCreating == true || !desiredAdvertising.isEmpty }

  private func receive(_ event: HCIEvent, at time: Instant) {
    switch event {
    case .commandComplete(let event): commands.receive(event)
    case .commandStatus(let event): commands.receive(event)
    case .leAdvertisingReports(let event):
      counters.malformedPackets += event.isDamaged ? 1 : 0
      scan?.heard(at: time)
      for report in event.reports {
        resolvingList?.heard(report.address)
        onReport?(report, time)
      }
    case .leConnectionComplete(let event): receive(event)
    case .disconnectionComplete(let event): links.receive(event)
    case .leConnectionUpdateComplete(let event): links[event.handle]?.receive(event)
    case .lePHYUpdateComplete(let event): links[event.handle]?.receive(event)
    case .leDataLengthChange(let event): links[event.handle]?.receive(event)
    case .leReadRemoteFeaturesComplete(let event): receive(event)
    case .leAdvertisingSetTerminated(let event): advertiser?.terminated(event)
    case .encryptionChange(let event): links[event.handle]?.receive(event)
    case .encryptionKeyRefreshComplete(let event): links[event.handle]?.receive(event)
    case .leLongTermKeyRequest(let event): links[event.handle]?.receive(event)
    case .leRemoteConnectionParameterRequest(let event):
      let isAnswered = parameterRequests.answer(event, on: links[event.handle], at: time)
      if !isAnswered { counters.excessParameterRequests += 1 }
    case .hardwareError(let event): recover(from: .hardwareError(event.code))
    default: break
    }
  }

  private func receive(_ event: LEConnectionComplete) {
    if event.status == .success, let link = links[event.handle] {
      // Some controllers report a link twice, or by both of the events (btstack#437).
      let isExpected =
        event.isOfPeripheral
        ? advertiser?.isConnectable == true : initiator?.isCreating(event.peerAddress) == true
      if link.peer.value == event.peerAddress.value, !isExpected { return }
      // If the handle is assigned again, the old link is disconnected, even without an event.
      links.remove(event.handle, .unspecifiedError)
    }
    guard let connection = event.isOfPeripheral ? accept(event) : initiator?.receive(event) else {
      // An unexpected link: its creation was cancelled without waiting for the result, or another program has requested
      // it.
      if event.status == .success { send(Disconnect(handle: event.handle)) { _ in } }
      advertiser?.tryNow()
      return
    }
    links.add(connection)
    resolvingList?.heard(event.peerAddress)
    stateWatch?.begin()
    if event.isOfPeripheral {
      onAccepted?(connection)
      advertiser?.tryNow()
    } else {
      initiator?.register(connection)
    }
    for packet in earlyACLBuffer.take(of: event.handle, at: timers.now) {
      receiveData(packet.body.span.bytes, at: packet.arrival)
    }
  }

  /// Handles a connection event of the peripheral role.
  ///
  /// - Returns: the link; nil after a failure, or without ``onAccepted``
  private func accept(_ event: LEConnectionComplete) -> LEConnection? {
    advertiser?.ended(event.status)
    guard event.status == .success, onAccepted != nil, let own else { return nil }
    return LEConnection(links, event, nil, ownAddress: own.onAir)
  }

  private func receive(_ event: LEReadRemoteFeaturesComplete) {
    guard let connection = links[event.handle] else { return }
    connection.receive(event)
    // With status 0x3E, Disconnection Complete follows.
    guard event.status != .connectionFailedToBeEstablished else { return }
    initiator?.established(connection)
    if let controller { connection.requestPreferences(controller.leFeatures) }
  }

  // MARK: Breakdowns

  /// The controller has broken down, or is out of step: links are lost, and it is set up again. If that fails, or happens too
  /// often, it is considered failed. A set-up that is under way begins again.
  func recover(from error: StackError) {
    guard failure == nil else { return }
    counters.breakdowns += 1
    onNote?("\(error)")
    onSetUp = onSetUp ?? { [weak self] result in if case .failure = result { self?.fail(error) } }
    dropLinks(.hardwareFailure, error)
    let now = timers.now
    breakdowns.removeAll { $0 + Self.breakdownPeriod < now }
    breakdowns.append(now)
    guard breakdowns.count <= Self.maximumBreakdowns else { return fail(error) }
    beginSetUp(error)
  }

  /// The controller does not report the packets of a link as sent. If it reports those of another one, that link is to blame.
  private func hold(_ held: ControllerWatchdog.Held) {
    let error = StackError.packetsStalled(held.packets, seconds: held.time.inSeconds)
    guard held.isOfAll else {
      // The first cause counts.
      guard links[held.handle]?.failure == nil else { return }
      onNote?("\(error)")
      return links.drop(held.handle, error)
    }
    recover(from: error)
  }

  private func scanIsSilent(_ count: Int) {
    let time = ScanController.longestSilence * count
    guard count > 1, links.isEmpty, initiator?.isIdle != false else {
      onNote?("no advertisement was received for \(Int(time.inSeconds)) s; the scan is started again")
      return
    }
    recover(from: .scanSilent(seconds: time.inSeconds))
  }
}
