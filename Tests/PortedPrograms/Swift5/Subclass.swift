import CoreBluetooth

/// Software development kits of devices subclass the manager, and are their own delegate (polarofficial/polar-ble-sdk).
final class DeviceManager: CBCentralManager {
  private let relay = Relay()
  private(set) var scans = 0

  init(queue: DispatchQueue) {
    super.init(delegate: relay, queue: queue, options: [CBCentralManagerOptionShowPowerAlertKey: false])
    relay.manager = self
  }

  override func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
    scans += 1
    super.scanForPeripherals(withServices: serviceUUIDs, options: options)
  }

  override func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
    super.connect(peripheral, options: [CBConnectPeripheralOptionNotifyOnDisconnectionKey: true])
  }
}

private final class Relay: NSObject, CBCentralManagerDelegate {
  weak var manager: DeviceManager?

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { manager?.scanForPeripherals(withServices: nil) }
  }
}

/// A peripheral manager of an app's own, which keeps what it offers.
class AppPeripheral: CBPeripheralManager {
  private(set) var offered: [CBMutableService] = []

  override init(delegate: CBPeripheralManagerDelegate?, queue: DispatchQueue?, options: [String: Any]? = nil)
  {
    super.init(delegate: delegate, queue: queue, options: options)
  }

  override func add(_ service: CBMutableService) {
    offered.append(service)
    super.add(service)
  }
}
