// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
import CoreBluetooth

// A text that is sent in pieces, in the style of Apple's sample "Transferring Data Between Bluetooth Low Energy Devices".

public struct TransferService {
  public static let serviceUUID = CBUUID(string: "E20A39F4-73F5-4BC4-A12F-17D1AD07A961")
  public static let characteristicUUID = CBUUID(string: "08590F7E-DB05-467E-8757-72F6FAEB13D4")
}

public final class TransferSender: NSObject {
  var peripheralManager: CBPeripheralManager!
  var transferCharacteristic: CBMutableCharacteristic?
  var connectedCentral: CBCentral?
  var dataToSend: Data
  var sendDataIndex: Int = 0
  private var sendingEOM = false
  /// What centrals have written.
  public private(set) var received: [String] = []

  public init(_ text: String) {
    dataToSend = text.data(using: .utf8)!
    super.init()
  }

  public func start(
    _ make: (CBPeripheralManagerDelegate) -> CBPeripheralManager = {
      CBPeripheralManager(
        delegate: $0, queue: nil, options: [CBPeripheralManagerOptionShowPowerAlertKey: true])
    }
  ) {
    peripheralManager = make(self)
  }

  public func stop() {
    peripheralManager.stopAdvertising()
    peripheralManager = nil
  }

  private func setupPeripheral() {
    let transferCharacteristic = CBMutableCharacteristic(
      type: TransferService.characteristicUUID,
      properties: [.notify, .writeWithoutResponse],
      value: nil,
      permissions: [.readable, .writeable])
    let transferService = CBMutableService(type: TransferService.serviceUUID, primary: true)
    transferService.characteristics = [transferCharacteristic]
    peripheralManager.add(transferService)
    self.transferCharacteristic = transferCharacteristic
  }

  private func sendData() {
    guard let transferCharacteristic = transferCharacteristic, let central = connectedCentral else { return }
    if sendingEOM {
      let didSend = peripheralManager.updateValue(
        "EOM".data(using: .utf8)!, for: transferCharacteristic, onSubscribedCentrals: nil)
      if didSend { sendingEOM = false }
      return
    }
    if sendDataIndex >= dataToSend.count { return }
    var didSend = true
    while didSend {
      var amountToSend = dataToSend.count - sendDataIndex
      amountToSend = min(amountToSend, min(20, central.maximumUpdateValueLength))
      let chunk = dataToSend.subdata(in: sendDataIndex..<(sendDataIndex + amountToSend))
      didSend = peripheralManager.updateValue(chunk, for: transferCharacteristic, onSubscribedCentrals: nil)
      if !didSend { return }
      sendDataIndex += amountToSend
      if sendDataIndex >= dataToSend.count {
        sendingEOM = true
        let eomSent = peripheralManager.updateValue(
          "EOM".data(using: .utf8)!, for: transferCharacteristic, onSubscribedCentrals: nil)
        if eomSent { sendingEOM = false }
        return
      }
    }
  }
}

extension TransferSender: CBPeripheralManagerDelegate {
  public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    switch peripheral.state {
    case .poweredOn:
      setupPeripheral()
      peripheralManager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [TransferService.serviceUUID]])
    case .poweredOff, .resetting, .unsupported, .unknown: return
    case .unauthorized:
      switch peripheral.authorization {
      case .denied, .restricted: return
      default: return
      }
    @unknown default: return
    }
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    sendDataIndex = 0
    connectedCentral = central
    sendData()
  }

  public func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) { connectedCentral = nil }

  public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendData() }

  public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for aRequest in requests {
      guard let requestValue = aRequest.value,
        let stringFromData = String(data: requestValue, encoding: .utf8)
      else { continue }
      received.append(stringFromData)
    }
  }
}
