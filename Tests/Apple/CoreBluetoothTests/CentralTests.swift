import CoreBluetooth
import HaloDevices
import HaloRaw
import TestSupport
import Testing

/// What programs rely on: the state, scans and connections.
@Suite(.timeLimit(.minutes(60))) struct CentralTests {
  @Test func theFirstStateComesForADelegateSetLater() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([]))
    let recorder = Recorder()
    await recorder.perform {
      $0.central = CBCentralManager(delegate: nil, queue: $0.queue, radio: radio)
      $0.central.delegate = $0
    }
    await recorder.until("poweredOn")
    #expect(recorder.log == ["poweredOn"])
    await radio.close()
  }

  @Test func theFirstStateComesForABadAdapterAndTheNextOnesFollow() async {
    let simulated = await SimulatedRadio([], failure: SimulatedRadio.off)
    let radio = await ManagedAdapter.kept(simulated)
    let recorder = Recorder()
    await recorder.perform {
      $0.central = CBCentralManager(delegate: $0, queue: $0.queue, radio: radio)
    }
    await recorder.until("poweredOff")
    await simulated.repair()
    await recorder.until("poweredOn")
    await simulated.fail()
    await recorder.until("poweredOff", count: 2)
    await simulated.repair()
    await recorder.until("poweredOn", count: 2)
    #expect(recorder.log == ["poweredOff", "poweredOn", "poweredOff", "poweredOn"])
    await radio.close()
  }

  @Test func anUnknownAdapterIsUnsupported() async {
    let recorder = Recorder()
    await recorder.perform {
      $0.central = CBCentralManager(
        delegate: $0, queue: $0.queue, options: [CBCentralManagerOptionAdapterKey: "nonsense"])
    }
    await recorder.until("unsupported")
  }

  @Test func theVirtualRingIsFoundByItsSpecification() async {
    let recorder = Recorder()
    await recorder.perform {
      $0.central = CBCentralManager(
        delegate: $0, queue: $0.queue, options: [CBCentralManagerOptionAdapterKey: "virtual"])
    }
    await recorder.until("poweredOn")
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found R02_BEEF")
  }

  @Test func aServiceOfTheScanResponseIsFilteredFor() async {
    let straps = await [Devices.strap("A", "C0:00:00:00:00:01"), Devices.strap("B", "C0:00:00:00:00:02")]
    let radio = await ManagedAdapter.kept(SimulatedRadio(straps))
    let recorder = await Recorder.start(radio)
    await recorder.perform {
      $0.central.scanForPeripherals(withServices: [CBUUID(string: "180D")])
    }
    await recorder.until("found A")
    await recorder.until("found B")
    await recorder.perform {
      $0.central.scanForPeripherals(withServices: [CBUUID(string: "1816")])
    }
    await recorder.perform {
      $0.central.scanForPeripherals(withServices: [CBUUID(string: "1816"), CBUUID(string: "180D")])
    }
    await recorder.until("found B", count: 2)
    // Without duplicates, each scan reports each peripheral once.
    #expect(recorder.log.count { $0 == "found A" } == 2)
    await radio.close()
  }

  @Test func allReportsAreDeliveredWithDuplicates() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let recorder = await Recorder.start(radio)
    await recorder.perform {
      $0.central.scanForPeripherals(options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }
    await recorder.until("found Strap", count: 10)
    await recorder.perform { me in
      me.central.stopScan()
      me.note("stopped")
    }
    await radio.close()
    #expect(recorder.log.last == "stopped")
  }

  @Test func aScanFromInsideDidDisconnectHearsThePeripheralAgain() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    recorder.on("disconnected Strap peripheralDisconnected, disconnected") { $0.central.scanForPeripherals() }
    await recorder.connect("Strap")
    for round in 2...5 {
      await strap.leave()
      await recorder.until("connected Strap", count: round)
    }
    #expect(recorder.log.count { $0 == "found Strap" } == 5)
    await radio.close()
  }

  @Test func aConnectWaitsForAnAbsentPeripheralBesideScansAndOtherConnects() async {
    let absent = await Devices.strap("Absent", "C0:00:00:00:00:01")
    let near = await Devices.strap("Near", "C0:00:00:00:00:02")
    let late = await Devices.strap("Late", "C0:00:00:00:00:03")
    let radio = await ManagedAdapter.kept(SimulatedRadio([absent, near, late]))
    let recorder = await Recorder.start(radio)
    await recorder.perform { $0.central.scanForPeripherals() }
    for name in ["Absent", "Near", "Late"] { await recorder.until("found \(name)") }
    await absent.vanish()
    await late.vanish()
    await recorder.perform { me in
      me.central.stopScan()
      for name in ["Absent", "Late", "Near"] {
        if let peripheral = me.peripherals[name] { me.central.connect(peripheral) }
      }
    }
    await recorder.until("connected Near")
    await recorder.perform { $0.central.scanForPeripherals() }
    await BluetoothActor.run { late.isPresent = true }.value
    await recorder.until("found Late", count: 2)
    await recorder.until("connected Late")
    #expect(recorder.peripherals["Absent"]?.state == .connecting)
    await BluetoothActor.run { absent.isPresent = true }.value
    await recorder.until("connected Absent")
    await radio.close()
  }

  @Test func aPendingConnectIsCancelled() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("found Strap")
    await strap.vanish()
    await recorder.perform { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      me.central.stopScan()
      me.central.connect(peripheral)
      me.central.cancelPeripheralConnection(peripheral)
    }
    await recorder.until("disconnected Strap, disconnected")
    await radio.close()
  }

  @Test func theManagerHoldsAPeripheralWhileItIsConnected() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    await recorder.connect("Strap")
    weak var held: CBPeripheral?
    await recorder.perform { me in
      held = me.peripherals["Strap"]
      me.peripherals = [:]
    }
    #expect(held != nil)
    recorder.on("disconnected Strap peripheralDisconnected, disconnected") { $0.note("ended") }
    await strap.leave()
    await recorder.until("ended")
    await recorder.perform { _ in }
    #expect(held == nil)
    await radio.close()
  }

  @Test func aPeripheralIsRetrievedByItsIdentifierWithItsName() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    var recorder: Recorder? = await Recorder.start(radio, folder: folder.path)
    await recorder?.connect("Strap")
    let identifier = try #require(recorder?.peripherals["Strap"]?.identifier)
    recorder = nil
    PeripheralStore.finishWriting()
    let next = await Recorder.start(radio, folder: folder.path)
    await next.perform { me in
      let found = me.central.retrievePeripherals(withIdentifiers: [identifier, UUID()])
      for peripheral in found {
        me.peripherals[peripheral.name ?? "?"] = peripheral
        me.central.connect(peripheral)
      }
    }
    await next.until("connected Strap")
    #expect(next.log == ["poweredOn", "connected Strap"])
    await radio.close()
  }

  @Test func identifiersEncodeAddressAndAddressType() {
    let addresses = [BluetoothAddress.Kind.public, .random].map { BluetoothAddress(0xC011_2233_A1B2, $0) }
    let identifiers = addresses.map { CBPeripheral.identifier(of: $0) }
    #expect(Set(identifiers).count == 2)
    #expect(identifiers.map { CBPeripheral.address(of: $0) } == addresses)
    #expect(CBPeripheral.address(of: UUID()) == nil)
  }

  @Test func releasedManagerEndsOnlyItsOwnScanAndLinks() async {
    let mine = await Devices.strap("Mine", "C0:00:00:00:00:01")
    let other = await Devices.strap("Other", "C0:00:00:00:00:02")
    let simulated = await SimulatedRadio([mine, other])
    let radio = await ManagedAdapter.kept(simulated)
    let second = await Recorder.start(radio)
    await second.connect("Other")
    var first: Recorder? = await Recorder.start(radio)
    await first?.connect("Mine")
    await first?.perform { $0.central.scanForPeripherals() }
    await BluetoothActor.run {}.value
    #expect(await simulated.isScanning)
    first = nil
    await second.perform { $0.central.scanForPeripherals() }
    // It advertises again.
    await second.until("found Mine")
    await second.perform { $0.central.stopScan() }
    await BluetoothActor.run {}.value
    #expect(await !simulated.isScanning)
    #expect(await other.isConnected)
    #expect(second.peripherals["Other"]?.state == .connected)
    await radio.close()
  }

  /// A controller has one link to a device. Each manager has its own attributes and notifications on it.
  @Test func managersShareALink() async throws {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let first = await Recorder.start(radio)
    await first.connect("Strap")
    let identifier = try #require(first.peripherals["Strap"]?.identifier)
    let second = await Recorder.start(radio)
    await second.perform { me in
      me.peripherals["Strap"] = me.central.retrievePeripherals(withIdentifiers: [identifier]).first
      me.peripherals["Strap"]?.delegate = me
      me.peripherals["Strap"].map { me.central.connect($0) }
    }
    await second.until("name Strap")
    #expect(await strap.connectionCount == 1)
    for recorder in [first, second] {
      await recorder.discover("Strap")
      await recorder.perform { me in
        me.peripherals["Strap"]?.setNotifyValue(true, for: me.characteristic("2A37"))
      }
      await recorder.until("notifying 2A37 true")
    }
    await first.perform { me in
      me.peripherals["Strap"]?.writeValue(Data([70]), for: me.characteristic("2A39"), type: .withResponse)
    }
    for recorder in [first, second] { await recorder.until("value 2A37 [0, 70]") }
    // The link stays for the other one, which gets what it has subscribed to.
    await first.perform { me in me.peripherals["Strap"].map { me.central.cancelPeripheralConnection($0) } }
    await first.until("disconnected Strap, disconnected")
    await second.perform { me in
      me.peripherals["Strap"]?.writeValue(Data([71]), for: me.characteristic("2A39"), type: .withResponse)
    }
    await second.until("value 2A37 [0, 71]")
    #expect(!first.log.contains("value 2A37 [0, 71]"))
    await second.perform { me in me.peripherals["Strap"].map { me.central.cancelPeripheralConnection($0) } }
    await second.until("disconnected Strap, disconnected")
    #expect(await !strap.isConnected)
    await radio.close()
  }

  @Test func managersThatWaitForTheSamePeripheralAreBothConnected() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let managers = [
      await Recorder.start(radio, folder: folder.path), await Recorder.start(radio, folder: folder.path),
    ]
    for recorder in managers {
      await recorder.perform { $0.central.scanForPeripherals() }
      await recorder.until("found Strap")
      await recorder.perform { $0.central.stopScan() }
    }
    await strap.vanish()
    for recorder in managers {
      await recorder.perform { me in me.peripherals["Strap"].map { me.central.connect($0) } }
    }
    await BluetoothActor.run { strap.isPresent = true }.value
    for recorder in managers { await recorder.until("connected Strap") }
    #expect(await strap.connectionCount == 1)
    await strap.leave()
    for recorder in managers {
      await recorder.until("disconnected Strap peripheralDisconnected, disconnected")
    }
    await radio.close()
  }

  @Test func aReconnectingLinkComesBack() async {
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    let recorder = await Recorder.start(radio)
    recorder.on("found Strap") { me in
      guard let peripheral = me.peripherals["Strap"] else { return }
      me.central.stopScan()
      me.central.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    }
    await recorder.perform { $0.central.scanForPeripherals() }
    await recorder.until("connected Strap")
    await strap.leave()
    await recorder.until("connected Strap", count: 2)
    #expect(recorder.log.contains("disconnected Strap peripheralDisconnected, connecting"))
    await radio.close()
  }

  @Test func releasesAThousandCentralManagers() async {
    let simulated = await SimulatedRadio([Devices.strap()])
    let radio = await ManagedAdapter.kept(simulated)
    _ = await Recorder.start(radio)
    for _ in 0..<1000 {
      await Recorder().perform { me in
        me.central = CBCentralManager(delegate: me, queue: me.queue, radio: radio)
        me.on("poweredOn") { $0.central.scanForPeripherals() }
      }
    }
    let last = await Recorder.start(radio)
    await last.connect("Strap")
    #expect(await !simulated.isScanning)
    await radio.close()
  }
}
