import GAP
import HCI
import HaloBluetoothCore
import HaloSystem

/// A radio that the kernel drives: the raw channel scans and watches, the kernel makes the links and carries ATT over its L2CAP
/// sockets, and its management sets the parameters of links.
@BluetoothActor
package final class KernelAdapter: Adapter {
  package var onReport: ((AdvertisingReport, Instant) -> Void)?
  package var onScanRefusal: ((StackError?) -> Void)?
  package var onAccepted: ((any ATTLink) -> Void)?
  package var onFailure: ((StackError) -> Void)?
  package var onNote: ((String) -> Void)? {
    get { recovery.onNote }
    set { recovery.onNote = newValue }
  }

  /// The timeout for ending a scan.
  private static let closeDeadline = Duration.milliseconds(500)

  /// The adapter's index; ``recover(within:)`` can change it.
  package var index: AdapterIndex { watch.index }
  private let watch: KernelAdapterWatch
  package let timers: Timers
  private let recovery: AdapterRecovery
  private let release: KernelRelease?
  private var socket: HCISocket<RawChannel>?
  var controller: RawController?
  /// It stays open: its privileges were determined when it was opened, and it sees other adapters, too.
  private var management: Management?
  /// For links, opened before privileges are dropped.
  lazy var sockets = L2CAPSocketPool()
  private(set) var address = BluetoothAddress(0, .public)
  private var peripheral: KernelPeripheralRole?
  /// The settings of the adapter, as the kernel reported them last.
  private var settings: ManagementSettings = []
  private var hasAdvertisingSets = true
  /// The discovery for which the kernel has taken our active scan; nil if there is none.
  private var discovery: DiscoveryType?
  /// Ends it if this process cannot.
  private var lastCommand: LastCommand?
  /// Whether the kernel was asked to end it, and has not answered.
  private var isEndingDiscovery = false
  private var onDiscoveryEnd: (() -> Void)?
  private var connector: KernelConnector?
  private var desiredScan: ScanParameters?
  package private(set) var failure: StackError?
  let links: KernelLinks
  /// How links are secured; nil for not at all. Set it before ``open()``.
  package var security: SecurityHost?
  /// Set by ``open()``.
  var pairing: KernelPairing?
  /// The connected peers when the adapter failed.
  private var ourPeers: Set<UInt64> = []

  package var droppedPackets: Int? { links.droppedPackets + (socket?.packets.droppedPackets ?? 0) }

  package convenience init(_ index: AdapterIndex, timers: Timers = EpollLoop.shared.timers) {
    self.init(index, timers: timers) {
      ((try? HCIDevices.list()) ?? []).map { device in
        KernelAdapterWatch.Device(
          index: device.index, address: device.address, isUp: device.isUp,
          isTaken: device.isUp && HCIDevices.isTaken(device.index))
      }
    }
  }

  /// - Parameters:
  ///   - release: of the kernel; nil if it is unknown
  ///   - devices: the adapters of the machine
  init(
    _ index: AdapterIndex, timers: Timers, release: KernelRelease? = .current,
    devices: @escaping () -> [KernelAdapterWatch.Device]
  ) {
    self.timers = timers
    self.release = release
    recovery = AdapterRecovery(timers: timers)
    let watch = KernelAdapterWatch(index, timers: timers, devices: devices)
    self.watch = watch
    let pairing = PairingWatch(timers)
    links = KernelLinks(watch, pairing)
    pairing.onChange = { [weak self] in self?.showData($0) }
    links.linkWatch = KernelLinkWatch(timers) { [weak self] handle, done in
      self?.controller?.readRSSI(handle, completion: done)
    } onGone: {
      $0.vanish()
    }
    watch.onLost = { [weak self] reason in self?.lost(reason) }
  }

  // MARK: Start and end

  /// Opens the sockets. ``start()`` does so, too, if this was not called before; call it separately to drop privileges in
  /// between. It makes only requests of the kernel that do not wait for the controller.
  package func open() async throws(StackError) {
    try await check()
    controller = try openSockets()
    _ = sockets
  }

  package func start() async throws(StackError) -> AdapterInformation {
    if controller == nil { try await open() }
    return try await initialize()
  }

  private func initialize() async throws(StackError) -> AdapterInformation {
    guard let controller else { throw .notReady }
    let information = try await awaitCallback {
      (done: @escaping (Result<RawController.Information, StackError>) -> Void) in
      controller.initialize(completion: done)
      return { controller.fail(.cancelled) }
    }
    connector = KernelConnector(
      self, address: address, controller: controller, release: release)
    isListening = false
    updateScan()
    hasAdvertisingSets = information.hasAdvertisingSets
    peripheral?.resume(index)
    adopt(settings)
    return AdapterInformation(
      address: address, version: "\(information.version.hciVersion)",
      usesExtendedScan: information.usesExtendedScan)
  }

  /// Checks that the adapter can be used, before anything is sent to it.
  private func check() async throws(StackError) {
    let operation = "use \(index)"
    guard let state = try await Controllers.state(of: index) else {
      throw StackError(operation, .noSuchAdapter)
    }
    // Asked first, as the kernel only refuses each command.
    guard Capability.netRaw.isEffective else { throw StackError(operation, .missing(.netRaw)) }
    if let obstacle = state.obstacle { throw StackError(operation, obstacle) }
    guard state.isUp else { throw StackError(operation, .adapterDown(index)) }
    adopt(
      KernelAdapterWatch.Device(index: index, address: state.address, isUp: true, isTaken: false))
  }

  private func adopt(_ device: KernelAdapterWatch.Device) {
    watch.adopt(device)
    address = device.address
  }

  /// A controller whose reports and links are this adapter's.
  ///
  /// - Parameter send: sends a packet to it; the span is valid only during the call
  func makeController(send: @escaping (RawSpan) -> Void) -> RawController {
    let controller = RawController(
      timers: timers, ownAddressType: address.value == 0 ? .random : .public, send: send)
    controller.onReport = { [weak self] report, time in
      guard let self else { return }
      if desiredScan != nil { onReport?(report, time) }
      connector?.heard(report)
    }
    controller.onScanRefusal = { [weak self] error in
      guard let self else { return }
      // The controller does not scan for this process: the kernel has to find the peer.
      if error != nil { connector?.runner.handle(.cannotListen) }
      if error == nil || desiredScan != nil { onScanRefusal?(error) }
    }
    controller.onScanSilence = { [weak self] count in self?.scanIsSilent(count) }
    controller.onActiveScanEnd = { [weak self] in self?.endDiscovery() }
    controller.onFailure = { [weak self] error in self?.fail(error) }
    controller.onLink = { [weak self] change in self?.note(change) }
    return controller
  }

  private func openSockets() throws(StackError) -> RawController {
    let socket = try HCISocket<RawChannel>(index, filter: .rawController)
    self.socket = socket
    let controller = makeController { packet in socket.packets.send(packet) }
    socket.packets.onPacket = { [weak self] packet, arrival in
      guard packet.byte(at: 0) == HCIPacketType.acl.rawValue else {
        return controller.receive(packet, at: arrival.time)
      }
      self?.links.pairing.receive(packet)
    }
    socket.packets.onClosed = { [weak self] error in self?.closed(error) }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("use \(index)", .system(error))
    }
    // Without management, links are made with the kernel's defaults.
    if management == nil { management = try? Management() }
    // The process for it is started while there are the privileges to take away its own.
    if lastCommand == nil, let management, management.isPrivileged, let release,
      release >= .takesScanForDiscovery
    {
      lastCommand = LastCommand(management)
    }
    if pairing == nil, let security, let management { pairing = makePairing(security, management) }
    // The kernel reports changes of an adapter from the first command on, of any program.
    management?.send(.readControllerInformation, to: index) { [weak self] result in
      guard let self, case .success(let information) = result else { return }
      adopt(information.currentSettings)
      pairing?.begin(index, own: address, information.currentSettings)
    }
    management?.onEvent = { [weak self] event, index in
      guard let self else { return }
      switch event {
      case .indexRemoved where index == self.index: watch.removed()
      case .newSettings(let settings) where index == self.index && !settings.contains(.powered):
        _ = watch.isUsable()
      default: break
      }
      if index == self.index {
        if case .newSettings(let settings) = event { adopt(settings) }
        if case .discovering(let type, let isOn) = event { discoveryChanged(isOn ? type : nil) }
        if case .security(let event) = event { pairing?.receive(event) }
        peripheral?.note(event)
      }
      watch.kernelReported()
    }
    return controller
  }

  private func makePairing(_ security: SecurityHost, _ management: Management) -> KernelPairing {
    let pairing = KernelPairing(
      security, links, management.queue, index, timers: timers, isPrivileged: management.isPrivileged
    ) { RunningPrograms.contains("bluetoothd") }
    pairing.onNote = { [weak self] in self?.onNote?($0) }
    // As for the other one, its process is started while there are privileges.
    if security.mayPair, management.isPrivileged {
      let lastCommand = LastCommand(management)
      pairing.onLastCommand = { lastCommand?.set($0) }
    }
    return pairing
  }

  /// The kernel takes filters for more than events from processes with CAP_NET_RAW only.
  private func showData(_ isShown: Bool) {
    guard Capability.netRaw.isEffective else { return }
    try? socket?.setFilter(isShown ? .rawControllerAndData : .rawController)
  }

  private func adopt(_ settings: ManagementSettings) {
    self.settings = settings
    peripheral?.adopt(settings, hasSets: hasAdvertisingSets)
  }

  package func resolves(_ identity: BluetoothAddress) -> Bool { pairing?.resolves(identity) == true }

  package func close() async {
    // A scan that is on its way, too, is ended while it can be.
    controller?.setScan(nil)
    if failure == nil, let controller { await finish { controller.pauseScan(then: $0) } }
    if failure == nil, isEndingDiscovery { await finish { self.onDiscoveryEnd = $0 } }
    if let peripheral { await finish { peripheral.stop(completion: $0) } }
    controller?.fail(.cancelled)
    pairing?.end()
    socket?.packets.close()
    management?.close()
    await security?.bonds?.finish()
  }

  /// Waits until an activity has ended, for a limited time.
  private func finish(_ end: (@escaping () -> Void) -> Void) async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      let ended = OneShot(done)
      ended.expire(after: Self.closeDeadline, in: timers, with: .success(()))
      end { ended(.success(())) }
      return { ended(.success(())) }
    }
  }

  private func closed(_ error: SystemError?) {
    lost(error.map { StackError(opening: $0, adapter: index) } ?? .adapterRemoved)
  }

  private func lost(_ reason: StackError) {
    let isBlocked = reason.code == .adapterDown && HCIDevices.isRadioBlocked(index)
    let reason = isBlocked ? .radioBlocked : reason
    fail(StackError("go on with \(index)", reason))
  }

  private func fail(_ error: StackError) {
    guard failure == nil else { return }
    failure = error
    discovery = nil
    lastCommand?.set(nil)
    connector?.runner.fail(error)
    peripheral?.suspend()
    ourPeers = links.removeAll(error)
    links.pairing.reset()
    controller?.fail(error)
    socket?.packets.close()
    onFailure?(error)
  }

  // MARK: Recovery

  /// Waits until the adapter is there and on again - with its number, or with its address under another - and makes it
  /// ready. One that was pulled out and is back is switched on, if the management socket was opened with
  /// CAP_NET_ADMIN; one that was switched off is waited for. One whose controller does not answer is switched off and on
  /// first, once a minute at most, unless that would end links of other programs.
  ///
  /// - Throws: the failure that ended it, after `time`; `StackError.cancelled` if the task is cancelled
  package func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    guard let failure else { return try await initialize() }
    return try await recovery.recover(self, from: failure, within: time)
  }

  /// - Returns: nil if the adapter is gone again
  private func open(isNew: Bool) async throws(StackError) -> AdapterInformation? {
    let failure = self.failure
    do throws(StackError) {
      controller = try openSockets()
    } catch {
      if error.code == .missingPrivilege { throw error }
      return nil
    }
    self.failure = nil
    do throws(StackError) {
      // The kernel powers a new adapter off again after two seconds, unless a program uses it.
      if isNew { management?.send(.setPowered(true), to: index) { _ in } }
      return try await initialize()
    } catch {
      controller?.fail(error)
      socket?.packets.close()
      self.failure = self.failure ?? failure ?? error
      if error == .cancelled { throw error }
      return nil
    }
  }

  // MARK: Scanning and connecting

  package func setScan(_ parameters: ScanParameters?) {
    desiredScan = parameters
    updateScan()
  }

  /// Whether a connector scans for its peer. A report of each of its advertisements is needed then.
  var isListening = false {
    didSet { if isListening != oldValue { updateScan() } }
  }

  private func updateScan() {
    guard isListening else { controller?.setScan(desiredScan); return }
    var parameters = ScanParameters.aggressive
    parameters.isActive = desiredScan?.isActive ?? false
    controller?.setScan(parameters)
  }

  /// A discovery that begins while an active scan of ours is on is the one for which the kernel has taken it: other programs can
  /// begin none then, or have switched that scan off for it.
  private func discoveryChanged(_ type: DiscoveryType?) {
    discovery = controller?.isScanningActively == true ? type : nil
    lastCommand?.set(discovery.map { ManagementPacket(.stopDiscovery($0), to: index) })
  }

  /// Ends the discovery for which the kernel has taken our scan, which would not end with it: until then, no program could
  /// discover, or be connected.
  private func endDiscovery() {
    guard let discovery, let management, management.isPrivileged else { return }
    isEndingDiscovery = true
    // If the kernel believed that the scan is on, it would switch it off first, and fail.
    controller?.whenEventsAreHandled { [weak self] in
      guard let self else { return }
      guard controller?.isScanningActively == false else { return discoveryEnded() }
      management.send(.stopDiscovery(discovery), to: index) { [weak self] _ in self?.discoveryEnded() }
    }
  }

  private func discoveryEnded() {
    isEndingDiscovery = false
    onDiscoveryEnd.take()?()
  }

  /// The controller reports nothing. If starting the scan again has not helped, and a connection waits for a report, the
  /// adapter is recovered; otherwise there may be nothing to report.
  private func scanIsSilent(_ count: Int) {
    let time = RawController.longestScanSilence * count
    if count > 1, isListening { return fail(.scanSilent(seconds: time.inSeconds)) }
    onNote?("no advertisement was received for \(Int(time.inSeconds)) s; the scan is started again")
  }

  /// Whether the kernel has a link to a peer already, which does not advertise then. One that is about to end is none.
  package func hasLink(to peer: BluetoothAddress) -> Bool { hasLink(to: peer, isEnding: false) }

  /// Whether the kernel has a link to a peer that this process is ending.
  func isEndingLink(to peer: BluetoothAddress) -> Bool { hasLink(to: peer, isEnding: true) }

  private func hasLink(to peer: BluetoothAddress, isEnding: Bool) -> Bool {
    let links = (try? HCIDevices.links(of: index)) ?? []
    return links.contains {
      $0.peer.value == peer.value && self.links.isEnding($0.handle, at: timers.current) == isEnding
    }
  }

  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    guard failure == nil, let connector else {
      completion(.failure(failure ?? .notReady))
      return {}
    }
    return connector.connect(request, completion: completion)
  }

  // MARK: Advertising

  /// The kernel advertises, beside the advertisements of other programs. Requires CAP_NET_ADMIN when this adapter is opened.
  package func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    if peripheral == nil {
      guard advertising != nil else { return }
      guard let management else { throw StackError("advertise", .noBluetooth) }
      guard management.isPrivileged else { throw StackError("advertise", .missing(.netAdmin)) }
      peripheral = makePeripheralRole(management)
    }
    try peripheral?.setAdvertising(advertising, in: set, at: address)
  }

  private func makePeripheralRole(_ management: Management) -> KernelPeripheralRole {
    let role = KernelPeripheralRole(management, index, timers: timers)
    role.onNote = { [weak self] in self?.onNote?($0) }
    role.adopt(settings, hasSets: hasAdvertisingSets)
    role.onAccepted = { [weak self] socket, central in self?.accepted(socket, from: central) }
    return role
  }

  private func accepted(_ socket: L2CAPSocket, from central: BluetoothAddress) {
    catchUp()
    // Catching up may have shown that the adapter is gone.
    guard failure == nil else { return socket.packets.close() }
    let link = links.accept(socket, of: self, from: central)
    guard let onAccepted else { return link.disconnect() }
    onAccepted(link)
  }

  /// Sets the kernel's parameters for the next link to a peer, and calls back when they are in effect.
  func load(_ request: ConnectionRequest, then next: @escaping () -> Void) {
    guard let management else {
      onNote?("connection parameters are the kernel's: it has no Bluetooth management")
      return next()
    }
    let command = ManagementCommand.loadConnectionParameters(request.parameters, for: request.peer)
    management.send(command, to: index) { [weak self] result in
      if case .failure(let error) = result {
        self?.onNote?("connection parameters are the kernel's: \(error)")
      }
      next()
    }
  }

  // MARK: Links

  private func note(_ change: RawController.LinkChange) {
    switch change {
    case .connected(let handle, _, .peripheral, let parameters):
      links.created(handle, parameters)
      peripheral?.connected(handle)
    case .connected(let handle, _, _, let parameters):
      links.created(handle, parameters)
      connector?.runner.handle(.created(handle, nil))
    case .parameters(let handle, let parameters): links.changed(handle, parameters)
    case .parametersRefused(let handle, let status): links[handle]?.parametersRefused(status)
    case .ending(let handle, let reason):
      if reason == .remotePowerOff { links.expectPowerOff() }
      links.ending(handle, reason)
    case .encryption(let handle, let status, let isOn):
      if status != .success { links.encryptionFailed(handle, status) }
      links[handle]?.protection.encryptionChanged(status, isOn: isOn)
    case .disconnected(let handle, let reason):
      connector?.runner.handle(.lost(handle, reason))
      peripheral?.disconnected(handle)
      links.disconnected(handle, reason)
    case .failed(let peer, let status): connector?.failed(peer, status)
    case .connecting: connector?.runner.handle(.connecting)
    // One that was cancelled here, or the current one, as it took too long or the adapter is being powered off.
    case .connectionCancelled: connector?.runner.handle(.stopped)
    }
  }

  /// Takes over a connected socket.
  ///
  /// - Parameter isOurs: whether the link was made for it, and is not one that another program has made
  func adopt(_ socket: L2CAPSocket, for request: ConnectionRequest, isOurs: Bool) -> KernelLink {
    links.add(socket, of: self, for: request, isOurs: isOurs)
  }

  /// Reads pending events from the raw channel: the kernel queues an event there before it processes it.
  func catchUp() {
    socket?.packets.receivePending()
  }

  /// Calls `action` when the kernel has handled what the controller has reported until now.
  func whenEventsAreHandled(_ action: @escaping () -> Void) { controller?.whenEventsAreHandled(action) }

  func disconnect(_ handle: ConnectionHandle) {
    controller?.disconnect(handle)
  }

  /// Has the controller change a link's parameters. The kernel checks the permission for each command (CAP_NET_RAW).
  func update(
    _ handle: ConnectionHandle, to parameters: ConnectionParameters,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    controller?.update(handle, to: parameters, completion: completion)
  }

  func readRSSI(_ handle: ConnectionHandle) async throws(StackError) -> Int8? {
    guard let controller else { throw .notReady }
    return try await awaitCallback(cancelled: StackError.cancelled) { done in
      controller.readRSSI(handle, completion: done)
    }
  }

  /// Checks whether the adapter can be used, and fails shortly if it cannot.
  func isUsable() -> Bool {
    failure == nil && watch.isUsable()
  }
}

