import Foundation
internal import HaloStorage
package import HaloDevices
internal import HaloBluetoothCore
internal import HaloSystem

/// Offers services to centrals, and advertises. Its delegate is called on its queue, one call after the other; properties
/// change on that queue before the call.
open class CBPeripheralManager: CBManager {
  private struct Shared {
    weak var delegate: (any CBPeripheralManagerDelegate)?
    var hasReportedState = false
    /// The restored state with which the delegate has not been called.
    var unreported: [String: Any]?
  }

  private let shared = LockedValue(Shared())
  private let callbacks: CallbackQueue
  private let core: PeripheralCore
  private let table: OfferedTable
  /// Nil without a restore identifier.
  private let restoration: Restoration<PeripheralRestoration>?

  public convenience init() {
    self.init(delegate: nil, queue: nil, options: nil)
  }

  /// - Parameters:
  ///   - delegate: is held weakly
  ///   - queue: where the delegate is called; nil for the main queue
  ///   - options: also the adapter: ``CBPeripheralManagerOptionAdapterKey``
  public init(
    delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil
  ) {
    let choice = AdapterChoice(options: options)
    let events = ManagerEvents<CBPeripheralManager>(CallbackQueue(queue))
    (callbacks, core) = (events.callbacks, PeripheralCore(events))
    table = OfferedTable(core)
    restoration = Restoration(folder: PeripheralStore.folder(for: choice), options: options)
    super.init(.unknown)
    begin(delegate, events, acquire: SharedRadios.use(choice, options))
  }

  /// A manager on a radio, which it does not close.
  package convenience init(
    delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, radio: ManagedAdapter,
    folder: String? = nil, options: [String: Any]? = nil
  ) {
    self.init(delegate, queue, folder, options) { (radio, {}) }
  }

  private init(
    _ delegate: (any CBPeripheralManagerDelegate)?, _ queue: DispatchQueue?, _ folder: String?,
    _ options: [String: Any]?, acquire: @escaping @Sendable @BluetoothActor () -> (ManagedAdapter, () -> Void)
  ) {
    let events = ManagerEvents<CBPeripheralManager>(CallbackQueue(queue))
    (callbacks, core) = (events.callbacks, PeripheralCore(events))
    table = OfferedTable(core)
    restoration = Restoration(folder: folder, options: options)
    super.init(.unknown)
    begin(delegate, events, acquire: acquire)
  }

  private func begin(
    _ delegate: (any CBPeripheralManagerDelegate)?, _ events: ManagerEvents<CBPeripheralManager>,
    acquire: @escaping @Sendable @BluetoothActor () -> (ManagedAdapter, () -> Void)
  ) {
    if let record = restoration?.takeUnreported() {
      let services = table.restore(record.services, record.advertisement)
      shared.withLock { $0.unreported = record.dictionary(services) }
    }
    shared.withLock { $0.delegate = delegate }
    events.manager = self
    BluetoothActor.run { [core] in
      let (radio, release) = acquire()
      core.start(radio, release: release)
    }
  }

  deinit {
    BluetoothActor.run { [core] in await core.shutDown() }
  }

  /// May be set after the manager was made: it gets the state then.
  open weak var delegate: (any CBPeripheralManagerDelegate)? {
    get { shared.withLock { $0.delegate } }
    set {
      observers.changing { shared.withLock { $0.delegate = newValue } }
      callbacks.asyncUnchecked { [weak self] in self?.reportFirstState() }
    }
  }

  // MARK: Services

  /// Offers a service, which is fixed from then on. The delegate is called when centrals see it, or with the reason why they do
  /// not.
  open func add(_ service: CBMutableService) { perform { $0.add(service) } }

  /// Offers a service no longer.
  open func remove(_ service: CBMutableService) { perform { $0.remove(service) } }

  open func removeAllServices() { perform { $0.removeAll() } }

  // MARK: Advertising

  /// Whether centrals can find this device. While the adapter is off, advertising pauses.
  open var isAdvertising: Bool { table.isAdvertising }

