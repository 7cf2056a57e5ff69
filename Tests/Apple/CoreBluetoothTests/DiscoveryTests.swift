import CoreBluetooth
import HaloDevices
import HaloRaw
import HaloSystem
import TestSupport
import Testing

/// What is discovered, and what a program looks for.
@Suite(.timeLimit(.minutes(60))) struct DiscoveryTests {
  @Test func emptyUUIDListMatchesEverything() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let recorder = await Recorder.start(radio)
    recorder.on("found Strap") { me in
      me.central.stopScan()
      me.peripherals["Strap"].map { me.central.connect($0) }
    }
    await recorder.perform { $0.central.scanForPeripherals(withServices: []) }
    await recorder.until("connected Strap")
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices([]) }
    await recorder.until("services 180D,180F")
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"], let first = peripheral.services?.first else { return }
      peripheral.discoverCharacteristics([], for: first)
      peripheral.discoverIncludedServices([], for: first)
    }
    await recorder.until("characteristics of 180D: 2A37,2A38,2A39")
    await radio.close()
  }

  @Test func emptyServiceListOfRestoredScanMatchesEverything() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let options = [CBCentralManagerOptionRestoreIdentifierKey: "tests"]
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: options)
    await first?.perform { $0.central.scanForPeripherals(withServices: []) }
    await first?.until("found Strap")
    first = nil
    let second = await Recorder.start(radio, folder: folder.path, options: options)
    await second.until("found Strap")
    await radio.close()
  }

  /// PhilipsHue/flutter_reactive_ble 475: the list has no 1800 on Apple's systems.
  @Test func genericServicesAreDiscoveredByNameOnly() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices() }
    await recorder.until("services 180D,180F")
    await recorder.perform { $0.peripherals["Strap"]?.discoverServices([CBUUID(string: "1800")]) }
    await recorder.until("services 1800,180D,180F")
    await radio.close()
  }

  /// pauldemarco/flutter_blue 37 asks for 1800 to get all; yanshouwang/bluetooth_low_energy 159: none for an empty list;
  /// innoveit/react-native-ble-manager 54 and 137.
  @Test func connectedPeripheralsAreRetrievedByTheirServices() async throws {
    let strap = await Devices.strap()
    let absent = await Devices.strap("Other", "C0:00:00:00:00:02")
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap, absent]))
    let (first, second) = (await Recorder.start(radio), await Recorder.start(radio))
    func retrieved(_ recorder: Recorder, _ uuids: String...) async -> [String] {
      let names = LockedValue<[String]>([])
      await recorder.perform { me in
        let found = me.central.retrieveConnectedPeripherals(withServices: uuids.map { CBUUID(string: $0) })
        let described = found.map { "\($0.name ?? "?") \($0.state)" }
        names.withLock { $0 = described }
      }
      return names.withLock { $0 }
    }
    #expect(await retrieved(first, "1800").isEmpty)
    // The second manager has heard the strap, and the first one is connected to it.
    await second.perform { $0.central.scanForPeripherals() }
    await second.until("found Strap")
    await second.perform { $0.central.stopScan() }
    await first.connect("Strap")
    #expect(await retrieved(first, "1800") == ["Strap connected"])
    #expect(await retrieved(second, "1801") == ["Strap disconnected"])
    // It has advertised 180D, and nobody has discovered 180F.
    #expect(await retrieved(second, "180D") == ["Strap disconnected"])
    #expect(await retrieved(second, "180F").isEmpty)
    #expect(await retrieved(first).isEmpty)
    await first.discover("Strap")
    #expect(await retrieved(second, "1816", "180F") == ["Strap disconnected"])
    // It is used after a connect, which makes no second link.
    await second.perform { me in
      let found = me.central.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")])
      found.first.map { me.central.connect($0) }
    }
    await second.until("connected Strap")
    #expect(await strap.connectionCount == 1)
    await strap.leave()
    await second.until("disconnected Strap peripheralDisconnected, disconnected")
    #expect(await retrieved(second, "1800", "180D").isEmpty)
    await radio.close()
  }

  @Test func aRepeatedUUIDOfAnAdvertisementStaysRepeated() async {
    let service = await Devices.heartRate
    let repeating = await SimulatedPeripheral(
      "C0:00:00:00:00:01",
      [
        .localName(Array("Twice".utf8), isComplete: true),
        .serviceUUIDs([service, service], width: .two, isComplete: true),
      ], scanResponse: [.serviceUUIDs([service], width: .two, isComplete: true)])
    let radio = await ManagedAdapter.kept(SimulatedRadio([repeating]))
    let recorder = await Recorder.start(radio)
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found Twice")
    #expect(recorder.advertised["Twice"] == ["180D", "180D", "180D"])
    await radio.close()
  }
}
