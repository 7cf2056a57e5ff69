// Lets the user choose a ring once, connects to it on each run, and prints its battery until it is interrupted. With the
// argument `forget`, the ring is forgotten. Against CoreBluetooth and AccessorySetupKit alone; built in Swift 6 mode.
import AccessorySetupKit
import CoreBluetooth

@main
@MainActor
final class RingSession: NSObject {
  private static let service = CBUUID(string: "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let requests = CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let answers = CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let batteryCommand: UInt8 = 0x03

  private let session = ASAccessorySession()
  private let forgets = CommandLine.arguments.dropFirst().first == "forget"
  private var central: CBCentralManager?
  private var ring: CBPeripheral?
  private var requestCharacteristic: CBCharacteristic?

  static func main() {
    let program = RingSession()
    program.start()
    withExtendedLifetime(program) { RunLoop.main.run() }
  }

  private func start() {
    session.activate(on: .main) { [weak self] event in
      // The session reports on the main queue.
      MainActor.assumeIsolated { self?.handle(event) }
    }
  }

  // MARK: The accessory

  private func handle(_ event: ASAccessoryEvent) {
    switch event.eventType {
    case .activated: activated()
    case .accessoryAdded:
      print("saved \(event.accessory?.displayName ?? "?")")
      connect()
    case .accessoryRemoved: print("forgot \(event.accessory?.displayName ?? "?")")
    default: break
    }
  }

  private func activated() {
    switch (session.accessories.first, forgets) {
    case (let accessory?, true): forget(accessory)
    case (nil, true): end("no ring is saved")
    case (_?, false): connect()
    case (nil, false): pick()
    }
  }

  private func pick() {
    let descriptor = ASDiscoveryDescriptor()
    descriptor.bluetoothServiceUUID = Self.service
    let item = ASPickerDisplayItem(name: "Smart ring", productImage: nil, descriptor: descriptor)
    session.showPicker(for: [item]) { [weak self] error in
      guard let error else { return }
      MainActor.assumeIsolated { self?.end("not chosen: \(error.localizedDescription)") }
    }
  }

  private func forget(_ accessory: ASAccessory) {
    session.removeAccessory(accessory) { [weak self] error in
      MainActor.assumeIsolated { self?.end(error.map { "not forgotten: \($0.localizedDescription)" }) }
    }
  }

  private func connect() {
    central = CBCentralManager(delegate: self, queue: .main)
  }

  private func end(_ failure: String?) {
    if let failure { print(failure) }
    session.invalidate()
    exit(failure == nil ? 0 : 1)
  }

  // MARK: The ring's frames

  /// 16 bytes: the command, its arguments, and the sum of the others.
  private func frame(_ command: UInt8) -> Data {
    var bytes = [UInt8](repeating: 0, count: 16)
    bytes[0] = command
    bytes[15] = bytes.reduce(0, &+)
    return Data(bytes)
  }

  private func requestBattery() {
    guard let ring, let requestCharacteristic else { return }
    ring.writeValue(frame(Self.batteryCommand), for: requestCharacteristic, type: .withResponse)
  }

  private func received(_ value: Data) {
    let bytes = Array(value)
    guard bytes.count == 16, bytes[0] == Self.batteryCommand, bytes[15] == bytes.dropLast().reduce(0, &+)
    else { return }
    print("battery \(bytes[1]) %\(bytes[2] == 1 ? ", charging" : "")")
    DispatchQueue.main.asyncAfter(deadline: .now() + 60) { [weak self] in
      MainActor.assumeIsolated { self?.requestBattery() }
    }
  }
}

// MARK: - CoreBluetooth

extension RingSession: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return print("Bluetooth: \(central.state)") }
    guard let identifier = session.accessories.first?.bluetoothIdentifier,
      let ring = central.retrievePeripherals(withIdentifiers: [identifier]).first
    else { return }
    self.ring = ring
    ring.delegate = self
    print("connecting to \(ring.name ?? "the ring")")
    // Waits until the ring is near.
    central.connect(ring)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    print("connected")
    peripheral.discoverServices([Self.service])
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    print("not connected: \(error?.localizedDescription ?? "?")")
    central.connect(peripheral)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    print("disconnected: \(error?.localizedDescription ?? "by this program")")
    requestCharacteristic = nil
    central.connect(peripheral)
  }
}

extension RingSession: @preconcurrency CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first(where: { $0.uuid == Self.service }) else {
      return end("the accessory has no service of a ring")
    }
    peripheral.discoverCharacteristics([Self.requests, Self.answers], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    for characteristic in service.characteristics ?? [] {
      switch characteristic.uuid {
      case Self.requests: requestCharacteristic = characteristic
      case Self.answers: peripheral.setNotifyValue(true, for: characteristic)
      default: break
      }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    if let error { return print("no notifications: \(error.localizedDescription)") }
    requestBattery()
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let value = characteristic.value { received(value) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { print("not written: \(error.localizedDescription)") }
  }
}