  /// - Parameter advertisementData: the keys ``CBAdvertisementDataLocalNameKey`` and ``CBAdvertisementDataServiceUUIDsKey``,
  ///   and that of a beacon's region; here also ``CBPeripheralManagerAdvertisementManufacturerDataKey`` and
  ///   ``CBPeripheralManagerAdvertisementServiceDataKey``
  open func startAdvertising(_ advertisementData: [String: Any]?) {
    perform { $0.startAdvertising(advertisementData) }
  }

  open func stopAdvertising() { perform { $0.stopAdvertising() } }

  // MARK: Centrals

  /// Sends a value to centrals that have subscribed.
  ///
  /// - Parameters:
  ///   - value: a value longer than the central's ``CBCentral/maximumUpdateValueLength`` is cut
  ///   - characteristic: the characteristic of the value
  ///   - centrals: the centrals to send to; nil for all
  /// - Returns: whether it is sent, or will be. If not, no central gets it, and the delegate is called when there is room.
  @discardableResult
  open func updateValue(
    _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
  ) -> Bool { table.update(value, characteristic, centrals) }

  /// Answers a request, once. A command, of which there is no sign, has no answer.
  open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
    table.respond(request, result)
  }

  /// Asks a central for another connection interval; it may refuse.
  open func setDesiredConnectionLatency(
    _ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral
  ) {
    BluetoothActor.run { [core, peer = central.peer] in core.setLatency(latency, for: peer) }
  }

  // MARK: Channels

  private var noChannels: CBError {
    CBError(.operationNotSupported, "L2CAP channels are not supported on this system")
  }

  /// Reports an error.
  open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
    callbacks.asyncUnchecked { [weak self] in
      guard let self else { return }
      delegate?.peripheralManager(self, didPublishL2CAPChannel: 0, error: noChannels)
    }
  }

  /// Reports an error.
  open func unpublishL2CAPChannel(_ psm: CBL2CAPPSM) {
    callbacks.asyncUnchecked { [weak self] in
      guard let self else { return }
      delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: noChannels)
    }
  }

  /// A call of the program, with its effects on the delegate.
  private func perform(_ call: (OfferedTable) -> [PeripheralDelivery]) {
    let deliveries = observers.changing { call(table) }
    store()
    guard !deliveries.isEmpty else { return }
    callbacks.asyncUnchecked { [weak self] in self?.deliver(deliveries) }
  }

  /// Stores the services and the advertisement, for the next run of the program.
  private func store() {
    guard let restoration else { return }
    let (services, advertisement) = table.wanted
    restoration.change { record in
      record.services = Array(services.prefix(PeripheralRestoration.maximumServices))
      record.advertisement = advertisement
    }
  }

  func update(_ state: CBManagerState, _ failure: String?) {
    set(state)
    deliver(observers.changing { table.change { $0.changed(to: state) } })
    store()
    if let failure, delegate != nil { reportMisuse("\(state): \(failure)") }
    guard shared.withLock({ $0.hasReportedState }) else { return reportFirstState() }
    delegate?.peripheralManagerDidUpdateState(self)
  }

  /// A delegate that is set later gets the state, too.
  private func reportFirstState() {
    guard state != .unknown, let delegate else { return }
    let (isFirst, restored) = shared.withLock { shared in
      defer { shared.hasReportedState = true }
      return (!shared.hasReportedState, shared.unreported.take())
    }
    guard isFirst else { return }
    if let restored { delegate.peripheralManager(self, willRestoreState: restored) }
    delegate.peripheralManagerDidUpdateState(self)
  }

  /// An event that concerns the role alone.
  func happened(_ event: (inout PeripheralRole) -> PeripheralRole.Effects) {
    deliver(observers.changing { table.change(role: event) })
  }

  func connected(_ client: PeerIdentity, mtu: Int) { table.connected(client, mtu: mtu) }

  func left(_ client: PeerIdentity) { deliver(table.left(client)) }

  private func deliver(_ deliveries: [PeripheralDelivery]) {
    for delivery in deliveries { delivery.call(delegate, of: self) }
  }
}

// MARK: The state, on the queue

// MARK: Events, on the queue
