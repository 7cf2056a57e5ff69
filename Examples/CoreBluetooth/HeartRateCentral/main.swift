// Prints the heart rate of the first strap that advertises, and connects again when it comes back. Against CoreBluetooth
// alone; built in Swift 5 mode.
import CoreBluetooth

final class HeartRateCentral: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let service = CBUUID(string: "180D")
  private let measurement = CBUUID(string: "2A37")
  private var central: CBCentralManager?
  private var strap: CBPeripheral?

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    print("Bluetooth: \(central.state)")
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    print("found \(peripheral.name ?? "a strap"), \(rssi) dBm")
    central.stopScan()
    strap = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([service])
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) {
    print("not connected: \(error?.localizedDescription ?? "?")")
    central.connect(peripheral)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) {
    print("disconnected: \(error?.localizedDescription ?? "by us")")
    central.connect(peripheral)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    for service in peripheral.services ?? [] {
      peripheral.discoverCharacteristics([measurement], for: service)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    for characteristic in service.characteristics ?? [] {
      peripheral.setNotifyValue(true, for: characteristic)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    guard let value = characteristic.value, let rate = heartRate(Array(value)) else { return }
    print("\(rate) bpm")
  }

  /// The flags, then the rate in one byte or in two, least significant first.
  private func heartRate(_ bytes: [UInt8]) -> Int? {
    guard let flags = bytes.first else { return nil }
    let width = flags & 1 == 0 ? 1 : 2
    guard bytes.count > width else { return nil }
    return width == 1 ? Int(bytes[1]) : Int(bytes[1]) | Int(bytes[2]) << 8
  }
}

let program = HeartRateCentral()
program.start()
dispatchMain()
