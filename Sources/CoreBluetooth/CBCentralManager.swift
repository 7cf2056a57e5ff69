import Foundation
package import HaloRaw

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
    /// All objects that the program or this manager holds.
    var known: [BluetoothAddress: WeakPeripheral] = [:]
    /// Those that are connected or being connected.
    var held: [BluetoothAddress: CBPeripheral] = [:]
    /// Whether the first state was reported to the delegate.
    var hasReportedState = false
    var reportsConnections: ConnectionEventFilter?
    /// Nil without a restore identifier.
    var restorable: Restorable?
  }

  private struct WeakPeripheral {
    weak var value: CBPeripheral?
  }

  private let shared = Guarded(Shared())
  private let callbacks: CallbackQueue
  private let core: CentralCore
  private let store: PeripheralStore
  private let restorations: RestorationStore?

  public convenience init() {
    self.init(delegate: nil, queue: nil, options: nil)
  }

  /// - Parameters:
  ///   - delegate: is held weakly
  ///   - queue: where the delegate is called; nil for the main queue
  ///   - options: also the adapter: ``CBCentralManagerOptionAdapterKey``
  public convenience init(
    delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    let choice = AdapterChoice(options: options)
    let folder = PeripheralStore.folder(for: choice)
    self.init(
      delegate: delegate, queue: queue, store: PeripheralStore(folder: folder),
      restorations: RestorationStore(folder: folder, options: options)
    ) {
      (SharedRadios.acquire(choice), { SharedRadios.release(choice) })
    }
  }

  /// A manager on a radio, which it does not close.
  package convenience init(
    delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, radio: Radio, folder: String? = nil,
    options: [String: Any]? = nil
  ) {
    self.init(
      delegate: delegate, queue: queue, store: PeripheralStore(folder: folder),
      restorations: RestorationStore(folder: folder, options: options)
    ) { (radio, {}) }
  }

  private init(
    delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, store: PeripheralStore,
    restorations: RestorationStore?,
    acquire: @escaping @Sendable @BluetoothActor () -> (Radio, () -> Void)
  ) {
    callbacks = CallbackQueue(queue)
    let events = ManagerEvents(callbacks)
    core = CentralCore(events)
    self.store = store
    self.restorations = restorations
    super.init(.unknown)
    restore()
    shared.withLock { $0.delegate = delegate }
    events.manager = self
    BluetoothActor.run { [core] in
      let (radio, release) = acquire()
      core.start(radio, release: release)
    }
  }

  deinit {
    BluetoothActor.run { [core] in core.shutDown() }
  }

  /// May be set after the manager was made: it gets the state then.
  open weak var delegate: (any CBCentralManagerDelegate)? {
    get { shared.withLock { $0.delegate } }
    set {
      shared.withLock { $0.delegate = newValue }
      callbacks.asyncConfined { [weak self] in self?.reportFirstState() }
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
    remember { $0.scan = .init(services: serviceUUIDs, options: options) }
  }

  private func start(_ request: ScanRequest) {
    let number = shared.withLock { shared in
      shared.isScanning = true
      shared.scanNumber += 1
      return shared.scanNumber
    }
    BluetoothActor.run { [core] in core.startScan(request, number: number) }
  }

  open func stopScan() {
    shared.withLock { shared in
      shared.isScanning = false
      shared.scanNumber += 1
      shared.restorable?.giveUpScan()
    }
    remember { $0.scan = nil }
    BluetoothActor.run { [core] in core.stopScan() }
  }

  // MARK: Connecting

  /// Connects when the peripheral advertises, however long that takes. The manager holds the peripheral until it is
  /// disconnected.
  open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    guard isPoweredOn("connect") else { return }
    let address = peripheral.address
    let state = shared.withLock { shared in
      shared.held[address] = peripheral
      shared.known[address] = WeakPeripheral(value: peripheral)
      return peripheral.state
    }
    switch state {
    case .connected:
      callbacks.asyncConfined { [weak self] in
        guard let self else { return }
        delegate?.centralManager(self, didConnect: peripheral)
      }
      return
    case .connecting: return
    case .disconnected, .disconnecting: break
    }
    peripheral.setState(.connecting)
    let seconds = (options?[CBConnectPeripheralOptionStartDelayKey] as? NSNumber)?.doubleValue ?? 0
    let delay = Duration.seconds(seconds.isFinite ? min(max(seconds, 0), 86400) : 0)
    let reconnects = flag(CBConnectPeripheralOptionEnableAutoReconnect, in: options)
    let name = peripheral.name
    remember { $0.add(.init(address: address, name: name, reconnects: reconnects)) }
    BluetoothActor.run { [core] in
      core.connect(address, isNamed: name != nil, after: delay, reconnects: reconnects)
    }
  }

  /// Ends a connection, or gives it up before it is established.
  open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
    let address = peripheral.address
    if peripheral.state == .connected { peripheral.setState(.disconnecting) }
    if shared.withLock({ $0.restorable?.giveUp(address) ?? false }) {
      callbacks.asyncConfined { [weak self] in
        self?.disconnected(address, isReconnecting: false, isForgotten: true, nil)
      }
    }
    BluetoothActor.run { [core] in core.cancel(address) }
  }

  // MARK: Known peripherals

  /// The peripherals with these identifiers, which need not be near. They can be connected to without a scan.
  open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
    identifiers.compactMap { $0.address.map { peripheral(at: $0) } }
  }

  /// The connected peripherals of this manager in which one of the services was discovered.
  open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
    let held = shared.withLock { Array($0.held.values) }
    return held.filter { peripheral in
      peripheral.state == .connected
        && peripheral.services?.contains { serviceUUIDs.contains($0.uuid) } ?? false
    }
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

  /// The object of a peripheral: the one that exists, or a new one with the stored name.
  private func peripheral(at address: BluetoothAddress) -> CBPeripheral {
    if let known = shared.withLock({ $0.known[address]?.value }) { return known }
    let made = CBPeripheral(address, name: store.name(of: address), callbacks)
    return shared.withLock { shared in
      if let known = shared.known[address]?.value { return known }
      // Objects that the program has not kept are gone.
      if shared.known.count >= 2 * shared.held.count + 64 {
        shared.known = shared.known.filter { $0.value.value != nil }
      }
      shared.known[address] = WeakPeripheral(value: made)
      return made
    }
  }
}

