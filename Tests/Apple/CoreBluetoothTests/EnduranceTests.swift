import CoreBluetooth
import HaloBluetoothCore
import HaloDevices
import HaloRaw
import TestSupport
import Testing

/// Twenty minutes of virtual time: nothing grows, nothing stays behind, and each peripheral is connected at the end.
@Suite(.timeLimit(.minutes(60))) struct EnduranceTests {
  private static let count = 16
  private static let minutes = 20

  /// A program that connects to every strap that it hears, reads, subscribes and writes, and connects again when one
  /// leaves.
  private final class Keeper: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    let queue = DispatchQueue(label: "EnduranceTests")
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    nonisolated(unsafe) var central: CBCentralManager!
    nonisolated(unsafe) var peripherals: Set<CBPeripheral> = []
    nonisolated(unsafe) var connections = 0
    nonisolated(unsafe) var values = 0
    nonisolated(unsafe) var faults: [String] = []

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn { central.scanForPeripherals() }
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi: NSNumber
    ) {
      guard peripherals.insert(peripheral).inserted else { return }
      peripheral.delegate = self
      central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
      connections += 1
      if peripheral.services != nil { faults.append("services of an earlier link") }
      peripheral.discoverServices([CBUUID(string: "180D"), CBUUID(string: "180F")])
    }

    func centralManager(
      _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) { faults.append("failed: \(error.map { "\($0)" } ?? "?")") }

    func centralManager(
      _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) { central.connect(peripheral) }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
      for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(for: service) }
    }

    func peripheral(
      _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
      for characteristic in service.characteristics ?? [] {
        if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
        if characteristic.properties.contains(.notify) {
          peripheral.setNotifyValue(true, for: characteristic)
        }
        if characteristic.properties.contains(.write) {
          peripheral.writeValue(Data([60]), for: characteristic, type: .withResponse)
        }
      }
    }

    func peripheral(
      _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { values += 1 }

    /// Waits until the queue has done what is there.
    func settle() async {
      await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
  }

  /// The straps and their radio, in a time that the test advances.
  @BluetoothActor
  private final class Surroundings {
    private let timers = Timers()
    private let straps: [SimulatedPeripheral]
    let simulated: SimulatedRadio

    init(_ count: Int) {
      straps = (0..<count).map { Devices.strap("Strap \($0)", "C0:00:00:00:00:\($0 + 10)") }
      simulated = SimulatedRadio(straps, timers: timers)
    }

    func advance() { timers.advance(by: .milliseconds(100)) }

    func change(_ number: UInt64, _ event: UInt64) {
      let strap = straps[Int(number % UInt64(straps.count))]
      switch event % 4 {
      case 0: strap.vanish()
      case 1: strap.leave()
      default: strap.isPresent = true
      }
    }

    func allCome() {
      for strap in straps { strap.isPresent = true }
    }

    var links: [Int] { straps.map { simulated.linkCount(to: $0) } }
    var connections: Int { straps.reduce(0) { $0 + $1.connectionCount } }
  }

  @Test func twentyMinutesWithSixteenPeripheralsThatComeAndGo() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    var random = SeededGenerator(seed: 13)
    let surroundings = await Surroundings(Self.count)
    let radio = await ManagedAdapter.kept(surroundings.simulated)
    let keeper = Keeper()
    keeper.central = CBCentralManager(
      delegate: keeper, queue: keeper.queue, radio: radio, folder: folder.path,
      options: [CBCentralManagerOptionRestoreIdentifierKey: "endurance"])

    func pass(_ steps: Int) async {
      for _ in 0..<steps {
        await surroundings.advance()
        await keeper.settle()
      }
    }

    var stored = 0
    for minute in 1...Self.minutes {
      for _ in 0..<60 {
        await surroundings.change(random.next(), random.next())
        await pass(10)
      }
      // Another manager, which is dropped on the same radio.
      _ = CBCentralManager(delegate: nil, queue: keeper.queue, radio: radio)
      // A link that has just ended may still be on its way through the queue.
      #expect(await surroundings.links.allSatisfy { $0 <= 2 })
      PeripheralStore.finishWriting()
      let size = (folder.text(of: "restoration.json") ?? "").utf8.count
      if minute == 5 { stored = size }
      if minute > 5 { #expect(size <= 2 * stored) }
    }
    await surroundings.allCome()
    await pass(100)
    #expect(keeper.peripherals.count == Self.count)
    #expect(keeper.peripherals.allSatisfy { $0.state == .connected })
    #expect(await surroundings.links == Array(repeating: 1, count: Self.count))
    let connections = await surroundings.connections
    #expect(keeper.connections == connections && connections > 150)
    #expect(keeper.values > connections && keeper.faults == [])
    keeper.central = nil
    keeper.peripherals = []
    await keeper.settle()
    await pass(10)
    #expect(await surroundings.links == Array(repeating: 0, count: Self.count))
    #expect(await !surroundings.simulated.isScanning)
    await radio.close()
  }
}
