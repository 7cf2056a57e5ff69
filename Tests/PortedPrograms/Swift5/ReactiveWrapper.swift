import CoreBluetooth

// A wrapper that turns calls into streams, in the style of RxBluetoothKit and CombineCoreBluetooth.

struct AdvertisementValues {
  let advertisementData: [String: Any]

  var localName: String? { advertisementData[CBAdvertisementDataLocalNameKey] as? String }
  var manufacturerData: Data? { advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data }
  var serviceData: [CBUUID: Data]? { advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] }
  var serviceUUIDs: [CBUUID]? { advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] }
  var overflow: [CBUUID]? { advertisementData[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] }
  var txPowerLevel: NSNumber? { advertisementData[CBAdvertisementDataTxPowerLevelKey] as? NSNumber }
  var isConnectable: Bool? { advertisementData[CBAdvertisementDataIsConnectable] as? Bool }
  var solicited: [CBUUID]? { advertisementData[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] }
}

struct Discovery: @unchecked Sendable {
  let peripheral: CBPeripheral
  let values: AdvertisementValues
  let rssi: NSNumber
}

enum RadioState: Int {
  case unknown, resetting, unsupported, unauthorized, poweredOff, poweredOn
}

enum WrapperError: Error, @unchecked Sendable {
  case peripheralConnectionFailed(CBPeripheral, Error?)
  case peripheralDisconnected(CBPeripheral, Error?)
  case characteristicReadFailed(CBCharacteristic, Error?)
}

protocol ManagerType {
  associatedtype Manager: CBManager
  var manager: Manager { get }
}

extension ManagerType {
  var state: RadioState { RadioState(rawValue: manager.state.rawValue) ?? .unsupported }
}

final class CentralWrapper: NSObject, CBCentralManagerDelegate, ManagerType, @unchecked Sendable {
  private(set) lazy var manager = CBCentralManager(
    delegate: self, queue: queue, options: [CBCentralManagerOptionShowPowerAlertKey: false as AnyObject])
  private let queue = DispatchQueue(label: "wrapper", attributes: .concurrent)
  private let lock = NSRecursiveLock()
  private var connecting: [CBPeripheral: CheckedContinuation<Void, Error>] = [:]
  private var found: AsyncStream<Discovery>.Continuation?

  func scan(_ services: [CBUUID]?) -> AsyncStream<Discovery> {
    AsyncStream { continuation in
      found = continuation
      manager.scanForPeripherals(
        withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: true)]
      )
      continuation.onTermination = { [weak self] _ in self?.manager.stopScan() }
    }
  }

  func connect(_ identifier: UUID) async throws {
    guard let peripheral = manager.retrievePeripherals(withIdentifiers: [identifier]).first else {
      throw CBError(.unknownDevice)
    }
    try await withCheckedThrowingContinuation { continuation in
      lock.lock()
      connecting[peripheral] = continuation
      lock.unlock()
      manager.connect(peripheral, options: nil)
    }
  }

  private func finish(_ peripheral: CBPeripheral, _ result: Result<Void, Error>) {
    lock.lock()
    let continuation = connecting.removeValue(forKey: peripheral)
    lock.unlock()
    continuation?.resume(with: result)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard let state = RadioState(rawValue: central.state.rawValue) else { return }
    if state != .poweredOn { found?.finish() }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    found?.yield(
      Discovery(
        peripheral: peripheral, values: AdvertisementValues(advertisementData: advertisementData), rssi: rssi)
    )
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    finish(peripheral, .success(()))
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) { finish(peripheral, .failure(WrapperError.peripheralConnectionFailed(peripheral, error))) }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) { finish(peripheral, .failure(WrapperError.peripheralDisconnected(peripheral, error))) }
}
