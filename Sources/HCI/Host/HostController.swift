import BluetoothCore

/// The host's side of HCI: it gives commands, hears events, keeps the books on links and data (Core
/// Specification Vol 4, Part E).
///
/// It does no I/O. Packets come in through ``receive(_:at:)``, which must not be called from within a closure that it
/// calls, and go out through the closure given at the start, both with the H4 type byte. Time comes from `Timers`. Call
/// ``initialize(completion:)`` first.
public final class HostController {
  /// Counts of discarded input.
  public struct Counters: Hashable, Sendable {
    /// Packets that can't be read.
    public var malformedPackets = 0
    /// ACL data of links that do not exist, or no longer.
    public var strayData = 0
    /// Times the controller broke down and was set up again.
    public var hardwareErrors = 0
    /// Requests for other connection parameters that were refused because there were too many.
    public var excessParameterRequests = 0
  }

  /// How long a controller may take to answer a command.
  public static let commandDeadline = Duration.seconds(3)
  /// How often a controller may break down within ``hardwareErrorPeriod``. One that does so now and then is set up
  /// again for as long as it takes.
  static let maximumHardwareErrors = 3
  static let hardwareErrorPeriod = Duration.seconds(600)
  /// How long the controller may say nothing at all while it holds data. After that it is asked whether it is there.
  static let silenceLimit = Duration.seconds(6)
  /// How long a link may take to end.
  static let disconnectDeadline = Duration.seconds(5)

  public private(set) var counters = Counters()
  /// What the controller said of itself; nil until it is set up.
  public private(set) var controller: ControllerInformation?

  /// Called for each advertising report as it comes.
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  /// Called when the controller refuses to scan.
  public var onScanFailure: ((HCIError) -> Void)?
  /// Called when the controller is of no use any more: once, or once more after each ``revive()``. All links have
  /// been reported as lost by then.
  public var onFailure: ((HCIError) -> Void)?

  private let timers: Timers
  /// When the controller broke down lately.
  private var breakdowns: [Instant] = []
  /// When the last packet came from the controller.
  private var lastHeard = Instant(nanoseconds: 0)
  private var silenceTimer: Timers.Token?
  private let transmit: (RawSpan) -> Void
  private let randomAddress: BluetoothAddress
  private let commands: CommandQueue
  private var data = ACLQueue()
  private var connections: [ConnectionHandle: LEConnection] = [:]
  private var scan: ScanController?
  private var initiator: Initiator?
  private var desiredScan: ScanParameters?
  /// Why the controller is of no use any more.
  public private(set) var failure: HCIError?
  /// Links whose last answer to a request for other parameters is not with the controller yet.
  private var openParameterReplies: Set<ConnectionHandle> = []
  /// Links that were given up, as the controller has not ended them in time, and their peers.
  private var neverEnded: [ConnectionHandle: UInt64] = [:]

  /// - Parameters:
  ///   - randomAddress: what to scan and connect with if the controller has no public address: a random static
  ///     one, whose two top bits are 1
  ///   - send: takes a packet for the controller; the span is valid only during the call
  public init(timers: Timers, randomAddress: BluetoothAddress, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.randomAddress = randomAddress
    transmit = send
    commands = CommandQueue(timers: timers, send: send)
    commands.onTimeout = { [weak self] error in self?.fail(error) }
  }

  /// Open commands and links hold what waits for them. Nothing is called any more: the owner may be going, too. To
  /// have everything end with a result, call ``close()`` first.
  deinit {
    commands.removeAll()
    for connection in connections.values { connection.forget() }
  }

  // MARK: Setting up

  /// Resets the controller and finds out what it can do.
  public func initialize(completion: @escaping (Result<ControllerInformation, HCIError>) -> Void) {
    if let failure { return completion(.failure(failure)) }
    dropLinks(.hardwareFailure, .cancelled)
    commands.restart(.cancelled)
    neverEnded = [:]
    let setup = ControllerSetup(self, randomAddress: randomAddress) { [weak self] result in
      guard let self else { return }
      if case .success(let information) = result { adopt(information) }
      completion(result)
    }
    setup.start()
  }

  /// Takes packets again after a failure; ``initialize(completion:)`` is called next. ``onFailure`` may be called again.
  /// Not after ``close()``.
  public func revive() {
    if failure != .cancelled { failure = nil }
  }

  private func adopt(_ information: ControllerInformation) {
    controller = information
    data.reset(capacity: information.aclPackets, dataLength: information.aclDataLength)
    let scan = ScanController(
      commands, usesExtendedCommands: information.usesExtendedScan,
      ownAddressType: information.ownAddressType)
    scan.onFailure = { [weak self] error in
      self?.desiredScan = nil
      self?.onScanFailure?(error)
    }
    self.scan = scan
    initiator = Initiator(self, scan: scan, timers: timers, controller: information)
    scan.setDesired(desiredScan)
  }

