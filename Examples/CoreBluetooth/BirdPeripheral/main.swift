// A bird, as Bird watches them: its name, its colour, which a central may change, and its alpha, which changes twice a second
// while a central has subscribed to it. Each is UTF-8. Against CoreBluetooth alone; built in Swift 5 mode.
import CoreBluetooth

enum Bird {
  static let service = CBUUID(string: "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804")
  static let name = CBUUID(string: "B12D0001-5C8E-4E0B-9D55-6F2A7C31E804")
  static let colour = CBUUID(string: "B12D0002-5C8E-4E0B-9D55-6F2A7C31E804")
  static let alpha = CBUUID(string: "B12D0003-5C8E-4E0B-9D55-6F2A7C31E804")
}

final class BirdPeripheral: NSObject, CBPeripheralManagerDelegate {
  private var manager: CBPeripheralManager?
  private var timer: DispatchSourceTimer?
  private var colour = "weiß"
  private var quarters = 3

  private let alphaCharacteristic = CBMutableCharacteristic(
    type: Bird.alpha, properties: [.read, .notify], value: nil, permissions: .readable)

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return print("Bluetooth: \(peripheral.state)") }
    let service = CBMutableService(type: Bird.service, primary: true)
    service.characteristics = [
      // A value that is given here never changes, and is read without a call of the delegate.
      CBMutableCharacteristic(
        type: Bird.name, properties: .read, value: "Möwe".data(using: .utf8), permissions: .readable),
      CBMutableCharacteristic(
        type: Bird.colour, properties: [.read, .write], value: nil, permissions: [.readable, .writeable]),
      alphaCharacteristic,
    ]
    peripheral.removeAllServices()
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
    if let error = error { return print("not added: \(error.localizedDescription)") }
    guard !peripheral.isAdvertising else { return }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Bird", CBAdvertisementDataServiceUUIDsKey: [Bird.service],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    print(error.map { "not advertising: \($0.localizedDescription)" } ?? "advertising")
  }

  // MARK: Requests

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    let value = request.characteristic.uuid == Bird.colour ? Data(colour.utf8) : alpha
    guard request.offset <= value.count else {
      return peripheral.respond(to: request, withResult: .invalidOffset)
    }
    request.value = value.subdata(in: request.offset..<value.count)
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    // A long value comes in parts.
    var bytes = Data()
    for request in requests where request.offset <= bytes.count {
      bytes.replaceSubrange(request.offset..<bytes.count, with: request.value ?? Data())
    }
    guard let text = String(data: bytes, encoding: .utf8) else {
      return peripheral.respond(
        to: requests[0], withResult: CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
    }
    colour = text
    print("colour: \(text)")
    peripheral.respond(to: requests[0], withResult: .success)
  }

  // MARK: Updates

  private var alpha: Data { Data(String(Double(quarters) / 4).utf8) }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    print("watched, \(central.maximumUpdateValueLength) bytes at once")
    guard timer == nil else { return }
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(deadline: .now(), repeating: 0.5)
    timer.setEventHandler { [weak self] in self?.fade() }
    timer.resume()
    self.timer = timer
  }

  private func fade() {
    quarters = (quarters + 1) % 5
    // A value that has no room is not sent: the next one is newer.
    manager?.updateValue(alpha, for: alphaCharacteristic, onSubscribedCentrals: nil)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    print("not watched")
    guard alphaCharacteristic.subscribedCentrals?.isEmpty ?? true else { return }
    timer?.cancel()
    timer = nil
  }
}

let bird = BirdPeripheral()
bird.start()
dispatchMain()
