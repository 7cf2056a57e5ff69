internal import ATT
import Foundation
internal import HaloStorage
internal import HaloSystem
package import HaloDevices
internal import HaloBluetoothCore
internal import HaloRaw

/// Scans for peripherals and connects to them. Its delegate is called on its queue, one call after the other; properties
/// change on that queue before the call.
open class CBCentralManager: CBManager {
  /// Hardware features of Apple's devices.
  public struct Feature: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Extended scanning and connecting on coded PHYs.
    public static let extendedScanAndConnect = Feature(rawValue: 1)
  }

  private struct Shared {
    weak var delegate: (any CBCentralManagerDelegate)?
    var isScanning = false
    var scanNumber = 0
    var hasReportedState = false
    var reportsConnections: ConnectionEventFilter?
  }

  private let shared = LockedValue(Shared())
  private let callbacks: CallbackQueue
  private let core: CentralCore
  private let table: PeripheralTable
  /// Nil without a restore identifier.
  private let restoration: Restoration<CentralRestoration>?

  public convenience init() {
    self.init(delegate: nil, queue: nil, options: nil)
  }

  /// - Parameters:
  ///   - delegate: is held weakly
  ///   - queue: where the delegate is called; nil for the main queue
  ///   - options: also the adapter: ``CBCentralManagerOptionAdapterKey``
  public init(
    delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    let choice = AdapterChoice(options: options)
    let events = ManagerEvents<CBCentralManager>(CallbackQueue(queue))
    (callbacks, core) = (events.callbacks, CentralCore(events))
    let folder = PeripheralStore.folder(for: choice)
    table = PeripheralTable(core, PeripheralStore(folder: folder), callbacks)
    restoration = Restoration(folder: folder, options: options)
    super.init(.unknown)
    begin(delegate, events, acquire: SharedRadios.use(choice, options))
  }

  /// A manager on a radio, which it does not close.
  package convenience init(
    delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, radio: ManagedAdapter,
    folder: String? = nil,
    options: [String: Any]? = nil
  ) {
    self.init(delegate, queue, folder, options) { (radio, {}) }
  }

  private init(
    _ delegate: (any CBCentralManagerDelegate)?, _ queue: DispatchQueue?, _ folder: String?,
    _ options: [String: Any]?, acquire: @escaping @Sendable @BluetoothActor () -> (ManagedAdapter, () -> Void)
  ) {
    let events = ManagerEvents<CBCentralManager>(CallbackQueue(queue))
    (callbacks, core) = (events.callbacks, CentralCore(events))
    table = PeripheralTable(core, PeripheralStore(folder: folder), callbacks)
    restoration = Restoration(folder: folder, options: options)
    super.init(.unknown)
    begin(delegate, events, acquire: acquire)
  }

  private func begin(
    _ delegate: (any CBCentralManagerDelegate)?, _ events: ManagerEvents<CBCentralManager>,
    acquire: @escaping @Sendable @BluetoothActor () -> (ManagedAdapter, () -> Void)
  ) {
    // The connections that an earlier run of the program wanted.
    for entry in restoration?.record.peripherals ?? [] {
      let peripheral = table.peripheral(at: entry.peer, named: entry.name)
      change(peripheral) { connection in
        connection.restore(ManagedConnection.Options(reconnects: entry.reconnects))
        return nil
      }
    }
    shared.withLock { $0.delegate = delegate }
    events.manager = self
    BluetoothActor.run { [core] in
      let (radio, release) = acquire()
      core.start(radio, release: release)
    }
  }

  deinit {
    table.release()
    BluetoothActor.run { [core] in core.shutDown() }
  }

  /// May be set after the manager was made: it gets the state then.
  open weak var delegate: (any CBCentralManagerDelegate)? {
    get { shared.withLock { $0.delegate } }
    set {
      observers.changing { shared.withLock { $0.delegate = newValue } }
      callbacks.asyncUnchecked { [weak self] in self?.reportFirstState() }
    }
  }

  open var isScanning: Bool { shared.withLock { $0.isScanning } }

  /// No feature that can be asked for depends on the machine.
  open class func supports(_ features: Feature) -> Bool { features.isEmpty }

  // MARK: Scanning

  /// Reports peripherals that advertise one of the services; nil for all. Another scan of this manager ends.
  open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]? = nil, options: [String: Any]? = nil) {
    guard isPoweredOn("scanForPeripherals") else { return }
    start(ScanRequest(services: serviceUUIDs, options: options))
    restoration?.change { $0.scan = .init(services: serviceUUIDs, options: options) }
  }

  private func start(_ request: ScanRequest) {
    let number = observers.changing {
      shared.withLock { shared in
        shared.isScanning = true
        shared.scanNumber += 1
        return shared.scanNumber
      }
    }
    BluetoothActor.run { [core] in core.startScan(request, number: number) }
  }

  open func stopScan() {
    observers.changing {
      shared.withLock { shared in
        shared.isScanning = false
        shared.scanNumber += 1
      }
    }
    restoration?.giveUpScan()
    BluetoothActor.run { [core] in core.stopScan() }
  }

  // MARK: Connecting

  /// Connects when the peripheral advertises, however long that takes. The manager holds the peripheral until it is
  /// disconnected. A link that is about to end is waited for; a peripheral that is connected is reported again.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard isPoweredOn("connect") else { return }
    let seconds = (options?[CBConnectPeripheralOptionStartDelayKey] as? NSNumber)?.doubleValue ?? 0
    let connection = ManagedConnection.Options(
      delay: .seconds(seconds.isFinite ? min(max(seconds, 0), 86400) : 0),
      reconnects: flag(CBConnectPeripheralOptionEnableAutoReconnect, in: options))
    restoration?.change {
      $0.add(.init(peer: peripheral.peer, name: peripheral.name, reconnects: connection.reconnects))
    }
    call(peripheral) { $0.connect(connection) }
  }

  /// Ends a connection, or gives it up before it is established.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    call(peripheral) { $0.cancel() }
    restoration?.change { $0.remove(peripheral.peer) }
  }

  private func call(
    _ peripheral: CBPeripheral,
    _ body: (inout ManagedConnection) -> (ManagedConnection.Command?, ManagedConnection.Report?)
  ) {
    guard let report = table.change(peripheral, { body(&$0.connection) }) else { return }
    callbacks.asyncUnchecked { [weak self] in
      // The end of a link that was on its way comes first, and is the answer to a connect.
      if case .connected = report, peripheral.state != .connected { return }
      self?.deliver(report, of: peripheral)
    }
  }

  // MARK: Known peripherals

  /// The peripherals with these identifiers, which need not be near. They can be connected to without a scan.
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    identifiers.compactMap { $0.peer.map { table.peripheral(at: $0) } }
  }

  /// The peripherals that the radio is connected to, for this manager or for others of this process, and that have one of the
  /// services: discovered by any of them, or advertised. 1800 and 1801 are services of each. One that another manager has
  /// connected is used after ``connect(_:options:)``.
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    let peers = core.connected?.devices(with: serviceUUIDs.map(\.value)) ?? []
    return peers.map { table.peripheral(at: $0) }
  }

  /// Reports the connections of this manager to the delegate, too. Without options, all of them.
  open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
    let filter = ConnectionEventFilter(options)
    shared.withLock { $0.reportsConnections = filter }
  }

  private func isPoweredOn(_ operation: String) -> Bool {
    guard state != .poweredOn else { return true }
    reportMisuse("\(operation) has no effect in the state \(state); wait for poweredOn")
    return false
  }

  func update(_ state: CBManagerState, _ failure: String?) {
    set(state)
    if state != .poweredOn {
      observers.changing { shared.withLock { $0.isScanning = false } }
      for peripheral in table.held { change(peripheral) { $0.powerOff() } }
    }
    if let failure, shared.withLock({ $0.delegate }) != nil { reportMisuse("\(state): \(failure)") }
    guard shared.withLock({ $0.hasReportedState }) else { return reportFirstState() }
    if state == .poweredOn { resumeRestored() }
    delegate?.centralManagerDidUpdateState(self)
    guard state == .poweredOn else { return }
    // The program has taken up the connections that it wants, and the rest is forgotten.
    restoration?.change { record in
      record.peripherals.removeAll { !table.holds($0.peer) }
      if !isScanning { record.scan = nil }
    }
  }

  /// A delegate that is set later gets the state, too.
  private func reportFirstState() {
    guard state != .unknown, let delegate else { return }
    let isFirst = shared.withLock { shared in
      defer { shared.hasReportedState = true }
      return !shared.hasReportedState
    }
    guard isFirst else { return }
    if let restored = restoration?.takeUnreported() {
      delegate.centralManager(
        self,
        willRestoreState: restored.dictionary(restored.peripherals.map { table.peripheral(at: $0.peer) }))
    }
    if state == .poweredOn { resumeRestored() }
    delegate.centralManagerDidUpdateState(self)
  }

  /// Issues the restored connections and the scan again, when the adapter can be used for the first time.
  private func resumeRestored() {
    for peripheral in table.held { change(peripheral) { $0.powerOn() } }
    if let scan = restoration?.takeWaiting()?.scan { start(ScanRequest(scan)) }
  }

  /// Changes a connection without a call of the delegate.
  private func change(
    _ peripheral: CBPeripheral, _ body: (inout ManagedConnection) -> ManagedConnection.Command?
  ) {
    _ = table.change(peripheral) { (body(&$0.connection), nil) }
  }

  func discovered(_ advertisement: Advertisement, in scanNumber: Int) {
    guard shared.withLock({ $0.isScanning && $0.scanNumber == scanNumber }) else { return }
    let peripheral = table.peripheral(at: advertisement.identity)
    if let name = advertisement.localName { peripheral.setName(name) }
    delegate?.centralManager(
      self, didDiscover: peripheral, advertisementData: advertisement.dictionary,
      rssi: NSNumber(value: Int(advertisement.rssi ?? 127)))
  }

  func scanEnded(_ number: Int) {
    observers.changing { shared.withLock { if $0.scanNumber == number { $0.isScanning = false } } }
  }

  func established(_ peer: PeerIdentity, _ link: PeripheralLink) {
    let peripheral = table.peripheral(at: peer)
    guard let report = table.change(peripheral, { (nil, $0.established(link)) }) else { return }
    table.remember(peripheral)
    deliver(report, of: peripheral)
    reportConnection(.peerConnected, peripheral)
  }

  func ended(_ peer: PeerIdentity, _ link: PeripheralLink, _ ending: ManagedConnection.Ending) {
    let peripheral = table.peripheral(at: peer)
    let report = table.change(peripheral) { $0.ended(link, ending) }
    // A connection that the adapter has ended is restored after a restart of the program.
    if !ending.isOfAdapter, !table.holds(peer) { restoration?.change { $0.remove(peer) } }
    guard let report else { return }
    deliver(report, of: peripheral)
    if case .disconnected = report { reportConnection(.peerDisconnected, peripheral) }
  }

  private func deliver(_ report: ManagedConnection.Report, of peripheral: CBPeripheral) {
    switch report {
    case .connected: delegate?.centralManager(self, didConnect: peripheral)
    case .failed(let error): delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
    case .disconnected(let isReconnecting, let error):
      delegate?.centralManager(
        self, didDisconnectPeripheral: peripheral, timestamp: Date().timeIntervalSinceReferenceDate,
        isReconnecting: isReconnecting, error: error)
    }
  }

  func servicesChanged(_ peer: PeerIdentity, _ link: PeripheralLink, _ range: HandleRange) {
    let peripheral = table.peripheral(at: peer)
    guard peripheral.shared.withLock({ $0.link === link }) else { return }
    let invalid = peripheral.invalidate(range)
    peripheral.delegate?.peripheral(peripheral, didModifyServices: invalid)
  }

  func changedMTU(_ peer: PeerIdentity, _ link: PeripheralLink, _ mtu: Int) {
    table.peripheral(at: peer).shared.withLock { if $0.link === link { $0.mtu = mtu } }
  }

  func read(name: String, _ peer: PeerIdentity, _ link: PeripheralLink) {
    let peripheral = table.peripheral(at: peer)
    peripheral.setName(name)
    table.remember(peripheral)
    peripheral.delegate?.peripheralDidUpdateName(peripheral)
  }

  private func reportConnection(_ event: CBConnectionEvent, _ peripheral: CBPeripheral) {
    guard let filter = shared.withLock({ $0.reportsConnections }), filter.matches(peripheral) else { return }
    delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral)
  }
}

// MARK: The state, on the queue

// MARK: Events, on the queue

/// The connections that a program wants to know of.
private struct ConnectionEventFilter {
  private let peripherals: [UUID]?
  private let services: [CBUUID]?

  init(_ options: [CBConnectionEventMatchingOption: Any]?) {
    peripherals = options?[.peripheralUUIDs] as? [UUID]
    services = options?[.serviceUUIDs] as? [CBUUID]
  }

  func matches(_ peripheral: CBPeripheral) -> Bool {
    if peripherals == nil, services == nil { return true }
    if peripherals?.contains(peripheral.identifier) ?? false { return true }
    return peripheral.services?.contains { services?.contains($0.uuid) ?? false } ?? false
  }
}
