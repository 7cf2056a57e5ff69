import ATT
import HCI
import HaloBluetoothCore

/// The central role: scans for advertisers and establishes links (Core Specification Vol 3, Part C).
///
/// An `async` function returns at once when its task is cancelled, and has a deadline, unless it says otherwise.
@BluetoothActor
package final class Central {
  /// Which advertisements to report.
  package struct ScanFilter: Sendable {
    /// Devices that advertise one of these; empty for all.
    package var services: [BluetoothUUID]
    /// The weakest signal in dBm. A report without a strength has the last one of its device; devices without any pass.
    package var minimumRSSI: Int8?

    package init(services: [BluetoothUUID] = [], minimumRSSI: Int8? = nil) {
      self.services = services
      self.minimumRSSI = minimumRSSI
    }

    func matches(_ advertisement: Advertisement) -> Bool {
      if let minimumRSSI, let rssi = advertisement.lastRSSI, rssi < minimumRSSI { return false }
      return services.isEmpty || !Set(services).isDisjoint(with: advertisement.serviceUUIDs)
    }
  }

  /// A subscriber of advertisements. The adapter scans while there is one.
  @BluetoothActor
  package final class Scan {
    fileprivate let parameters: ScanParameters
    fileprivate let filter: ScanFilter
    fileprivate let handler: (Advertisement) -> Void
    /// Called when the radio has failed, which ends the scan.
    fileprivate let onEnd: () -> Void
    fileprivate weak var central: Central?

    fileprivate init(
      _ central: Central, parameters: ScanParameters, filter: ScanFilter,
      handler: @escaping (Advertisement) -> Void, onEnd: @escaping () -> Void
    ) {
      self.central = central
      self.onEnd = onEnd
      self.parameters = parameters
      self.filter = filter
      self.handler = handler
    }

    /// Stops listening.
    package func cancel() {
      central?.remove(self)
      central = nil
    }
  }

  package let adapter: any Adapter
  /// Why the radio does not scan as the subscribers ask for; nil if it does. One that does not scan at all is asked again,
  /// with longer and longer pauses, of ten seconds at most.
  package private(set) var scanRefusal: StackError?
  /// Called when the adapter fails: once, and once more after each ``recover(within:)``.
  package var onFailure: ((StackError) -> Void)?
  /// Why the radio has failed; nil while it works.
  package private(set) var failure: StackError?
  /// A description of the radio; nil until it is started.
  package private(set) var information: AdapterInformation?

  /// The number of packets that the kernel dropped because they were not read in time; nil where that can't happen or is
  /// unknown.
  package var droppedPackets: Int? { adapter.droppedPackets }
  /// The number of bytes from the controller that belonged to no packet; see ``Adapter/skippedBytes``.
  package var skippedBytes: Int? { adapter.skippedBytes }

  /// The time of the adapter.
  package var timers: Timers { adapter.timers }

  /// Whether devices were heard that have a scan response, and none was received although it was asked for: some adapters get
  /// none (Home Assistant's operating-system 4022). Names are often there.
  package var lacksScanResponses: Bool {
    isActive && scanResponses == 0 && scannableReports >= Self.fewScannableReports
  }

  /// Whether the last scan has asked for scan responses, and the results of active scans.
  private var isActive = false
  private var scannableReports = 0
  private var scanResponses = 0
  private static let fewScannableReports = 20
  private var collector = AdvertisementCollector()
  private var scans: [Scan] = []
  private var connections: [GATTLink] = []
  private var habits = PeerHabits()
  /// The addresses on the air of bonded devices that change theirs.
  private var privateAddresses = PrivateAddresses()

  /// A central on an adapter that is not started yet.
  package init(_ adapter: any Adapter) {
    self.adapter = adapter
    adapter.onReport = { [weak self] report, time in self?.receive(report, at: time) }
    adapter.security?.nameOf = { [weak self] in self?.collector[PeerIdentity($0)]?.localName }
    adapter.onScanRefusal = { [weak self] error in self?.scanRefusal = error }
    adapter.onFailure = { [weak self] error in
      self?.failure = error
      self?.endScans()
      self?.onFailure?(error)
    }
  }

  /// Initializes the radio. Call it first. Each command has a deadline, `HostController/commandDeadline`.
  @discardableResult
  package func start() async throws(StackError) -> AdapterInformation {
    let information = try await adapter.start()
    failure = adapter.failure
    self.information = information
    return information
  }

  /// Makes the radio usable again after ``onFailure``, as soon as it is present and powered on: see
  /// ``Adapter/recover(within:)``.
  @discardableResult
  package func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    let information = try await adapter.recover(within: time)
    failure = adapter.failure
    self.information = information
    return information
  }

  /// Ends all links and releases the radio; each within a few seconds. Cancelling the task does not cancel this, as peers
  /// that stay connected do not advertise.
  package func stop() async {
    endScans()
    adapter.setScan(nil)
    for connection in connections { connection.end() }
    for connection in connections { await connection.disconnect() }
    await adapter.close()
  }

  // MARK: Scanning

  /// Subscribes to advertisements. All subscribers share one scan, each with its own filter. The scan pauses while a
  /// connection is established, and resumes afterwards.
  ///
  /// - Parameters:
  ///   - parameters: how often and how long to listen
  ///   - filter: which reports the handler gets
  ///   - onEnd: called when the scan ends without being cancelled, because the radio has failed
  ///   - handler: called on the loop for each report, as soon as it is received, with everything known about
  ///     the device. A scan response is a separate report.
  package func scan(
    _ parameters: ScanParameters = .gentle, filter: ScanFilter = ScanFilter(),
    onEnd: @escaping () -> Void = {}, handler: @escaping (Advertisement) -> Void
  ) -> Scan {
    add(Scan(self, parameters: parameters, filter: filter, handler: handler, onEnd: onEnd))
  }

  private func add(_ scan: Scan) -> Scan {
    scans.append(scan)
    updateScan()
    return scan
  }

  private func endScans() {
    let ended = scans
    scans = []
    for scan in ended {
      scan.central = nil
      scan.onEnd()
    }
  }

  fileprivate func remove(_ scan: Scan) {
    scans.removeAll { $0 === scan }
    updateScan()
  }

  /// Sets the parameters that satisfy all subscribers: active if one requests it, and the highest duty cycle.
  private func updateScan() {
    guard let first = scans.first else {
      scanRefusal = nil
      return adapter.setScan(nil)
    }
    let combined = scans.dropFirst().reduce(first.parameters) { combined, scan in
      ScanParameters(
        isActive: combined.isActive || scan.parameters.isActive,
        interval: min(combined.interval, scan.parameters.interval),
        window: max(combined.window, scan.parameters.window),
        filtersDuplicates: combined.filtersDuplicates && scan.parameters.filtersDuplicates,
        includesCoded: combined.includesCoded || scan.parameters.includesCoded)
    }
    isActive = combined.isActive
    adapter.setScan(combined)
  }

  private func receive(_ report: AdvertisingReport, at time: Instant) {
    if isActive {
      let isResponse = report.eventType.contains(.scanResponse)
      scanResponses &+= isResponse ? 1 : 0
      scannableReports &+= !isResponse && report.eventType.contains(.scannable) ? 1 : 0
    }
    var report = report
    if let security = adapter.security {
      let address = report.address.plain
      let devices = security.bonded(.central)
      let identity = devices.identity(of: address)
      if devices.mayHide(identity) { privateAddresses.heard(identity, at: address, time) }
      report.address = identity
    }
    guard let advertisement = collector.receive(report, at: time) else { return }
    // A previous handler may have cancelled the next one.
    for scan in scans where scan.central != nil && scan.filter.matches(advertisement) {
      scan.handler(advertisement)
    }
  }

  /// The last advertisement of a device; nil if it was not heard.
  package func lastHeard(of peer: PeerIdentity) -> Advertisement? { collector[peer] }

  // MARK: Connecting

  /// Connects to a peripheral that advertises, and returns when the link has proved to work.
  /// - Throws: why there is no link, after the request's deadline at the latest
  package func connect(_ request: ConnectionRequest) async throws(StackError) -> GATTLink {
    try await awaitCallback { connect(request, completion: $0) }
  }

  /// The same for callers that do not wait.
  ///
  /// - Parameters:
  ///   - request: the peer, the link's parameters and the deadline
  ///   - completion: called exactly once, on the loop, before anything that the peer sends is handled; a link that has to be
  ///     encrypted is encrypted then, for which it has 5 s at least
  /// - Returns: a closure that cancels the attempt
  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<GATTLink, StackError>) -> Void
  ) -> () -> Void {
    let timers = adapter.timers
    let begin = timers.current
    var request = request
    request.peer = identity(of: request.peer)
    let peer = request.identity
    request.leftOut.formUnion(leftOut(of: peer))
    let attempt = SecuredAttempt(by: begin + request.deadline, request.firstEncryption, completion)
    let identity = request.peer
    let cancel = reach(request) { [weak self, request] result in
      if case .failure(let error) = result, let procedure = error.procedure {
        self?.habits.note(LinkCost(procedure, isAnswer: false), of: peer)
      }
      attempt.take(
        result.mapError { self?.cause(of: $0, request, since: begin) ?? $0 }.map { link in
          // Create it here and not after the hop to a waiting task: PDUs may follow immediately.
          let isAsked = request.mtu != nil || !request.leftOut.contains(.exchangeMTU)
          let mtu = isAsked ? request.mtu ?? ATTBearer.largestMTU : nil
          let connection = GATTLink(link, timers: timers, peer: identity, mtu: mtu)
          connection.gatt.watchesServiceChanges = !request.leftOut.contains(.serviceChanged)
          self?.track(connection)
          return connection
        })
    }
    return {
      cancel()
      attempt.cancel()
    }
  }

  /// Connects to a device, at the address that it has now: one that changes it is listened for, unless it was just heard.
  private func reach(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    guard adapter.security?.bonded(.central).mayHide(request.peer) == true, !adapter.resolves(request.peer)
    else {
      return adapter.connect(request, completion: completion)
    }
    let attempt = PrivatePeerAttempt(self, request, completion: completion)
    attempt.begin()
    return { attempt.cancel() }
  }

  /// The address that stays of a device. One that was paired with may be asked for at the address that it had then.
  package func identity(of peer: BluetoothAddress) -> BluetoothAddress {
    adapter.security?.bonded(.central).identity(of: peer) ?? peer
  }

  /// The address on the air of a device that changes it; nil if it was not heard just now.
  func currentAddress(of peer: BluetoothAddress) -> BluetoothAddress? {
    privateAddresses.recent(of: peer, at: timers.now)
  }

  /// The device may have another address from now on.
  func forgetAddress(of peer: BluetoothAddress) { privateAddresses.forget(peer) }

  /// How recent an advertisement must be to show that a peer advertises.
  private static let recentTime = Duration.seconds(10)

  /// Why there is no link: a peer that could not be connected to may have advertised shortly before.
  private func cause(of error: StackError, _ request: ConnectionRequest, since begin: Instant) -> StackError {
    guard error.code == .peerNotFound, let device = collector[request.identity],
      device.lastSeen + Self.recentTime >= begin
    else { return error }
    let isRefusing = device.advertisingData != nil && !device.isConnectable
    return isRefusing
      ? .peerNotConnectable(request.peer)
      : .peerDidNotAnswer(request.peer, seconds: request.deadline.inSeconds)
  }

  /// Why a device was not heard, if another program of this machine has a link to it: it does not advertise then.
  package func useByOthers(of peer: BluetoothAddress) -> StackError? {
    guard adapter.hasLink(to: peer), !connections.contains(where: { $0.peer.value == peer.value }) else {
      return nil
    }
    var error = StackError("connect to \(peer)", .deviceInUse)
    // It can be heard when that link has ended.
    error.fault = .absence
    return error
  }

  private func track(_ connection: GATTLink) {
    let peer = connection.identity
    connection.gatt.onSilence = { [weak self] in
      self?.habits.note(LinkCost(.serviceChanged, isAnswer: true), of: peer)
    }
    connections.append(connection)
    connection.whenDisconnected { [weak self, weak connection] _ in
      self?.connections.removeAll { $0 === connection }
      guard let self, let connection else { return }
      if let cost = connection.cost { return habits.note(cost, of: peer) }
      if connection.gatt.hasReceivedValues { habits.notePassed(peer) }
    }
  }

  /// The procedures to omit on the next link to a peer, as they have cost links before.
  package func leftOut(of peer: PeerIdentity) -> Set<LinkProcedure> { habits.leftOut(of: peer) }
}