/// The adapter is shared: links of other programs must not be ended.
extension KernelAdapter: RecoverableRadio {
  package var name: String { index.description }

  package func perform(_ step: RecoverySteps.Step) async throws(StackError) -> RecoverySteps.Outcome {
    switch step {
    // The failure has done that.
    case .cancel, .disconnect: return .done()
    case .reset: return .leftOut("the kernel has the adapter")
    case .powerCycle:
      let others = (try? HCIDevices.links(of: index))?.filter { !ourPeers.contains($0.peer.value) } ?? []
      guard others.isEmpty else {
        return .leftOut("it would end \(others.count) links of other programs")
      }
      do throws(StackError) {
        guard let management else { throw StackError("switch \(index)", .noBluetooth) }
        _ = try await management.send(.setPowered(false), to: index)
        _ = try await management.send(.setPowered(true), to: index)
        return .done()
      } catch {
        if error.code == .cancelled { throw error }
        return .failed("\(error.reason)")
      }
    }
  }

  package func reopen(within time: Duration) async throws(StackError) -> AdapterInformation? {
    if let device = watch.find() {
      let isNew = watch.wasRemoved
      adopt(device)
      return try await open(isNew: isNew)
    }
    if let index = watch.findSwitchedOff() { management?.send(.setPowered(true), to: index) { _ in } }
    return nil
  }

  package func change() async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      watch.whenChanged { done(.success(())) }
      return { [watch] in watch.kernelReported() }
    }
  }
}
