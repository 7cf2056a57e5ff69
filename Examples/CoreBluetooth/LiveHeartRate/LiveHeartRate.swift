// Lets the user choose a ring once, connects to it on each run, and prints its battery and its heart rate: ten values, or as
// many as the argument says. Against CoreBluetooth and AccessorySetupKit alone; built in Swift 6 mode.
import AccessorySetupKit
import CoreBluetooth

@main
@MainActor
final class LiveHeartRate: NSObject {
  private static let service = CBUUID(string: "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let requests = CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let answers = CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
  private static let batteryCommand: UInt8 = 0x03
  private static let measureCommand: UInt8 = 0x69
  private static let stopCommand: UInt8 = 0x6A
  /// A ring adds it to a command that it does not know.
  private static let refusal: UInt8 = 0x80
  private static let heartRate: UInt8 = 1
  private static let startAction: UInt8 = 1
  private static let continueAction: UInt8 = 3

  private let session = ASAccessorySession()
  /// How many values are to be printed.
  private let wanted = CommandLine.arguments.dropFirst().first.map { Int($0) ?? 0 } ?? 10
  private var central: CBCentralManager?
  private var ring: CBPeripheral?
  private var requestCharacteristic: CBCharacteristic?
  private var isMeasuring = false
  private var isStopping = false
  /// Why the measurement was stopped too early; nil when all values were printed.
  private var failure: String?
  private var printed = 0
  /// How often in a row the program has looked, and found no new frame.
  private var silences = 0

  static func main() {
    let program = LiveHeartRate()
    program.start()
    withExtendedLifetime(program) { RunLoop.main.run() }
  }

  private func start() {
    guard wanted > 0 else { return end("the argument has to be a number of heart rates") }
    session.activate(on: .main) { [weak self] event in
      // The session reports on the main queue.
      MainActor.assumeIsolated { self?.handle(event) }
    }
  }

  // MARK: The accessory

  private func handle(_ event: ASAccessoryEvent) {
    switch event.eventType {
    case .activated where session.accessories.isEmpty: pick()
    case .activated, .accessoryAdded: central = CBCentralManager(delegate: self, queue: .main)
    default: break
    }
  }

  private func pick() {
    let descriptor = ASDiscoveryDescriptor()
    // 0x1234, which is assigned to no company. Rings advertise it.
    descriptor.bluetoothCompanyIdentifier = ASBluetoothCompanyIdentifier(4660)
    let item = ASPickerDisplayItem(name: "Smart ring", productImage: nil, descriptor: descriptor)
    session.showPicker(for: [item]) { [weak self] error in
      guard let error else { return }
      MainActor.assumeIsolated { self?.end("not chosen: \(error.localizedDescription)") }
    }
  }

  private func end(_ failure: String?) {
    if let failure { print(failure) }
    exit(failure == nil ? 0 : 1)
  }

  private func after(_ seconds: Double, _ action: @escaping @MainActor @Sendable (LiveHeartRate) -> Void) {
    DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { [self] in
      MainActor.assumeIsolated { action(self) }
    }
  }

  // MARK: The ring's frames

  /// Sends a frame of 16 bytes: the command and its arguments, zeros, and the sum of the others.
  private func send(_ bytes: UInt8...) {
    guard let ring, let requestCharacteristic else { return }
    var frame = bytes + [UInt8](repeating: 0, count: 16 - bytes.count)
    frame[15] = frame.reduce(0, &+)
    ring.writeValue(Data(frame), for: requestCharacteristic, type: .withResponse)
  }

  private func received(_ value: Data) {
    let bytes = Array(value)
    guard bytes.count == 16, bytes[15] == bytes.dropLast().reduce(0, &+) else { return }
    silences = 0
    switch bytes[0] {
    case Self.batteryCommand: if !isMeasuring { measure(battery: bytes[1], isCharging: bytes[2] == 1) }
    case Self.measureCommand: if bytes[1] == Self.heartRate { measured(status: bytes[2], rate: bytes[3]) }
    case Self.measureCommand | Self.refusal: stop("the ring does not measure heart rates")
    case Self.stopCommand: if isStopping, let ring { central?.cancelPeripheralConnection(ring) }
    default: break
    }
  }

  private func measure(battery: UInt8, isCharging: Bool) {
    print("battery \(battery) %\(isCharging ? ", charging" : "")")
    print("measuring")
    isMeasuring = true
    send(Self.measureCommand, Self.heartRate, Self.startAction)
  }

  /// - Parameter rate: in beats per minute; 0 while the ring searches for the pulse
  private func measured(status: UInt8, rate: UInt8) {
    guard status == 0 else {
      return stop("no heart rate: \(status == 1 ? "the ring is not worn" : "status \(status)")")
    }
    guard rate > 0, !isStopping else { return }
    print("heart rate \(rate) bpm")
    printed += 1
    if printed == wanted { stop() }
  }

  /// Looks every two seconds whether the ring is silent. A measurement ends by itself after half a minute, without a word; then
  /// the ring is asked to continue.
  private func watch() {
    silences += 1
    if silences == 10 { return end("the ring does not answer") }
    if silences > 1, isMeasuring, !isStopping {
      send(Self.measureCommand, Self.heartRate, Self.continueAction)
    }
    after(2) { $0.watch() }
  }

  /// Stops the measurement and disconnects, which ends the program.
  private func stop(_ failure: String? = nil) {
    guard !isStopping else { return }
    isStopping = true
    self.failure = failure
    send(Self.stopCommand, Self.heartRate)
    // The answer ends the program before.
    after(1) { $0.end($0.failure) }
  }
}

// MARK: - CoreBluetooth

extension LiveHeartRate: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn: break
    case .unknown, .resetting: return
    default: return end("Bluetooth: \(central.state)")
    }
    guard let identifier = session.accessories.first?.bluetoothIdentifier,
      let ring = central.retrievePeripherals(withIdentifiers: [identifier]).first
    else { return end("the ring that was chosen is not known any more") }
    self.ring = ring
    ring.delegate = self
    print("connecting")
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
    end("not connected: \(error?.localizedDescription ?? "?")")
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    end(isStopping ? failure : "disconnected: \(error?.localizedDescription ?? "?")")
  }
}

extension LiveHeartRate: @preconcurrency CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first(where: { $0.uuid == Self.service }) else {
      return end("the accessory has no service of a ring")
    }
    peripheral.discoverCharacteristics([Self.requests, Self.answers], for: service)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    let found = service.characteristics ?? []
    requestCharacteristic = found.first { $0.uuid == Self.requests }
    guard requestCharacteristic != nil, let answers = found.first(where: { $0.uuid == Self.answers }) else {
      return end("the accessory lacks a characteristic")
    }
    peripheral.setNotifyValue(true, for: answers)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
    error: (any Error)?
  ) {
    if let error { return end("no notifications: \(error.localizedDescription)") }
    send(Self.batteryCommand)
    watch()
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let value = characteristic.value { received(value) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { end("not written: \(error.localizedDescription)") }
  }
}
