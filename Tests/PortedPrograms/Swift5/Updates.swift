// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
import CoreBluetooth

// Errors told apart by domain, code and cast, in the style of Nordic's DFU and of Bluejay.

enum UpdateFailure: Int {
  case disconnected = 1
  case rejected = 2
}

func failure(of error: Error?) -> (UpdateFailure, String)? {
  guard let error = error else { return nil }
  let nsError = error as NSError
  if nsError.domain == CBErrorDomain, nsError.code == CBError.peripheralDisconnected.rawValue {
    return (.disconnected, nsError.localizedDescription)
  }
  if let error = error as? CBATTError {
    switch error.code {
    case .insufficientAuthentication, .insufficientEncryption: return (.rejected, "pair first")
    case .invalidHandle: return nil
    default: return (.rejected, "error \(error.code.rawValue)")
    }
  }
  switch error {
  case let error as CBError where error.code == .connectionTimeout: return (.disconnected, "timeout")
  case CBError.notConnected, CBError.connectionFailed: return (.disconnected, "not connected")
  default: return (.rejected, String(describing: error))
  }
}

final class Updater: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private var centralManager: CBCentralManager!
  private weak var target: CBPeripheral?
  private let restoreIdentifier = "updater"
  private var packets: [Data] = []

  func start(_ queue: DispatchQueue = DispatchQueue.main) {
    let options: [String: AnyObject] = [
      CBCentralManagerOptionShowPowerAlertKey: true as NSNumber,
      CBCentralManagerOptionRestoreIdentifierKey: restoreIdentifier as NSString,
    ]
    centralManager = CBCentralManager(delegate: self, queue: queue, options: options)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn: central.scanForPeripherals(withServices: nil, options: nil)
    case .poweredOff, .resetting: target.map { central.cancelPeripheralConnection($0) }
    default: break
    }
  }

  func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
    guard let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] else {
      return
    }
    target = peripherals.first { $0.state == .connected || $0.state == .connecting }
    target?.delegate = self
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    guard RSSI.int32Value > -70, peripheral != target else { return }
    target = peripheral
    central.connect(peripheral, options: [CBConnectPeripheralOptionNotifyOnDisconnectionKey: true])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
    isReconnecting: Bool, error: Error?
  ) { if !isReconnecting, failure(of: error) != nil { target = nil } }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    guard let characteristic = peripheral.services?.first?.characteristics?.first else { return }
    while !packets.isEmpty, peripheral.canSendWriteWithoutResponse {
      peripheral.writeValue(packets.removeFirst(), for: characteristic, type: .withoutResponse)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    peripheral.discoverServices(invalidatedServices.map { $0.uuid })
  }
}
