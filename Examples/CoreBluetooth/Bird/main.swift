// Prints the name, the colour and the alpha of a bird, a peripheral that has each as UTF-8 in a characteristic, and scans
// again when it leaves. Against CoreBluetooth alone; built in Swift 5 mode.
import CoreBluetooth

enum Bird {
  static let service = CBUUID(string: "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804")
  static let name = CBUUID(string: "B12D0001-5C8E-4E0B-9D55-6F2A7C31E804")
  static let colour = CBUUID(string: "B12D0002-5C8E-4E0B-9D55-6F2A7C31E804")
  static let alpha = CBUUID(string: "B12D0003-5C8E-4E0B-9D55-6F2A7C31E804")
}

final class BirdWatcher: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private var central: CBCentralManager?
  private var bird: CBPeripheral?
  private var values: [CBUUID: String] = [:]

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }

  private func scan() {
    bird = nil
    values = [:]
    central?.scanForPeripherals(withServices: [Bird.service])
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return print("Bluetooth: \(central.state)") }
    scan()
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard bird == nil else { return }
    print("found \(peripheral.name ?? "a bird"), \(rssi) dBm")
    central.stopScan()
    bird = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([Bird.service])
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) {
    print("not connected: \(error?.localizedDescription ?? "?")")
    scan()
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) {
    print("left: \(error?.localizedDescription ?? "disconnected")")
    scan()
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    for service in peripheral.services ?? [] {
      peripheral.discoverCharacteristics([Bird.name, Bird.colour, Bird.alpha], for: service)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    for characteristic in service.characteristics ?? [] {
      peripheral.readValue(for: characteristic)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    guard let value = characteristic.value, let text = String(data: value, encoding: .utf8) else {
      return print("\(characteristic.uuid): \(error?.localizedDescription ?? "not UTF-8")")
    }
    values[characteristic.uuid] = text
    guard let name = values[Bird.name], let colour = values[Bird.colour],
      let alpha = values[Bird.alpha].flatMap(Double.init)
    else { return }
    print("\(name): \(colour), alpha \(alpha)")
  }
}

let watcher = BirdWatcher()
watcher.start()
dispatchMain()