  /// The way to the controller is gone: everything open is failed with that.
  public func transportClosed(_ reason: String) {
    fail(.transportClosed(reason))
  }

  /// Gives the controller up: everything open ends with `.cancelled`, and ``onFailure`` is not called.
  public func close() {
    end(.cancelled)
    onFailure = nil
    onReport = nil
    onScanFailure = nil
  }

  func fail(_ error: HCIError) {
    if end(error) { onFailure?(error) }
  }

  /// - Returns: whether it had not ended before
  @discardableResult
  private func end(_ error: HCIError) -> Bool {
    guard failure == nil else { return false }
    failure = error
    dropLinks(.hardwareFailure, error)
    commands.fail(error)
    return true
  }

  /// Before the open commands are failed: the scan would take that for a refusal, and drop the wish.
  private func dropLinks(_ reason: HCIErrorCode, _ error: HCIError) {
    let initiator = self.initiator
    // Who hears of the failure may try again at once; what is failing must not take that up.
    self.initiator = nil
    scan = nil
    initiator?.fail(error)
    let lost = connections.values.sorted { $0.handle.rawValue < $1.handle.rawValue }
    connections = [:]
    openParameterReplies = []
    data.reset(capacity: 0, dataLength: data.dataLength)
    for connection in lost {
      connection.failure = error
      finish(connection, reason)
    }
  }

  // MARK: Commands

  /// Sends a command and waits for Command Complete.
  ///
  /// - Parameter completion: called exactly once, with the return parameters or with why there are none
  public func send<Command: HCICompletingCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Command.Response, HCIError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  /// Sends a command and waits for Command Status. What comes of it is an event of its own.
  ///
  /// - Parameter completion: called exactly once
  public func send<Command: HCIStatusCommand>(
    _ command: Command, deadline: Duration = HostController.commandDeadline,
    completion: @escaping (Result<Void, HCIError>) -> Void
  ) {
    commands.send(command, deadline: deadline, completion: completion)
  }

  // MARK: Scanning and connecting

  /// Wishes for a scan, or for none (nil). The wish holds through connecting and through a reset.
  public func setScan(_ parameters: ScanParameters?) {
    desiredScan = parameters
    scan?.setDesired(parameters)
  }

  /// Makes a link.
  ///
  /// - Parameter completion: called exactly once. A link is ready for data, and data may follow at once, so its
  ///   closures are set in here.
  /// - Returns: a closure that gives up
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

  func disconnect(_ connection: LEConnection) {
    // Once: a peer that makes us send without end, on a link that takes nothing, must not fill the queue.
    guard !connection.isEnding else { return }
    connection.isEnding = true
    send(Disconnect(handle: connection.handle)) { [weak self] result in
      // Unknown Connection Identifier: it is gone already, and the event is on its way or was lost.
      if case .failure(.commandFailed(_, .unknownConnectionIdentifier)) = result {
        self?.removed(connection, .connectionTerminatedByLocalHost)
      }
    }
    timers.schedule(after: Self.disconnectDeadline) { [weak self, weak connection] in
      guard let self, let connection, connections[connection.handle] === connection else { return }
      neverEnded[connection.handle] = connection.peer.value
      removed(connection, .connectionTerminatedByLocalHost)
    }
  }

  /// The controller refuses a link to a peer, as it has one.
  ///
  /// - Returns: whether it is one that it should have ended, so that the controller is of no use until it is reset
  func hasNeverEnded(_ peer: BluetoothAddress) -> Bool { neverEnded.values.contains(peer.value) }

  private func removed(_ connection: LEConnection, _ reason: HCIErrorCode) {
    guard connections[connection.handle] === connection else { return }
    connections[connection.handle] = nil
    openParameterReplies.remove(connection.handle)
    data.disconnected(connection.handle)
    finish(connection, reason)
    pump()
    announceRoom()
  }

  private func finish(_ connection: LEConnection, _ reason: HCIErrorCode) {
    guard connection.isConnected else { return }
    connection.isConnected = false
    initiator?.lost(connection, reason)
    let onDisconnected = connection.onDisconnected
    connection.forget()
    onDisconnected?(reason)
  }

  // MARK: Data

  func send(_ frame: RawSpan, on connection: LEConnection) {
    guard data.enqueue(frame, on: connection.handle) else { return connection.disconnect() }
    pump()
  }

  private func pump() {
    while let packet = data.next() { transmit(packet.span.bytes) }
    if silenceTimer == nil, data.hasPacketsInFlight { watchForSilence(since: timers.now) }
  }

