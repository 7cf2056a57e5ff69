import CoreBluetooth

/// The other controller: it offers one characteristic, in a new service whenever the radio is on.
final class MessagePeripheral: NSObject {
  private let text: String
  private let queue: DispatchQueue
  private var manager: CBPeripheralManager?
  private lazy var message = CBMutableCharacteristic(
    type: MessageService.message, properties: [.read, .write, .writeWithoutResponse], value: nil,
    permissions: [.readable, .writeable])

  init(_ text: String, _ queue: DispatchQueue) {
    self.text = text
    self.queue = queue
    super.init()
  }

  func turnOn() {
    guard manager == nil else { return }
    manager = CBPeripheralManager(
      delegate: self, queue: queue,
      options: [CBPeripheralManagerOptionRestoreIdentifierKey: "messages.peripheral"])
  }

  /// Requests of other services are none of its own.
  private func isOurs(_ request: CBATTRequest) -> Bool {
    request.characteristic.service?.uuid == MessageService.uuid
  }
}

extension MessagePeripheral: CBPeripheralManagerDelegate {
  func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
    let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
    print("restored \(services.count) services")
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: MessageService.uuid, primary: true)
    service.characteristics = [message]
    peripheral.removeAllServices()
    peripheral.add(service)
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "TR", CBAdvertisementDataServiceUUIDsKey: [MessageService.uuid],
    ])
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard isOurs(request) else { return peripheral.respond(to: request, withResult: .readNotPermitted) }
    request.value = Data(text.utf8.dropFirst(request.offset))
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard requests.allSatisfy(isOurs) else {
      return peripheral.respond(to: requests[0], withResult: .writeNotPermitted)
    }
    for request in requests {
      if let value = request.value { print("written \(String(decoding: value, as: UTF8.self))") }
    }
    peripheral.respond(to: requests[0], withResult: .success)
  }
}
