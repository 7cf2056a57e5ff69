import HaloBluetoothCore
import CoreBluetooth
import HaloStorage
import HaloDevices
import HaloRaw
import TestSupport
import Testing

/// What a manager does is done again after a restart of its program. A restart is a manager that is dropped and another
/// one with the same identifier.
@Suite(.timeLimit(.minutes(60))) struct RestorationTests {
  private static let options = [CBCentralManagerOptionRestoreIdentifierKey: "tests"]

  private func stored(_ folder: Folder) -> String {
    PeripheralStore.finishWriting()
    return folder.text(of: "restoration.json") ?? ""
  }

  @Test func connectionsAreIssuedAgainWithoutAScan() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    #expect(stored(folder).contains("C0:00:00:00:00:01"))
    #expect(folder.mode(of: "restoration.json") == 0o600)
    first = nil
    await folder.untilNoneRuns()
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await second.until("connected Strap")
    #expect(second.log == ["restored Strap connecting", "poweredOn", "connected Strap"])
    await radio.close()
  }

  @Test func aPendingConnectionToAnAbsentPeripheralIsRestored() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let strap = await Devices.strap()
    let radio = await ManagedAdapter.kept(SimulatedRadio([strap]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    await strap.vanish()
    await first?.until("disconnected Strap connectionTimeout, disconnected")
    await first?.perform { me in
      if let peripheral = me.peripherals["Strap"] { me.central.connect(peripheral) }
    }
    first = nil
    await folder.untilNoneRuns()
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    #expect(second.log == ["restored Strap connecting", "poweredOn"])
    await BluetoothActor.run { strap.isPresent = true }.value
    await second.until("connected Strap")
    await radio.close()
  }

  @Test func theScanGoesOnWithItsServicesAndOptions() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.perform {
      $0.central.scanForPeripherals(
        withServices: [CBUUID(string: "180D")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }
    first = nil
    await folder.untilNoneRuns()
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await second.until("found Strap", count: 3)
    #expect(
      second.log.first
        == "restored scan for [\"180D\"], options [\"\(CBCentralManagerScanOptionAllowDuplicatesKey)\"]")
    #expect(second.central.isScanning)
    await second.perform { $0.central.stopScan() }
    #expect(!stored(folder).contains("180D"))
    await radio.close()
  }

  @Test func doesNotRestoreEndedConnections() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let cancelled = await Devices.strap("Cancelled", "C0:00:00:00:00:01")
    let gone = await Devices.strap("Gone", "C0:00:00:00:00:02")
    let radio = await ManagedAdapter.kept(SimulatedRadio([cancelled, gone]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Cancelled")
    await first?.connect("Gone")
    await first?.perform { me in
      if let peripheral = me.peripherals["Cancelled"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await first?.until("disconnected Cancelled, disconnected")
    await gone.leave()
    await first?.until("disconnected Gone peripheralDisconnected, disconnected")
    #expect(!stored(folder).contains("C0:00"))
    first = nil
    await folder.untilNoneRuns()
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    #expect(second.log == ["poweredOn"])
    await radio.close()
  }

  /// A machine that is shut down may switch its adapter off before it ends programs.
  @Test func connectionsThatTheAdapterEndedAreRestored() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let simulated = await SimulatedRadio([Devices.strap()])
    let radio = await ManagedAdapter.kept(simulated)
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    await simulated.fail()
    await first?.until("poweredOff")
    first = nil
    await folder.untilNoneRuns()
    await simulated.repair()
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await second.until("connected Strap")
    #expect(second.log.first == "restored Strap connecting")
    await radio.close()
  }

  @Test func aConnectionThatTheProgramDoesNotTakeUpAfterPowerOnIsForgotten() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let simulated = await SimulatedRadio([Devices.strap()])
    let radio = await ManagedAdapter.kept(simulated)
    let recorder = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await recorder.connect("Strap")
    await simulated.fail()
    await recorder.until("poweredOff")
    #expect(stored(folder).contains("C0:00"))
    await simulated.repair()
    await recorder.until("poweredOn", count: 2)
    await recorder.perform { _ in }
    #expect(!stored(folder).contains("C0:00"))
    await radio.close()
  }

  @Test func aRestoredConnectionIsCancelledBeforeTheAdapterIsOn() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let simulated = await SimulatedRadio([Devices.strap()])
    let radio = await ManagedAdapter.kept(simulated)
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    first = nil
    await folder.untilNoneRuns()
    await simulated.fail()
    let second = Recorder()
    second.on("restored Strap connecting") { me in
      if let peripheral = me.peripherals["Strap"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await second.perform {
      $0.central = CBCentralManager(
        delegate: $0, queue: $0.queue, radio: radio, folder: folder.path, options: Self.options)
    }
    await second.until("disconnected Strap, disconnected")
    await simulated.repair()
    await second.until("poweredOn")
    #expect(
      second.log == [
        "restored Strap connecting", "poweredOff", "disconnected Strap, disconnected", "poweredOn",
      ])
    #expect(!stored(folder).contains("C0:00"))
    await radio.close()
  }

  @Test func eachIdentifierHasItsOwnAndNoneHasNone() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    first = nil
    await folder.untilNoneRuns()
    let other = await Recorder.start(
      radio, folder: folder.path, options: [CBCentralManagerOptionRestoreIdentifierKey: "other"])
    let none = await Recorder.start(radio, folder: folder.path)
    #expect(other.log == ["poweredOn"] && none.log == ["poweredOn"])
    await radio.close()
  }

  /// Two copies of a program, or an app that makes a second manager, took over each other's connections and wrote over what
  /// the other had stored.
  @Test func secondManagerDoesNotOverwriteStateOfRunningOne() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let scan = { (me: Recorder) in
      me.central.scanForPeripherals(withServices: [CBUUID(string: "180F")])
    }
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    let second = await Recorder.start(radio, folder: folder.path, options: Self.options)
    #expect(second.log == ["poweredOn"])
    await second.perform(scan)
    #expect(stored(folder).contains("C0:00") && !stored(folder).contains("180F"))
    // The manager that is left stores what it does next.
    first = nil
    await folder.untilNoneRuns()
    await second.perform { $0.central.stopScan() }
    await second.perform(scan)
    #expect(!stored(folder).contains("C0:00") && stored(folder).contains("180F"))
    await radio.close()
  }

  /// A program that is killed lets go of it, as the kernel closes its files.
  @Test func aManagerOfAnotherProcessIsRestoredAfterItsEnd() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    var first: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await first?.connect("Strap")
    let name = try #require(folder.names(in: "running").first)
    first = nil
    await folder.untilNoneRuns()
    let (other, ready) = (Process(), Pipe())
    other.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
    other.arguments = [
      "--no-fork", folder.path + "/running/" + name, "sh", "-c", "echo; exec sleep 600",
    ]
    other.standardOutput = ready
    try other.run()
    _ = ready.fileHandleForReading.readData(ofLength: 1)
    var second: Recorder? = await Recorder.start(radio, folder: folder.path, options: Self.options)
    #expect(second?.log == ["poweredOn"])
    second = nil
    kill(other.processIdentifier, SIGKILL)
    other.waitUntilExit()
    let third = await Recorder.start(radio, folder: folder.path, options: Self.options)
    await third.until("connected Strap")
    #expect(third.log == ["restored Strap connecting", "poweredOn", "connected Strap"])
    await radio.close()
  }

  @Test(arguments: [
    "", "[]", "{", #"{"version":1}"#, #"{"version":1,"managers":[{}]}"#,
    #"{"version":1,"managers":[{"program":"p","identifier":"i","peripherals":[{"address":"x","type":9}]}]}"#,
  ])
  func aDamagedFileIsKeptBeside(text: String) throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("restoration.json", text)
    let path = folder.path + "/restoration.json"
    var reports: [String] = []
    #expect(
      CentralRestoration.stored(program: "p", identifier: "i", path: path) { reports.append($0) } == nil)
    var restoration = CentralRestoration(program: "p", identifier: "i")
    restoration.add(.init(peer: PeerIdentity(BluetoothAddress(1, .random)), name: "R", reconnects: true))
    restoration.scan = .init(services: nil, solicitedServices: [], allowsDuplicates: false)
    restoration.store(path: path) { reports.append($0) }
    #expect(folder.text(of: "restoration.json.damaged") == text)
    #expect(reports.count == 1)
    let again = CentralRestoration.stored(program: "p", identifier: "i", path: path) { _ in }
    #expect(again == restoration)
  }

  @Test func theFileOfANewerVersionIsNotChanged() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let text = #"{"version": 2, "managers": {}}"#
    folder.write("restoration.json", text)
    var restoration = CentralRestoration(program: "p", identifier: "i")
    restoration.scan = .init(services: nil, solicitedServices: [], allowsDuplicates: false)
    var reports: [String] = []
    restoration.store(path: folder.path + "/restoration.json") { reports.append($0) }
    #expect(folder.text(of: "restoration.json") == text && reports.count == 1)
  }
}

extension Folder {
  /// Returns when the managers that have something stored in here are gone: one may still be in a call of its delegate.
  func untilNoneRuns() async {
    while !names(in: "running").isEmpty { await Task.yield() }
  }
}
