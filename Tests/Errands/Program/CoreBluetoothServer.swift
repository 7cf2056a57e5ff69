import CoreBluetooth
import ErrandList
import HaloRaw

/// A peripheral manager with the served value.
final class CoreBluetoothServer: NSObject {
  private let adapter: String
  private let events: any ServedEvents
  private lazy var manager = CBPeripheralManager(
    delegate: self, queue: nil, options: [CBPeripheralManagerOptionAdapterKey: adapter])
  private let value = CBMutableCharacteristic(
    type: CBUUID(string: ServedValue.uuid), properties: [.read, .write, .notify, .indicate], value: nil,
    permissions: [.readable, .writeable])
  private let steps = Calls<Void>()
  private let room = Calls<Void>()
  /// The clients that have used the value.
  private var met: Set<UUID> = []

  init(_ adapter: String, _ events: any ServedEvents) { (self.adapter, self.events) = (adapter, events) }

  /// Serves until the task is cancelled.
  func run() async throws {
    if manager.state != .poweredOn { try await steps.next() }
    let service = CBMutableService(type: CBUUID(string: ServedValue.service), primary: true)
    service.characteristics = [value]
    manager.add(service)
    try await steps.next()
    manager.startAdvertising([
      CBAdvertisementDataLocalNameKey: ServedValue.name,
      CBAdvertisementDataServiceUUIDsKey: [service.uuid],
    ])
    try await steps.next()
    tell { $0.began(self) }
    defer {
      manager.stopAdvertising()
      manager.removeAllServices()
    }
    try await steps.next()
  }

  private func step(_ error: (any Error)?) {
    if let error { steps.fail(DoorError(error)) } else { steps.send(()) }
  }

  /// What happens is told in its order, and before what is sent afterwards.
  private func tell(_ what: @escaping @BluetoothActor (any ServedEvents) -> Void) {
    let events = self.events
    BluetoothActor.run { what(events) }
  }

  private func subscribersChanged() {
    let count = value.subscribedCentrals?.count ?? 0
    tell { $0.subscribed(count) }
  }

  private func meet(_ central: CBCentral) {
    guard met.insert(central.identifier).inserted else { return }
    // An identifier ends with the address.
    let digits = Array(central.identifier.uuidString.suffix(12))
    let pairs = stride(from: 0, to: 12, by: 2).map { String(digits[$0..<$0 + 2]) }
    let address = pairs.joined(separator: ":")
    tell { $0.met(address) }
  }

  func send(_ bytes: [UInt8]) async throws {
    room.clear()
    while !manager.updateValue(Data(bytes), for: value, onSubscribedCentrals: nil) {
      try await room.next()
    }
  }
}

/// A conformance of its own: what is declared with the protocol would be isolated as that is.
extension CoreBluetoothServer: Served {}

extension CoreBluetoothServer: @preconcurrency CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    if peripheral.state == .poweredOn { step(nil) }
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    step(error)
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    step(error)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    meet(request.central)
    request.value = Data(ServedValue.first).dropFirst(request.offset)
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    guard let first = requests.first else { return }
    meet(first.central)
    // The parts of a long one are in their order.
    let bytes = requests.flatMap { [UInt8]($0.value ?? Data()) }
    tell { $0.written(bytes) }
    peripheral.respond(to: first, withResult: .success)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    meet(central)
    subscribersChanged()
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) { subscribersChanged() }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { room.send(()) }
}
