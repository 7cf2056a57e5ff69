internal import ATT
import Foundation
internal import GAP
internal import HaloGATT
internal import HaloBluetoothCore
internal import HaloRaw
internal import HaloSystem

/// A device that another one can connect to, or that has connected.
open class CBPeer: NSObject {
  /// The same in each run of a program, and on each machine: made of the address.
  open var identifier: UUID { peerIdentifier }
  private let peerIdentifier: UUID

  init(identifier: UUID) {
    peerIdentifier = identifier
    super.init()
  }
}

/// A peripheral, of which a manager has one object. Its properties change on the manager's queue, before the callback.
open class CBPeripheral: CBPeer {
  let shared: LockedValue<Shared>
  let observers = Observers()
  let peer: PeerIdentity
  let callbacks: CallbackQueue

  /// The longest value of an attribute (Core Specification Vol 3, Part F, 3.2.9).
  /// Services that are discovered only by their UUIDs.
  private static let hidden = [GATTUUID.genericAccess, GATTUUID.genericAttribute]
  /// Writes without response that wait at most if a program ignores ``canSendWriteWithoutResponse``.
  package static let maximumWaitingWrites = WriteCredits.maximumWaiting

  init(_ peer: PeerIdentity, name: String?, _ callbacks: CallbackQueue) {
    self.peer = peer
    self.callbacks = callbacks
    shared = LockedValue(Shared(name: name))
    super.init(identifier: UUID(peer))
  }

  open weak var delegate: (any CBPeripheralDelegate)? {
    get { shared.withLock { $0.delegate } }
    set { observers.changing { shared.withLock { $0.delegate = newValue } } }
  }

  open var name: String? { shared.withLock { $0.name } }
  open var state: CBPeripheralState { shared.withLock { $0.connection.state } }
  /// The services that were discovered on this connection; nil before.
  open var services: [CBService]? { shared.withLock { $0.services } }
  /// Whether a write without response is sent at once. After false, the delegate is called when there is room again.
  open var canSendWriteWithoutResponse: Bool { shared.withLock { $0.credits.ask() } }
  /// Always false: no peripheral here is an iPhone.
  open var ancsAuthorized: Bool { false }

  open override var description: String {
    "<CBPeripheral: identifier = \(identifier.uuidString), name = \(name ?? "(null)"), mtu = "
      + "\(shared.withLock { $0.mtu }), state = \(state)>"
  }

