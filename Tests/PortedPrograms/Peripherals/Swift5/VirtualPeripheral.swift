// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
import CoreBluetooth

// A strap and a store of a note, in the style of the virtual peripherals that apps are developed with.

public final class VirtualPeripheral: NSObject, CBPeripheralManagerDelegate {
  static let heartRateServiceUUID = CBUUID(string: "0x180D".replacingOccurrences(of: "0x", with: ""))
  static let measurementUUID = CBUUID(string: "2A37")
  static let locationUUID = CBUUID(string: "2A38")
  static let controlPointUUID = CBUUID(string: "2A39")
  static let noteServiceUUID = CBUUID(string: "FFE0")
  static let noteUUID = CBUUID(string: "FFE1")

  /// The code with which the control point is refused, which the Heart Rate service defines.
  static let controlPointNotSupported = CBATTError.Code(rawValue: 0x80) ?? .unlikelyError

  private var manager: CBPeripheralManager!
  private let measurement = CBMutableCharacteristic(
    type: VirtualPeripheral.measurementUUID, properties: .notify, value: nil, permissions: .readable)
  private let note = CBMutableCharacteristic(
    type: VirtualPeripheral.noteUUID, properties: [.read, .write, .indicate], value: nil,
    permissions: [.readable, .writeable])
  private var pendingServices = 2
  private var beats: UInt8 = 60
  public private(set) var text = "note"
  public private(set) var restored = 0

  public override init() { super.init() }

  public func start(
    _ make: (CBPeripheralManagerDelegate) -> CBPeripheralManager = { delegate in
      let options: [String: Any] = [
        CBPeripheralManagerOptionRestoreIdentifierKey: "virtual",
        CBPeripheralManagerOptionShowPowerAlertKey: NSNumber(true),
      ]
      return CBPeripheralManager(
        delegate: delegate, queue: DispatchQueue(label: "virtual", attributes: .concurrent), options: options)
    }
  ) {
    manager = make(self)
  }

  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard case .poweredOn = peripheral.state else {
      pendingServices = 2
      return
    }
    let heart = CBMutableService(type: Self.heartRateServiceUUID, primary: true)
    heart.characteristics = [
      measurement,
      CBMutableCharacteristic(
        type: Self.locationUUID, properties: [.read], value: Data([UInt8(3)]), permissions: [.readable]),
      CBMutableCharacteristic(
        type: Self.controlPointUUID, properties: [.write], value: nil, permissions: [.writeable]),
    ]
    let description = CBMutableDescriptor(
      type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "A note")
    note.descriptors = [description]
    let notes = CBMutableService(type: Self.noteServiceUUID, primary: true)
    notes.characteristics = [note]
    [heart, notes].forEach(peripheral.add)
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    restored = (dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService])?.count ?? 0
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?
  ) {
    guard error == nil else { return NSLog("%@", error!.localizedDescription) }
    pendingServices -= 1
    guard pendingServices == 0, !peripheral.isAdvertising else { return }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Virtual",
      CBAdvertisementDataServiceUUIDsKey: [Self.heartRateServiceUUID, Self.noteServiceUUID],
    ])
  }

  public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    if let error = error as? CBError, error.code == .alreadyAdvertising { return }
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    guard characteristic == measurement else { return }
    peripheral.setDesiredConnectionLatency(.low, for: central)
    beat()
  }

  private func beat() {
    beats += 1
    let isSent = manager.updateValue(
      Data([0, beats]), for: measurement, onSubscribedCentrals: measurement.subscribedCentrals)
    if isSent, beats < 70 { beat() }
  }

  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { beat() }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.characteristic.isEqual(note), let data = text.data(using: .utf8) else {
      peripheral.respond(to: request, withResult: .attributeNotFound)
      return
    }
    if request.offset > data.count {
      peripheral.respond(to: request, withResult: CBATTError.invalidOffset)
      return
    }
    request.value = data.subdata(
      in: NSRange(location: request.offset, length: data.count - request.offset).range)
    peripheral.respond(to: request, withResult: .success)
  }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let first = requests.first, first.characteristic.uuid == Self.noteUUID else {
      return peripheral.respond(to: requests.first!, withResult: Self.controlPointNotSupported)
    }
    var bytes = [UInt8]()
    for request in requests {
      guard request.offset <= bytes.count, let value = request.value else {
        return peripheral.respond(to: first, withResult: .invalidOffset)
      }
      bytes.replaceSubrange(request.offset..., with: value)
    }
    text = String(bytes: bytes, encoding: .utf8) ?? text
    peripheral.respond(to: first, withResult: .success)
    _ = peripheral.updateValue(Data(bytes), for: note, onSubscribedCentrals: nil)
  }
}

extension NSRange {
  fileprivate var range: Range<Int> { location..<(location + length) }
}
