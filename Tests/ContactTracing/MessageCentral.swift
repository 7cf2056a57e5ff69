import CoreBluetooth

// The structure of opentrace-community/opentrace-ios: a controller for each role on one queue, and scans in windows. What is
// met in a window is connected to once, read and written to, and left.

enum MessageService {
  static let uuid = CBUUID(string: "B82AB3FC-1595-4F6A-80F0-FE094CC218F9")
  static let message = CBUUID(string: "117BDD58-57CE-4E7A-8E87-7CCCDDA2A804")
}

final class MessageCentral: NSObject {
  /// From one window to the next, and how long one is.
  private static let (interval, duration): (TimeInterval, TimeInterval) = (3, 2)

  private let text: String
  private let queue: DispatchQueue
  private var central: CBCentralManager?
  private var met: [UUID: CBPeripheral] = [:]
  private var timer: Timer?

  init(_ text: String, _ queue: DispatchQueue) {
    self.text = text
    self.queue = queue
    super.init()
  }

  func turnOn() {
    guard central == nil else { return }
    central = CBCentralManager(
      delegate: self, queue: queue,
      options: [CBCentralManagerOptionRestoreIdentifierKey: "messages.central"])
  }

  private func beginWindow() {
    guard let central else { return }
    for peripheral in met.values { central.cancelPeripheralConnection(peripheral) }
    met = [:]
    central.scanForPeripherals(withServices: [MessageService.uuid])
    queue.asyncAfter(deadline: .now() + Self.duration) { self.central?.stopScan() }
  }
}

extension MessageCentral: CBCentralManagerDelegate {
  /// What was restored is left alone: the first window meets it anew.
  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
    print("restored \(peripherals.count) peripherals")
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn:
      DispatchQueue.main.async {
        self.timer = Timer.scheduledTimer(withTimeInterval: Self.interval, repeats: true) { _ in
          self.queue.async { self.beginWindow() }
        }
        self.timer?.fire()
      }
    default: DispatchQueue.main.async { self.timer?.invalidate() }
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard met[peripheral.identifier] == nil else { return }
    met[peripheral.identifier] = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.delegate = self
    peripheral.discoverServices([MessageService.uuid])
  }
}

extension MessageCentral: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    guard let service = peripheral.services?.first(where: { $0.uuid == MessageService.uuid }) else { return }
    peripheral.discoverCharacteristics([MessageService.message], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    guard let message = service.characteristics?.first(where: { $0.uuid == MessageService.message }) else {
      return
    }
    // The one does not wait for the other.
    peripheral.readValue(for: message)
    peripheral.writeValue(Data(text.utf8), for: message, type: .withResponse)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    if let value = characteristic.value, error == nil {
      print("read \(String(decoding: value, as: UTF8.self))")
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?
  ) { central?.cancelPeripheralConnection(peripheral) }
}