  /// The most bytes of one write: those of a packet without response; any value with one.
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: ATTBearer.maximumValueLength
    case .withoutResponse: min(shared.withLock { $0.mtu } - 3, ATTBearer.maximumValueLength)
    }
  }

  // MARK: Discovery

  /// Discovers the services with these UUIDs. Without a list, or with an empty one, it discovers all but 1800 and 1801, which
  /// belong to the system on Apple's platforms: ask for these by name.
  open func discoverServices(_ serviceUUIDs: [CBUUID]? = nil) {
    let uuids = filter(serviceUUIDs)
    perform({ driver, client, done in driver.discoverServices(uuids, over: client, completion: done) }) {
      [self] (found: [Service]?, link, error) in
      if let found {
        let visible = uuids == nil ? found.filter { !Self.hidden.contains($0.uuid) } : found
        merge(visible, on: link, replacing: uuids == nil)
      }
      delegate?.peripheral(self, didDiscoverServices: error)
    }
  }

  open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]? = nil, for service: CBService) {
    let uuids = filter(includedServiceUUIDs)
    guard let place = service.place?.service else {
      return refuse { [self] in delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: $0)
      }
    }
    perform(
      of: service.place?.link,
      { _, client, done in _ = client.discoverIncludedServices(of: place, completion: done) }
    ) {
      [self] (found: [IncludedService]?, link, error) in
      if let found {
        let wanted = found.filter { uuids?.contains($0.service.uuid) ?? true }
        service.includedServices = wanted.map { included in
          services?.first { $0.place?.service.handles == included.service.handles }
            ?? CBService(included.service, on: link, of: self, isPrimary: false)
        }
      }
      delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: error)
    }
  }

  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]? = nil, for service: CBService) {
    let uuids = filter(characteristicUUIDs)
    guard let place = service.place?.service else {
      return refuse { [self] in delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: $0)
      }
    }
    perform(
      of: service.place?.link,
      { _, client, done in _ = client.discoverCharacteristics(uuids, of: place, completion: done) }
    ) { [self] (found: [Characteristic]?, link, error) in
      if let found {
        let known = service.characteristics ?? []
        let all = found.map { characteristic in
          known.first { $0.place?.characteristic == characteristic }
            ?? CBCharacteristic(characteristic, on: link, of: service)
        }
        let kept = uuids == nil ? [] : known.filter { known in !all.contains { $0 === known } }
        service.characteristics = (kept + all).sorted { $0.handle < $1.handle }
      }
      delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: error)
    }
  }

  open func discoverDescriptors(for characteristic: CBCharacteristic) {
    guard let place = characteristic.place?.characteristic else {
      return refuse { [self] in
        delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: $0)
      }
    }
    perform(
      of: characteristic.place?.link,
      { _, client, done in _ = client.discoverDescriptors(of: place, completion: done) }
    ) { [self] (found: [Descriptor]?, link, error) in
      if let found {
        characteristic.descriptors = found.map { descriptor in
          characteristic.descriptors?.first { $0.place?.descriptor == descriptor }
            ?? CBDescriptor(descriptor, on: link, of: characteristic)
        }
      }
      delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error)
    }
  }

  // MARK: Values

  open func readValue(for characteristic: CBCharacteristic) {
    guard let place = characteristic.place?.characteristic else {
      return refuse { [self] in delegate?.peripheral(self, didUpdateValueFor: characteristic, error: $0) }
    }
    perform(of: characteristic.place?.link, { _, client, done in _ = client.read(place, completion: done) }) {
      [self] (value: [UInt8]?, _, error) in
      if let value { characteristic.value = Data(value) }
      delegate?.peripheral(self, didUpdateValueFor: characteristic, error: error)
    }
  }

  open func readValue(for descriptor: CBDescriptor) {
    guard let place = descriptor.place?.descriptor else {
      return refuse { [self] in delegate?.peripheral(self, didUpdateValueFor: descriptor, error: $0) }
    }
    perform(of: descriptor.place?.link, { _, client, done in _ = client.read(place, completion: done) }) {
      [self] (value: [UInt8]?, _, error) in
      if let value { descriptor.take(value) }
      delegate?.peripheral(self, didUpdateValueFor: descriptor, error: error)
    }
  }

  /// Writes a value. Writes to one characteristic leave in the order of the calls. Without response, the delegate is not
  /// called, and a write is dropped, with a line on standard error, if it is longer than
  /// ``maximumWriteValueLength(for:)`` or if 512 are waiting: ask ``canSendWriteWithoutResponse`` first.
  open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    let value = [UInt8](data)
    guard type == .withResponse else { return writeWithoutResponse(value, characteristic) }
    guard let place = characteristic.place?.characteristic else {
      return refuse { [self] in delegate?.peripheral(self, didWriteValueFor: characteristic, error: $0) }
    }
    perform(
      of: characteristic.place?.link,
      { driver, _, done in driver.write(value, to: place, completion: done) }
    ) {
      [self] (_: Void?, _, error) in
      delegate?.peripheral(self, didWriteValueFor: characteristic, error: error)
    }
  }

  open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
    let value = [UInt8](data)
    guard let place = descriptor.place?.descriptor else {
      return refuse { [self] in delegate?.peripheral(self, didWriteValueFor: descriptor, error: $0) }
    }
    guard place.uuid != GATTUUID.clientCharacteristicConfiguration else {
      let error = CBError(
        .operationNotSupported, "use setNotifyValue(_:for:) to write a Client Characteristic Configuration")
      return callbacks.asyncUnchecked { [self] in
        delegate?.peripheral(self, didWriteValueFor: descriptor, error: error)
      }
    }
    perform(
      of: descriptor.place?.link, { _, client, done in _ = client.write(value, to: place, completion: done) }
    ) {
      [self] (_: Void?, _, error) in delegate?.peripheral(self, didWriteValueFor: descriptor, error: error)
    }
  }

  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    let answer = { [self] (error: (any Error)?) in
      if error == nil { characteristic.isNotifying = enabled }
      delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error)
    }
    guard let place = characteristic.place, place.link === shared.withLock({ $0.link }) else {
      return refuse(answer)
    }
    let (confined, callbacks, reply) = (
      UncheckedSendable((self, characteristic)), self.callbacks, UncheckedSendable(answer)
    )
    let target = place.characteristic
    BluetoothActor.run { [link = place.link] in
      link.setNotify(enabled, target) { value, _ in
        let data = Data(Array(value))
        callbacks.async {
          let (peripheral, characteristic) = confined.value
          characteristic.value = data
          peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        }
      } completion: { result in
        let error = result.failure.map { delegateError($0) }
        callbacks.async { reply.value(error) }
      }
    }
  }

  open func readRSSI() {
    let (confined, callbacks) = (UncheckedSendable(self), self.callbacks)
    let link = shared.withLock { $0.link }
    BluetoothActor.run {
      let result: Result<Int8?, StackError>
      do throws(StackError) {
        guard let connection = link?.connection else { throw .notConnected }
        result = .success(try await connection.readRSSI())
      } catch {
        result = .failure(error)
      }
      callbacks.async {
        let peripheral = confined.value
        let rssi = (try? result.get()) ?? nil
        peripheral.delegate?.peripheral(
          peripheral, didReadRSSI: NSNumber(value: Int(rssi ?? 127)),
          error: result.failure.map { delegateError($0) })
      }
    }
  }

  /// Fails: there are no L2CAP channels yet.
  open func openL2CAPChannel(_ psm: CBL2CAPPSM) {
    let error = CBError(.operationNotSupported, "L2CAP channels are not supported")
    callbacks.asyncUnchecked { [self] in delegate?.peripheral(self, didOpen: nil, error: error) }
  }

  // MARK: Writes without response

  private func writeWithoutResponse(_ value: [UInt8], _ characteristic: CBCharacteristic) {
    guard let place = characteristic.place, place.link === shared.withLock({ $0.link }) else {
      return reportMisuse(
        "a write without response to \(characteristic.uuid) of an ended connection is dropped")
    }
    let limit = maximumWriteValueLength(for: .withoutResponse)
    guard value.count <= limit else {
      return reportMisuse(
        "a write without response to \(characteristic.uuid) is dropped: it has \(value.count) bytes, and "
          + "maximumWriteValueLength(for: .withoutResponse) is \(limit)")
    }
    if case .dropped(let isFirst) = shared.withLock({ $0.credits.take() }) {
      if isFirst {
        reportMisuse(
          "writes without response are dropped: \(Self.maximumWaitingWrites) are waiting; "
            + "ask canSendWriteWithoutResponse before each")
      }
      return
    }
    let (confined, target) = (UncheckedSendable(self), place.characteristic)
    BluetoothActor.run { [link = place.link] in
      link.writeWithoutResponse(value, to: target) { confined.value.giveCredit(of: link) }
    }
  }

  /// Called on the loop: a write is on its way.
  private func giveCredit(of link: PeripheralLink) {
    let isReady = shared.withLock { $0.link === link && $0.credits.give() }
    guard isReady else { return }
    let confined = UncheckedSendable(self)
    callbacks.async {
      let peripheral = confined.value
      guard peripheral.shared.withLock({ $0.link }) === link else { return }
      peripheral.delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }
  }

  // MARK: Operations

  /// Runs an operation on the loop, and answers on the queue.
  ///
  /// - Parameters:
  ///   - place: the link on which the attribute was discovered; nil for operations without one
  ///   - operation: gets the link, and calls its completion in the order of the wire
  ///   - answer: gets the value or the error
  private func perform<Value: Sendable>(
    of place: PeripheralLink? = nil,
    _ operation:
      @escaping @Sendable @BluetoothActor (
        PeripheralLink, GATTClient, @escaping (Result<Value, StackError>) -> Void
      ) -> Void,
    then answer: @escaping (Value?, PeripheralLink, (any Error)?) -> Void
  ) {
    let current = shared.withLock { $0.link }
    guard let current, place == nil || place === current else {
      return refuse { [unused = PeripheralLink()] in answer(nil, unused, $0) }
    }
    let (reply, callbacks) = (UncheckedSendable(answer), self.callbacks)
    BluetoothActor.run {
      let finish = { (result: Result<Value, StackError>) in
        callbacks.async {
          switch result {
          case .success(let value): reply.value(value, current, nil)
          case .failure(let error): reply.value(nil, current, delegateError(error))
          }
        }
      }
      guard let client = current.client else { return finish(.failure(PeripheralLink.unlinked)) }
      operation(current, client, finish)
    }
  }

  /// Reports an operation that is not possible: on an attribute of an earlier connection, or without a connection.
  private func refuse(_ answer: @escaping ((any Error)?) -> Void) {
    let isConnected = shared.withLock { $0.link } != nil
    let error =
      isConnected
      ? CBError(.invalidHandle, "the attribute is of an earlier connection; discover it again")
      : CBError(.notConnected, "the peripheral is not connected")
    callbacks.asyncUnchecked { answer(error) }
  }

  private func merge(_ found: [Service], on link: PeripheralLink, replacing isWhole: Bool) {
    let known = services ?? []
    let all = found.map { service in
      known.first { $0.place?.service == service } ?? CBService(service, on: link, of: self)
    }
    let kept = isWhole ? [] : known.filter { known in !all.contains { $0 === known } }
    let sorted = (kept + all).sorted { $0.start < $1.start }
    observers.changing { shared.withLock { if $0.link === link { $0.services = sorted } } }
  }

  func setName(_ name: String) { observers.changing { shared.withLock { $0.name = name } } }

  /// - Returns: the services that are no longer valid
  func invalidate(_ range: HandleRange) -> [CBService] {
    observers.changing {
      shared.withLock { shared in
        let invalid = (shared.services ?? []).filter { service in
          service.place.map { $0.service.handles.start <= range.end && range.start <= $0.service.handles.end }
            ?? false
        }
        shared.services?.removeAll { service in invalid.contains { $0 === service } }
        return invalid
      }
    }
  }
}

extension CBService {
  fileprivate var start: AttributeHandle { place?.service.handles.start ?? 0 }
}

extension CBCharacteristic {
  fileprivate var handle: AttributeHandle { place?.characteristic.valueHandle ?? 0 }
}

// MARK: The manager's side, on the queue
