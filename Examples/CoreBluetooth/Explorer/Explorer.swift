// Connects to the peripheral whose name begins with the first argument, and prints what can be read of it. Against
// CoreBluetooth alone; built in Swift 6 mode, on the main actor.
import CoreBluetooth

@main
@MainActor
final class Explorer: NSObject, @preconcurrency CBCentralManagerDelegate, @preconcurrency CBPeripheralDelegate
{
  private let wanted: String
  private var central: CBCentralManager?
  private var peripheral: CBPeripheral?
  /// Answers that have not come.
  private var open = 0

  private init(_ wanted: String) {
    self.wanted = wanted
  }

  static func main() {
    let explorer = Explorer(CommandLine.arguments.dropFirst().first ?? "")
    explorer.central = CBCentralManager(delegate: explorer, queue: .main)
    withExtendedLifetime(explorer) { RunLoop.main.run() }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn {
      central.scanForPeripherals()
    } else {
      print("Bluetooth: \(central.state)")
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard let name = peripheral.name, name.hasPrefix(wanted), self.peripheral == nil else { return }
    print("\(name), \(rssi) dBm, \(peripheral.identifier)")
    central.stopScan()
    self.peripheral = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    if let error { print("disconnected: \(error.localizedDescription)") }
    exit(error == nil ? 0 : 1)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] {
      open += 1
      peripheral.discoverCharacteristics(nil, for: service)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    print("service \(service.uuid)")
    for characteristic in service.characteristics ?? [] {
      print("  \(characteristic.uuid)")
      guard characteristic.properties.contains(.read) else { continue }
      open += 1
      peripheral.readValue(for: characteristic)
    }
    answered()
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    let text = error?.localizedDescription ?? characteristic.value.map(describe) ?? ""
    print("  \(characteristic.uuid): \(text)")
    answered()
  }

  private func describe(_ value: Data) -> String {
    if let text = String(data: value, encoding: .utf8), !text.isEmpty,
      text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
    {
      return text
    }
    return value.map { String(format: "%02x", $0) }.joined(separator: " ")
  }

  private func answered() {
    open -= 1
    if open == 0, let peripheral { central?.cancelPeripheralConnection(peripheral) }
  }
}
