import CoreBluetooth
import HaloStorage
import HaloRaw
import TestSupport
import Testing

/// What a peripheral manager offers is offered again after a restart of its program. A restart is a manager that is dropped
/// and another one with the same identifier.
@Suite(.timeLimit(.minutes(60))) struct PeripheralRestorationTests {
  private static let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "tests"]

  private static func services() -> [CBMutableService] {
    let (inner, outer) = (
      CBMutableService(type: CBUUID(string: "FF10"), primary: false),
      CBMutableService(type: CBUUID(string: "FF00"), primary: true)
    )
    let (cached, dynamic) = (
      CBMutableCharacteristic(
        type: CBUUID(string: "FF01"), properties: .read, value: Data([5]), permissions: .readable),
      CBMutableCharacteristic(
        type: CBUUID(string: "FF02"), properties: [.read, .notify], value: nil, permissions: .readable)
    )
    cached.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2901"), value: "level")]
    outer.characteristics = [cached, dynamic]
    outer.includedServices = [inner]
    return [inner, outer]
  }

  @Test func servicesAndTheAdvertisementAreIssuedAgain() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let meeting = await Meeting()
    var first: PeripheralRecorder? = await .start(meeting.radio, folder: folder.path, options: Self.options)
    await first?.offer(Self.services())
    first = nil
    await folder.untilNoneRuns()
    PeripheralStore.finishWriting()
    #expect(folder.mode(of: "peripheral-restoration.json") == 0o600)

    let second = await PeripheralRecorder.start(meeting.radio, folder: folder.path, options: Self.options)
    #expect(second.log == ["restored [\"FF10\", \"FF00\"] Offer", "poweredOn"])
    #expect(second.services == ["restored nil", "restored FF00"])
    second.values["FF02"] = [8]
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01,FF02")
    await phone.perform { me in
      for uuid in ["FF01", "FF02"] { me.peripherals["Offer"]?.readValue(for: me.characteristic(uuid)) }
      me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF02"))
    }
    await phone.until("value FF01 [5]")
    await phone.until("value FF02 [8]")
    await second.until("subscribed FF02")
    // A service that is added is a new one, and the restored ones can be removed.
    await second.perform { me in
      me.manager.removeAllServices()
      me.manager.stopAdvertising()
    }
    await second.until("unsubscribed FF02")
    PeripheralStore.finishWriting()
    #expect(folder.text(of: "peripheral-restoration.json")?.contains("FF00") == false)
    await meeting.end()
  }

  /// Beacons pass on what CLBeaconRegion gives them, also as NSData (mttrb/BeaconOSX,
  /// lgaches/BeaconEmitter).
  @Test func aBeaconIsAdvertisedAndRestored() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let meeting = await Meeting()
    let key = "kCBAdvDataAppleBeaconKey"
    let uuid: [UInt8] = Array(0xE0...0xEF)
    let bytes = Data(uuid + [0x01, 0x02, 0x03, 0x04, 0xC5])
    var first: PeripheralRecorder? = await .start(meeting.radio, folder: folder.path, options: Self.options)
    await first?.perform {
      $0.manager.startAdvertising([key: NSData(data: bytes), CBAdvertisementDataLocalNameKey: "Beacon"])
    }
    await first?.until("started")
    let phone = await Recorder.start(meeting.other)
    await phone.perform { $0.central.scanForPeripherals() }
    await phone.until("found Beacon")
    let advertised = Data([0x4C, 0x00, 0x02, 0x15]) + bytes
    #expect(phone.companyData["Beacon"] == advertised)
    await phone.perform { $0.central.stopScan() }
    first = nil
    await folder.untilNoneRuns()
    let second = await PeripheralRecorder.start(meeting.radio, folder: folder.path, options: Self.options)
    #expect(second.restoredAdvertisement[key] as? Data == bytes)
    await phone.perform { $0.central.scanForPeripherals() }
    await phone.until("found Beacon", count: 2)
    #expect(phone.companyData["Beacon"] == advertised)
    await meeting.end()
  }

  /// Programs end what is advertised before they advertise what they have to say now (TCNCoalition/tcn-client-ios).
  @Test func aRestoredAdvertisementIsReplaced() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let meeting = await Meeting()
    var first: PeripheralRecorder? = await .start(meeting.radio, folder: folder.path, options: Self.options)
    await first?.offer([], as: "Old")
    first = nil
    await folder.untilNoneRuns()
    let second = PeripheralRecorder()
    second.on("poweredOn") { me in
      if me.manager.isAdvertising { me.manager.stopAdvertising() }
      me.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "New"])
    }
    await second.perform {
      $0.manager = CBPeripheralManager(
        delegate: $0, queue: $0.recorder.queue, radio: meeting.radio, folder: folder.path,
        options: Self.options)
    }
    await second.until("started")
    let phone = await Recorder.start(meeting.other)
    await phone.perform { $0.central.scanForPeripherals() }
    await phone.until("found New")
    #expect(second.log == ["restored [] Old", "poweredOn", "started"])
    await meeting.end()
  }

  @Test(arguments: [
    "[",
    "{\"version\":1,\"managers\":[{\"program\":\"a\",\"identifier\":\"b\",\"services\":[{\"number\":-1}]}]}",
    "{\"version\":1,\"managers\":[{\"program\":\"a\",\"identifier\":\"b\",\"services\":[],"
      + "\"advertisement\":{\"services\":[],\"serviceData\":[],\"manufacturerData\":\"00\"}}]}",
  ])
  func reportsDamagedRestorationFile(_ text: String) async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/peripheral-restoration.json"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    var reports: [String] = []
    let stored = PeripheralRestoration.stored(program: "a", identifier: "b", path: path) {
      reports.append($0)
    }
    #expect(stored == nil && reports.count == 1)
  }

  @Test func restorationRecordRoundTrips() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/peripheral-restoration.json"
    var record = PeripheralRestoration(program: "a", identifier: "b")
    record.services = [
      .init(
        number: 3, uuid: BluetoothUUID(0xFF00 as UInt16), isPrimary: false, included: [1],
        characteristics: [
          .init(
            uuid: BluetoothUUID(0xFF01 as UInt16), properties: 0x112, permissions: 5, value: [1, 2],
            descriptors: [.init(uuid: BluetoothUUID(0x2904 as UInt16), value: [4])])
        ])
    ]
    record.advertisement = .init(
      name: "Möwe", services: [BluetoothUUID(0xFF00 as UInt16)],
      serviceData: [.init(uuid: BluetoothUUID(0xFF00 as UInt16), value: [7])], manufacturerData: [1, 2, 3])
    record.store(path: path) { Issue.record("\($0)") }
    let stored = PeripheralRestoration.stored(program: "a", identifier: "b", path: path) {
      Issue.record("\($0)")
    }
    #expect(stored == record)
  }
}