// MARK: Restoration

extension CBCentralManager {
  /// Takes up what the manager with this identifier did when the program ended.
  private func restore() {
    guard let restorations else { return }
    let record = restorations.load()
    let peripherals = record.peripherals.map { entry in
      let peripheral = CBPeripheral(
        entry.address, name: entry.name ?? store.name(of: entry.address), callbacks)
      peripheral.setState(.connecting)
      return peripheral
    }
    shared.withLock { shared in
      shared.restorable = Restorable(record)
      for peripheral in peripherals {
        shared.held[peripheral.address] = peripheral
        shared.known[peripheral.address] = WeakPeripheral(value: peripheral)
      }
    }
  }

  /// Stores a change of what the manager does, if it has a restore identifier.
  private func remember(_ body: (inout CentralRestoration) -> Void) {
    guard let restorations, let changed = shared.withLock({ $0.restorable?.change(body) }) else { return }
    restorations.save(changed)
  }

  /// Before the first state.
  private func reportRestored(to delegate: any CBCentralManagerDelegate) {
    guard let restored = shared.withLock({ $0.restorable?.takeUnreported() }) else { return }
    var state: [String: Any] = [:]
    let peripherals = restored.peripherals.map { peripheral(at: $0.address) }
    if !peripherals.isEmpty { state[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
    if let scan = restored.scan {
      if let services = scan.services {
        state[CBCentralManagerRestoredStateScanServicesKey] = services.map { CBUUID($0) }
      }
      state[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
    }
    delegate.centralManager(self, willRestoreState: state)
  }

  /// Issues the restored connections and the scan again, when the adapter can be used for the first time.
  private func resumeRestored() {
    guard let waiting = shared.withLock({ $0.restorable?.takeWaiting() }) else { return }
    for entry in waiting.peripherals {
      let isNamed = peripheral(at: entry.address).name != nil
      BluetoothActor.run { [core] in
        core.connect(entry.address, isNamed: isNamed, after: .zero, reconnects: entry.reconnects)
      }
    }
    if let scan = waiting.scan { start(ScanRequest(scan)) }
  }

  /// After the adapter was off: the program has taken up what it wants, and the rest is forgotten.
  private func forgetAbandoned() {
    let (held, isScanning) = shared.withLock { ($0.held, $0.isScanning) }
    remember { record in
      record.peripherals.removeAll { held[$0.address] == nil }
      if !isScanning { record.scan = nil }
    }
  }
}

// MARK: Events, on the queue

extension CBCentralManager {
  func update(_ state: CBManagerState, _ failure: String?) {
    set(state)
    if state != .poweredOn {
      let waiting = shared.withLock { shared in
        shared.isScanning = false
        let waiting = shared.held.filter { address, peripheral in
          peripheral.state == .connecting && shared.restorable?.isWaiting(for: address) != true
        }
        for address in waiting.keys { shared.held[address] = nil }
        return waiting.values
      }
      for peripheral in waiting { peripheral.setState(.disconnected) }
    }
    if let failure, shared.withLock({ $0.delegate }) != nil { reportMisuse("\(state): \(failure)") }
    guard shared.withLock({ $0.hasReportedState }) else { return reportFirstState() }
    if state == .poweredOn { resumeRestored() }
    delegate?.centralManagerDidUpdateState(self)
    if state == .poweredOn { forgetAbandoned() }
  }

  /// A delegate that is set later gets the state, too.
  private func reportFirstState() {
    guard state != .unknown, let delegate else { return }
    let isFirst = shared.withLock { shared in
      defer { shared.hasReportedState = true }
      return !shared.hasReportedState
    }
    guard isFirst else { return }
    reportRestored(to: delegate)
    if state == .poweredOn { resumeRestored() }
    delegate.centralManagerDidUpdateState(self)
  }

  func discovered(_ advertisement: Advertisement, in scanNumber: Int) {
    guard shared.withLock({ $0.isScanning && $0.scanNumber == scanNumber }) else { return }
    let peripheral = peripheral(at: advertisement.address)
    if let name = advertisement.localName { peripheral.setName(name) }
    delegate?.centralManager(
      self, didDiscover: peripheral, advertisementData: advertisement.dictionary,
      rssi: NSNumber(value: Int(advertisement.rssi ?? 127)))
  }

  func scanEnded(_ number: Int) {
    shared.withLock { if $0.scanNumber == number { $0.isScanning = false } }
  }

  func connected(_ address: BluetoothAddress, _ link: LinkDriver) {
    let peripheral = held(address)
    peripheral.connected(link)
    store.remember(address, name: peripheral.name)
    delegate?.centralManager(self, didConnect: peripheral)
    reportConnection(.peerConnected, peripheral)
  }

  func failed(_ address: BluetoothAddress, isForgotten: Bool, _ error: any Error) {
    let peripheral = held(address)
    peripheral.setState(.disconnected)
    if isForgotten { remember { $0.remove(address) } }
    shared.withLock { $0.held[address] = nil }
    delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
  }

  /// - Parameter isForgotten: whether it is not restored after a restart of the program: the adapter was not the reason
  func disconnected(
    _ address: BluetoothAddress, isReconnecting: Bool, isForgotten: Bool, _ error: (any Error)?
  ) {
    let peripheral = held(address)
    if isForgotten, !isReconnecting { remember { $0.remove(address) } }
    peripheral.disconnected(isReconnecting: isReconnecting)
    if !isReconnecting { shared.withLock { $0.held[address] = nil } }
    delegate?.centralManager(
      self, didDisconnectPeripheral: peripheral, timestamp: Date().timeIntervalSinceReferenceDate,
      isReconnecting: isReconnecting, error: error)
    reportConnection(.peerDisconnected, peripheral)
  }

  func servicesChanged(_ address: BluetoothAddress, _ link: LinkDriver, _ range: HandleRange) {
    let peripheral = held(address)
    guard peripheral.shared.withLock({ $0.link === link }) else { return }
    let invalid = peripheral.invalidate(range)
    peripheral.delegate?.peripheral(peripheral, didModifyServices: invalid)
  }

  func changedMTU(_ address: BluetoothAddress, _ link: LinkDriver, _ mtu: Int) {
    held(address).shared.withLock { if $0.link === link { $0.mtu = mtu } }
  }

  func read(name: String, _ address: BluetoothAddress, _ link: LinkDriver) {
    let peripheral = held(address)
    peripheral.setName(name)
    store.remember(address, name: name)
    peripheral.delegate?.peripheralDidUpdateName(peripheral)
  }

  private func held(_ address: BluetoothAddress) -> CBPeripheral {
    shared.withLock { $0.held[address] } ?? peripheral(at: address)
  }

  private func reportConnection(_ event: CBConnectionEvent, _ peripheral: CBPeripheral) {
    guard let filter = shared.withLock({ $0.reportsConnections }), filter.matches(peripheral) else { return }
    delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral)
  }
}

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
