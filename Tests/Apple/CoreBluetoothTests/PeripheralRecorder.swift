import CoreBluetooth
import HaloDevices
import HaloRaw

/// A peripheral manager whose delegate writes down its calls, in the log of a ``Recorder``.
final class PeripheralRecorder: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
  let recorder = Recorder()
  /// Set by the test.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  nonisolated(unsafe) var manager: CBPeripheralManager!
  /// What reads are answered with, by characteristic, from their offset on.
  nonisolated(unsafe) var values: [String: [UInt8]] = [:]
  /// What each request is answered with, if it is not success; nil for no answer.
  nonisolated(unsafe) var result: CBATTError.Code? = .success
  nonisolated(unsafe) var centrals: [CBCentral] = []
  nonisolated(unsafe) var requests: [CBATTRequest] = []
  /// The service of each object that a call had.
  nonisolated(unsafe) private(set) var services: [String] = []
  /// The advertisement that was restored.
  nonisolated(unsafe) private(set) var restoredAdvertisement: [String: Any] = [:]

  var log: [String] { recorder.log }

  /// A recorder with a manager on a radio, which is powered on.
  static func start(_ radio: ManagedAdapter, folder: String? = nil, options: [String: Any]? = nil) async
    -> PeripheralRecorder
  {
    let made = PeripheralRecorder()
    await made.perform {
      $0.manager = CBPeripheralManager(
        delegate: $0, queue: $0.recorder.queue, radio: radio, folder: folder, options: options)
    }
    await made.until("poweredOn")
    return made
  }

  func perform(_ action: @escaping (PeripheralRecorder) -> Void) async {
    await recorder.perform { [unowned self] _ in action(self) }
  }

  func on(_ text: String, _ action: @escaping (PeripheralRecorder) -> Void) {
    recorder.on(text) { [unowned self] _ in action(self) }
  }

  func until(_ text: String, count: Int = 1) async { await recorder.until(text, count: count) }

  /// Offers services and advertises the first one.
  func offer(_ services: [CBMutableService], as name: String = "Offer") async {
    await perform { me in
      for service in services { me.manager.add(service) }
      var data: [String: Any] = [CBAdvertisementDataLocalNameKey: name]
      if let first = services.first { data[CBAdvertisementDataServiceUUIDsKey] = [first.uuid] }
      me.manager.startAdvertising(data)
    }
    await until("started")
  }

  private func note(_ text: String, _ error: (any Error)? = nil) {
    switch error {
    case nil: recorder.note(text)
    case let error as CBError: recorder.note("\(text) \(error.code)")
    case let error?: recorder.note("\(text) \(error)")
    }
  }

  private func note(_ call: String, of characteristic: CBCharacteristic?) {
    services.append("\(call) \(characteristic?.service?.uuid.uuidString ?? "nil")")
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note("\(peripheral.state)") }

  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
    let data = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
    restoredAdvertisement = data ?? [:]
    for service in services { note("restored", of: service.characteristics?.first) }
    note("restored \(services.map(\.uuid.uuidString)) \(data?[CBAdvertisementDataLocalNameKey] ?? "nil")")
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    note("started", error)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    note("added", of: service.characteristics?.first)
    note("added \(service.uuid.uuidString)", error)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    let subscribed = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals ?? []
    if !subscribed.contains(central) { note("not yet in subscribedCentrals") }
    centrals.append(central)
    note("subscribed", of: characteristic)
    note("subscribed \(characteristic.uuid.uuidString)")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    let subscribed = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals ?? []
    if subscribed.contains(central) { note("still in subscribedCentrals") }
    centrals.removeAll { $0 === central }
    note("unsubscribed", of: characteristic)
    note("unsubscribed \(characteristic.uuid.uuidString)")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    requests = [request]
    let value = values[request.characteristic.uuid.uuidString] ?? []
    request.value = Data(value.dropFirst(request.offset))
    note("read", of: request.characteristic)
    note("read \(request.characteristic.uuid.uuidString) from \(request.offset)")
    let code = request.offset > value.count ? .invalidOffset : result
    if let code { peripheral.respond(to: request, withResult: code) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    self.requests = requests
    let parts = requests.map { "\($0.characteristic.uuid.uuidString)@\($0.offset) \($0.value?.count ?? -1)" }
    note("write", of: requests.first?.characteristic)
    note("write \(parts.joined(separator: ", "))")
    if let result { peripheral.respond(to: requests[0], withResult: result) }
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { note("ready") }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) { note("published \(psm)", error) }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
  ) { note("unpublished \(psm)", error) }
}

/// Two machines in one air: one that offers, and one with a central manager.
struct Meeting {
  let offering: SimulatedRadio
  let radio: ManagedAdapter
  let other: ManagedAdapter

  init() async {
    offering = await SimulatedRadio([])
    radio = await ManagedAdapter.kept(offering)
    other = await ManagedAdapter.kept(SimulatedRadio(beside: offering, "00:1A:7D:DA:71:77"))
  }

  /// A central manager that is connected to what is offered, and has discovered the services.
  func phone(_ name: String = "Offer", finds services: String) async -> Recorder {
    let phone = await Recorder.start(other)
    await phone.connect(name)
    await phone.perform { $0.peripherals[name]?.discoverServices() }
    await phone.until("services \(services)")
    await phone.perform { me in
      for service in me.peripherals[name]?.services ?? [] {
        me.peripherals[name]?.discoverCharacteristics(for: service)
      }
    }
    return phone
  }

  /// Lets the time of the air pass.
  @BluetoothActor func pass(_ time: Duration) async { await offering.timers.sleep(for: time) }

  func end() async {
    await other.close()
    await radio.close()
  }
}
