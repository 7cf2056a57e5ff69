import ATT
import CoreBluetooth
import HaloGATT
import HCI
import HaloDevices
import HaloRaw

/// Peripherals for tests.
@BluetoothActor
enum Devices {
  static let heartRate = BluetoothUUID(UInt16(0x180D))
  static let measurement = BluetoothUUID(UInt16(0x2A37))
  static let location = BluetoothUUID(UInt16(0x2A38))
  static let controlPoint = BluetoothUUID(UInt16(0x2A39))
  static let battery = BluetoothUUID(UInt16(0x180F))
  static let batteryLevel = BluetoothUUID(UInt16(0x2A19))

  /// The attributes of a heart-rate strap.
  ///
  /// - Returns: also the handles of the measurement and of the control point
  static func strapAttributes(
    _ name: String = "Strap"
  ) -> (table: AttributeDatabase, measurement: AttributeHandle, control: AttributeHandle) {
    let table = AttributeDatabase()
    table.addService(BluetoothUUID(UInt16(0x1800)))
    table.addCharacteristic(BluetoothUUID(UInt16(0x2A00)), .read, value: Array(name.utf8))
    table.addService(heartRate)
    let measurement = table.addCharacteristic(measurement, .notify)
    table.addDescriptor(GATTUUID.characteristicUserDescription, value: Array("beats".utf8))
    table.addCharacteristic(location, .read, value: [1])
    let control = table.addCharacteristic(controlPoint, [.write, .writeWithoutResponse])
    table.addService(battery)
    table.addCharacteristic(batteryLevel, [.read, .notify], value: [81])
    return (table, measurement, control)
  }

  /// A heart-rate strap: each write to the control point is followed by a measurement.
  static func strap(_ name: String = "Strap", _ address: String = "C0:00:00:00:00:01") -> SimulatedPeripheral
  {
    let (table, measurement, control) = strapAttributes(name)
    let strap = SimulatedPeripheral(
      address, [.flags(ADFlags(rawValue: 6)), .localName(Array(name.utf8), isComplete: true)],
      scanResponse: [.serviceUUIDs([heartRate], width: .two, isComplete: true), .txPower(4)], table)
    strap.onWrite = { handle, value in handle == control ? [(measurement, [0] + value)] : [] }
    return strap
  }

  /// It advertises its service, and has its name in the scan response, of which the first two are not heard.
  static func ring() -> SimulatedPeripheral {
    let ring = SimulatedPeripheral(
      "C0:00:00:00:00:01", [.serviceUUIDs([heartRate], width: .two, isComplete: true)],
      scanResponse: [.localName(Array("Ring".utf8), isComplete: true)])
    ring.lostResponses = 2
    return ring
  }
}

extension Recorder {
  /// A recorder with a manager on a radio, which is powered on.
  static func start(_ radio: ManagedAdapter, folder: String? = nil, options: [String: String]? = nil) async
    -> Recorder
  {
    let recorder = Recorder()
    await recorder.perform {
      $0.central = CBCentralManager(
        delegate: $0, queue: $0.queue, radio: radio, folder: folder, options: options)
    }
    await recorder.until("poweredOn")
    return recorder
  }

  /// Scans for a peripheral and connects to it.
  func connect(_ name: String) async {
    on("found \(name)") { me in
      me.central.stopScan()
      if let peripheral = me.peripherals[name] { me.central.connect(peripheral) }
    }
    await perform { $0.central.scanForPeripherals() }
    await until("connected \(name)")
  }

  /// Discovers all services and characteristics of a connected peripheral.
  func discover(_ name: String) async {
    await perform { $0.peripherals[name]?.discoverServices() }
    await until("services 180D,180F")
    await perform { me in
      guard let peripheral = me.peripherals[name] else { return }
      for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(for: service) }
    }
    await until("characteristics of 180F: 2A19")
  }
}

/// A recorder that is connected to the strap and has discovered it, and its radio.
func connected(_ strap: SimulatedPeripheral) async -> (Recorder, ManagedAdapter) {
  await connected(SimulatedRadio([strap]))
}

func connected(_ simulated: SimulatedRadio) async -> (Recorder, ManagedAdapter) {
  let radio = await ManagedAdapter.kept(simulated)
  let recorder = await Recorder.start(radio)
  await recorder.connect("Strap")
  await recorder.discover("Strap")
  return (recorder, radio)
}
