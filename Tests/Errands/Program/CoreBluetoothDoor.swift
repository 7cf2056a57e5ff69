import CoreBluetooth
import ErrandList
import HaloRaw

/// The library CoreBluetooth, as an app of one actor uses it: what it waits for are calls of the delegate.
final class CoreBluetoothDoor: NSObject {
  private let adapter: String
  private nonisolated let begin = ContinuousClock.now
  private lazy var central = CBCentralManager(
    delegate: self, queue: nil, options: [CBCentralManagerOptionAdapterKey: adapter])
  private let state = Calls<CBManagerState>()
  private let found = Calls<Found>()
  /// Devices that are connecting, connected or about to be disconnected.
  private var devices: [UUID: CoreBluetoothDevice] = [:]
  /// The manager has no strong reference to what was found only.
  private var seen: [UUID: CBPeripheral] = [:]

  private struct Found {
    let identifier: UUID
    let name: String?
  }

  private init(adapter: String) { self.adapter = adapter }

  /// - Parameter adapter: which adapter, as `halo-raw --adapter` takes it
  static func open(_ adapter: String) async throws -> CoreBluetoothDoor {
    let door = CoreBluetoothDoor(adapter: adapter)
    if door.central.state != .poweredOn {
      while try await door.state.next() != .poweredOn {}
    }
    return door
  }

  func another() async throws -> any Door { try await Self.open(adapter) }

  /// Ends nothing by itself: the links of a manager end when it is released.
  func close() async {
    for device in devices.values { await device.disconnect() }
  }

  @BluetoothActor var time: Duration { begin.duration(to: .now) }

  @BluetoothActor func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }

  func connect(to wanted: Wanted, within limit: Duration, isKept: Bool) async throws -> any Device {
    try await within(limit) { try await self.connected(to: wanted, isKept: isKept) }
  }

  private func connected(to wanted: Wanted, isKept: Bool) async throws -> CoreBluetoothDevice {
    let identifier = try await find(wanted)
    guard let peripheral = seen[identifier] else { throw DoorError.notFound }
    let device = CoreBluetoothDevice(peripheral, central, isKept: isKept)
    devices[identifier] = device
    try await device.connect()
    return device
  }

  private func find(_ wanted: Wanted) async throws -> UUID {
    switch wanted {
    case .address(let text):
      let digits = text.filter { $0 != ":" }
      guard let identifier = UUID(uuidString: "68616C6F-7261-8077-8001-\(digits)"),
        let peripheral = central.retrievePeripherals(withIdentifiers: [identifier]).first
      else { throw DoorError.notFound }
      seen[identifier] = peripheral
      return identifier
    case .service(let uuid): return try await firstFound([CBUUID(string: uuid)]) { _ in true }
    case .name(let name): return try await firstFound(nil) { $0 == name }
    }
  }

  private func firstFound(_ services: [CBUUID]?, _ isWanted: (String?) -> Bool) async throws -> UUID {
    found.clear()
    central.scanForPeripherals(withServices: services)
    defer { central.stopScan() }
    while true {
      let one = try await found.next()
      if isWanted(one.name) { return one.identifier }
    }
  }

  func scan(_ take: @BluetoothActor (String) -> Bool) async throws {
    found.clear()
    central.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    defer { central.stopScan() }
    while true {
      if let name = try await found.next().name, await !take(name) { return }
    }
  }

  func serve(_ events: any ServedEvents) async throws {
    try await CoreBluetoothServer(adapter, events).run()
  }
}

/// A conformance of its own: what is declared with the protocol would be isolated as that is.
extension CoreBluetoothDoor: Door {}

extension CoreBluetoothDoor: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) { state.send(central.state) }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    seen[peripheral.identifier] = peripheral
    let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
    found.send(Found(identifier: peripheral.identifier, name: name))
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    devices[peripheral.identifier]?.connected()
  }

  func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
  ) {
    devices[peripheral.identifier]?.disconnected(error)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    devices[peripheral.identifier]?.disconnected(error)
  }
}