  /// A controller that has died says nothing of the links that died with it. So it gets a command, whose deadline finds it
  /// out.
  private func watchForSilence(since start: Instant) {
    silenceTimer = timers.schedule(at: start + Self.silenceLimit) { [weak self] in
      guard let self else { return }
      silenceTimer = nil
      guard failure == nil, data.hasPacketsInFlight else { return }
      if lastHeard > start { return watchForSilence(since: lastHeard) }
      send(ReadBDADDR()) { _ in }
      watchForSilence(since: timers.now)
    }
  }

  func hasRoom(_ connection: LEConnection) -> Bool { data.hasRoom(connection.handle) }

  /// How many ACL packets wait for room in the controller, on all links.
  public var waitingPackets: Int { data.waitingCount }

  /// Those who wait for room may send from within; what they send is pumped by that.
  private func announceRoom() {
    for handle in data.takeDrained() { connections[handle]?.onRoom?() }
  }

  // MARK: Receiving

  /// Takes one whole packet from the controller, with its H4 type byte.
  ///
  /// - Parameter time: when it was received
  public func receive(_ packet: RawSpan, at time: Instant) {
    guard failure == nil, let type = packet.byte(at: 0) else { return }
    lastHeard = time
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
    guard let connection = connections[packet.header.handle] else {
      counters.strayData += 1
      return
    }
    initiator?.established(connection)
    connection.onData?(packet.data, packet.header.boundary != .continuing, time)
  }

  private func receive(_ event: HCIEvent, at time: Instant) {
    switch event {
    case .commandComplete(let event): commands.receive(event)
    case .commandStatus(let event): commands.receive(event)
    case .numberOfCompletedPackets(let event):
      for item in event.items { data.completed(Int(item.count), on: item.handle) }
      pump()
      announceRoom()
    case .leAdvertisingReports(let event):
      counters.malformedPackets += event.isDamaged ? 1 : 0
      for report in event.reports { onReport?(report, time) }
    case .leConnectionComplete(let event): receive(event)
    case .disconnectionComplete(let event):
      guard event.status == .success else { return }
      neverEnded[event.handle] = nil
      guard let connection = connections[event.handle] else { return }
      removed(connection, event.reason)
    case .leConnectionUpdateComplete(let event):
      guard event.status == .success else { return }
      connections[event.handle]?.adopt(event.parameters)
    case .leReadRemoteFeaturesComplete(let event): receive(event)
    case .leRemoteConnectionParameterRequest(let event): receive(event, at: time)
    case .hardwareError(let event): recover(from: event.code)
    default: break
    }
  }

  private func receive(_ event: LEConnectionComplete) {
    if event.status == .success, let old = connections[event.handle] {
      // The handle is given anew, so the old link is gone, even if nobody said so.
      removed(old, .unspecifiedError)
    }
    guard let connection = initiator?.receive(event) else {
      // Nobody asked for this link: a success after its cancellation was given up, or a peer of somebody else's.
      if event.status == .success { send(Disconnect(handle: event.handle)) { _ in } }
      return
    }
    connections[event.handle] = connection
    neverEnded[event.handle] = nil
    data.connected(event.handle)
    initiator?.probe(connection)
  }

  private func receive(_ event: LEReadRemoteFeaturesComplete) {
    guard let connection = connections[event.handle] else { return }
    if event.status == .success { connection.remoteFeatures = event.features }
    // With 0x3E as its status, the disconnection follows.
    guard event.status != .connectionFailedToBeEstablished else { return }
    initiator?.established(connection)
  }

  /// A link has one such procedure at a time, so that there is one answer at a time: more events than that are a flood.
  private func receive(_ event: LERemoteConnectionParameterRequest, at time: Instant) {
    guard openParameterReplies.insert(event.handle).inserted else {
      counters.excessParameterRequests += 1
      return
    }
    let wish = ConnectionParameters(
      intervalMin: event.intervalMin, intervalMax: event.intervalMax, latency: event.latency,
      supervisionTimeout: event.supervisionTimeout)
    let done = { [weak self] (_: Result<LinkReturnParameters, HCIError>) -> Void in
      self?.openParameterReplies.remove(event.handle)
    }
    let connection = connections[event.handle]
    let isAdmitted = connection?.admitsParameterRequest(at: time) ?? true
    if !isAdmitted { counters.excessParameterRequests += 1 }
    if isAdmitted, connection?.parameterPolicy == .accept, wish.isLegal {
      send(
        LERemoteConnectionParameterRequestReply {
          $0.handle = event.handle
          $0.parameters = wish
        }, completion: done)
    } else {
      send(LERemoteConnectionParameterRequestNegativeReply(handle: event.handle), completion: done)
    }
  }

  /// The controller has broken down: links are lost, and it is set up anew. If that fails, it is given up.
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
      // One that breaks down again meanwhile gets its next chance from that event.
      if case .failure = result, self?.counters.hardwareErrors == count { self?.fail(error) }
    }
  }
}
