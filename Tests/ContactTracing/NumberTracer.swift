import CoreBluetooth

// The structure of TCNCoalition/tcn-client-ios: one object with both managers, which cancels what was restored, offers its
// service anew and advertises when it is added. Each device is read once, and is connected to again until it was.

final class NumberTracer: NSObject {
  private static let service = CBUUID(string: "C019")
  private static let number = CBUUID(string: "D61F4F27-3D6B-4B04-9E46-C9D2EA617F62")
  private static let identifier = "numbers"
  /// How many devices it connects to at once, and how long it waits for one.
  private static let (mostConnections, timeout) = (5, 8)

  private let text: String
  private let queue = DispatchQueue(label: "contact-tracing.numbers")
  private var centralManager: CBCentralManager?
  private var peripheralManager: CBPeripheralManager?
  private var restored: [CBPeripheral] = []
  private var toRead: Set<CBPeripheral> = []
  private var busy: Set<UUID> = []
  private var timeouts: [UUID: DispatchWorkItem] = [:]
  private var numbers: [UUID: Data] = [:]

  init(_ text: String) {
    self.text = text
    super.init()
  }

  func start() {
    queue.async {
      guard self.centralManager == nil else { return }
      self.centralManager = CBCentralManager(
        delegate: self, queue: self.queue,
        options: [
          CBCentralManagerOptionRestoreIdentifierKey: Self.identifier,
          CBCentralManagerOptionShowPowerAlertKey: NSNumber(value: true),
        ])
      self.peripheralManager = CBPeripheralManager(
        delegate: self, queue: self.queue,
        options: [CBPeripheralManagerOptionRestoreIdentifierKey: Self.identifier])
    }
  }

  private func connectIfNeeded() {
    for peripheral in toRead where busy.count < Self.mostConnections {
      guard peripheral.state == .disconnected || peripheral.state == .disconnecting else { continue }
      busy.insert(peripheral.identifier)
      centralManager?.connect(peripheral, options: nil)
      let timeout = DispatchWorkItem { [weak self] in
        if peripheral.state != .connected { self?.leave(peripheral) }
      }
      timeouts[peripheral.identifier] = timeout
      queue.asyncAfter(deadline: .now() + .seconds(Self.timeout), execute: timeout)
    }
  }

  /// It is connected to again when it is discovered again, unless it was read.
  private func leave(_ peripheral: CBPeripheral) {
    timeouts.removeValue(forKey: peripheral.identifier)?.cancel()
    toRead.remove(peripheral)
    if peripheral.state == .connecting || peripheral.state == .connected {
      centralManager?.cancelPeripheralConnection(peripheral)
    }
    peripheral.delegate = nil
    busy.remove(peripheral.identifier)
    connectIfNeeded()
  }
}

// MARK: The central

extension NumberTracer: CBCentralManagerDelegate {
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    restored = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
    print("restored \(restored.count) peripherals")
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    for peripheral in toRead { leave(peripheral) }
    numbers = [:]
    if central.isScanning { central.stopScan() }
    guard central.state == .poweredOn else { return }
    for peripheral in restored { central.cancelPeripheralConnection(peripheral) }
    restored = []
    central.scanForPeripherals(
      withServices: [Self.service],
      options: [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: true)])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard numbers[peripheral.identifier] == nil,
      (advertisementData[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false
    else { return }
    toRead.insert(peripheral)
    connectIfNeeded()
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    timeouts.removeValue(forKey: peripheral.identifier)?.cancel()
    peripheral.delegate = self
    peripheral.discoverServices([Self.service])
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) { leave(peripheral) }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) { leave(peripheral) }
}

extension NumberTracer: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    guard error == nil, let services = peripheral.services, !services.isEmpty else {
      return leave(peripheral)
    }
    for service in services where service.characteristics == nil {
      peripheral.discoverCharacteristics([Self.number], for: service)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    guard let number = service.characteristics?.first(where: { $0.uuid == Self.number }) else {
      return leave(peripheral)
    }
    peripheral.readValue(for: number)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    if let value = characteristic.value, error == nil {
      numbers[peripheral.identifier] = value
      print("read \(String(decoding: value, as: UTF8.self))")
    }
    leave(peripheral)
  }
}

// MARK: The peripheral

extension NumberTracer: CBPeripheralManagerDelegate {
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
    print("restored \(services.count) services")
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    if peripheral.isAdvertising { peripheral.stopAdvertising() }
    guard peripheral.state == .poweredOn else { return }
    peripheral.removeAllServices()
    let service = CBMutableService(type: Self.service, primary: true)
    service.characteristics = [
      CBMutableCharacteristic(
        type: Self.number, properties: [.read, .write], value: nil, permissions: [.readable, .writeable])
    ]
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    if error == nil { peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]]) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    request.value = Data(text.utf8.dropFirst(request.offset))
    peripheral.respond(to: request, withResult: .success)
  }
}
