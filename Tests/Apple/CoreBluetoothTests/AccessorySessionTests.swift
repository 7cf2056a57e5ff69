import CoreBluetooth
import HaloStorage
import HaloDevices
import HaloRaw
import TestSupport
import Testing
@testable import AccessorySetupKit

/// Sessions of AccessorySetupKit: the picker, the stored accessories.
@Suite(.timeLimit(.minutes(60))) struct AccessorySessionTests {
  private static let entry = "> 1  Band: Strap, C0:00:00:00:00:01, -50 dBm"

  /// Chooses the first entry.
  private func pickStrap(_ session: SessionRecorder, round: Int = 1) async {
    session.pick([.named("Band")])
    await session.until(Self.entry, count: round)
    session.type("1\n")
    await session.until("accessoryAdded Band", count: round)
    await session.until("answer nil", count: round)
  }

  @Test func eventsComeInOrderAndTheAccessoryConnectsByItsIdentifier() async throws {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio)
    await session.activate()
    await pickStrap(session)
    #expect(
      session.log == [
        "activated", "pickerDidPresent", "> Choose an accessory: enter its number. An empty line cancels.",
        Self.entry, "accessoryAdded Band", "pickerDidDismiss", "answer nil",
      ])
    #expect(!session.isReading)
    let accessory = try #require(session.session.accessories.first)
    #expect(accessory.state == .authorized)
    #expect(accessory.descriptor.bluetoothServiceUUID == CBUUID(string: "180D"))
    let identifier = try #require(accessory.bluetoothIdentifier)
    let recorder = await Recorder.start(radio)
    await recorder.perform { me in
      for peripheral in me.central.retrievePeripherals(withIdentifiers: [identifier]) {
        me.peripherals["Strap"] = peripheral
        peripheral.delegate = me
        me.central.connect(peripheral)
      }
    }
    await recorder.until("name Strap")
    await radio.close()
  }

  @Test func anAccessoryIsStoredForItsProgramAndNotOfferedAgain() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let straps = await [Devices.strap(), Devices.strap("Other", "C0:00:00:00:00:02")]
    await BluetoothActor.run { straps[1].isPresent = false }.value
    let radio = await ManagedAdapter.kept(SimulatedRadio(straps))
    let first = SessionRecorder(radio, folder: folder.path)
    await first.activate()
    await pickStrap(first)
    let path = folder.path + "/accessories.json"
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    PeripheralStore.finishWriting()
    #expect(
      KnownPeripherals(path: folder.path + "/peripherals.json") { _ in }.peripherals.first?.name == "Strap")

    let stranger = SessionRecorder(radio, folder: folder.path, program: "another")
    await stranger.activate()
    #expect(stranger.names == [])

    let second = SessionRecorder(radio, folder: folder.path)
    await second.activate()
    #expect(
      second.session.accessories.map(\.bluetoothIdentifier)
        == first.session.accessories.map(\.bluetoothIdentifier))
    await BluetoothActor.run { straps[1].isPresent = true }.value
    second.pick([.named("Band")])
    await second.until("> 1  Band: Other, C0:00:00:00:00:02, -50 dBm")
    second.type("1\n")
    await second.until("answer nil")
    #expect(second.session.accessories.count == 2)
    await radio.close()
  }

  @Test func aRemovedAccessoryIsForgottenAndOfferedAgain() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let first = SessionRecorder(radio, folder: folder.path)
    await first.activate()
    await pickStrap(first)
    let accessory = try #require(first.session.accessories.first)
    first.session.removeAccessory(accessory) { first.answer($0) }
    await first.until("answer nil", count: 2)
    #expect(first.log.suffix(2) == ["accessoryRemoved Band", "answer nil"])
    #expect(first.names == [])
    #expect(accessory.state == .unauthorized)
    first.session.removeAccessory(accessory) { first.answer($0) }
    await first.until("answer invalidRequest")
    let second = SessionRecorder(radio, folder: folder.path)
    await second.activate()
    #expect(second.names == [])
    await pickStrap(first, round: 2)
    #expect(first.names == ["Band"])
    await radio.close()
  }

  @Test func anAccessoryIsRenamedOnTheTerminal() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let first = SessionRecorder(radio, folder: folder.path)
    await first.activate()
    await pickStrap(first)
    let accessory = try #require(first.session.accessories.first)
    first.session.renameAccessory(accessory) { first.answer($0) }
    await first.until("> New name of Band; an empty line cancels:")
    while !first.isReading { await Task.yield() }
    first.type("Left arm\n")
    await first.until("accessoryChanged Left arm")
    await first.until("answer nil", count: 2)
    first.session.renameAccessory(accessory) { first.answer($0) }
    await first.until("> New name of Left arm; an empty line cancels:")
    while !first.isReading { await Task.yield() }
    first.type(nil)
    await first.until("answer userCancelled")
    let second = SessionRecorder(radio, isInteractive: false, folder: folder.path)
    await second.activate()
    #expect(second.names == ["Left arm"])
    let stored = try #require(second.session.accessories.first)
    second.session.renameAccessory(stored) { second.answer($0) }
    await second.until("answer pickerRestricted")
    await radio.close()
  }

  /// An app for many rooms asks for a name at once.
  @Test(arguments: ["Left arm\n", "\n"])
  func anAccessoryIsNamedWhenItIsSetUp(_ line: String) async throws {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio)
    await session.activate()
    let item = ASPickerDisplayItem.named("Band")
    item.setupOptions = [.rename, .confirmAuthorization]
    session.pick([item])
    await session.until(Self.entry)
    session.type("1\n")
    await session.until("> New name of Band; an empty line cancels:")
    while !session.isReading { await Task.yield() }
    session.type(line)
    await session.until("answer nil")
    let changed = line == "\n" ? [] : ["accessoryChanged Left arm"]
    #expect(
      session.log.suffix(5 + changed.count) == [
        "accessoryAdded Band", "pickerSetupRename Band", "> New name of Band; an empty line cancels:",
      ] + changed + ["pickerDidDismiss", "answer nil"])
    #expect(session.names == [line == "\n" ? "Band" : "Left arm"])
    await radio.close()
  }

  /// Two minutes for a user who has to switch the accessory on first; without an end, the program ends the picker.
  @Test func pickerEndsAfterItsDiscoveryTimeout() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([]))
    let session = SessionRecorder(radio, isInteractive: false)
    await session.activate()
    let settings = ASPickerDisplaySettings.default
    #expect(settings.discoveryTimeout.rawValue == 30)
    settings.discoveryTimeout = .medium
    session.session.pickerDisplaySettings = settings
    settings.discoveryTimeout = .short
    session.pick([.named("Band")])
    await session.until("after 120.0")
    session.fire(120)
    await session.until("answer discoveryTimeout")
    settings.discoveryTimeout = .unbounded
    session.session.pickerDisplaySettings = settings
    session.pick([.named("Band")])
    await session.until("pickerDidPresent", count: 2)
    session.session.invalidate()
    await session.until("answer invalidated")
    #expect(session.log.count { $0.hasPrefix("after") } == 1)
    await radio.close()
  }

  /// The line of Apple's tutorial; the picture is in an asset catalog, which is not here.
  @Test func aPictureThatIsMissingStopsNoProgram() throws {
    let missing = try #require(UIImage(named: "no-such-picture"))
    #expect(missing.data.isEmpty)
    #expect(UIImage(systemName: "heart") == missing)
    let folder = try Folder()
    defer { folder.remove() }
    let path = folder.path + "/strap.png"
    try Data([0x89, 0x50]).write(to: URL(fileURLWithPath: path))
    let image = try #require(UIImage(contentsOfFile: path))
    #expect(image.data == Data([0x89, 0x50]))
    #expect(UIImage(contentsOfFile: folder.path + "/none") == nil)
    let item = ASPickerDisplayItem(name: "Strap", productImage: image, descriptor: ASDiscoveryDescriptor())
    #expect(item.productImage == UIImage(data: Data([0x89, 0x50])))
  }

  @Test func anEmptyLineCancelsAndANumberMustBeOfTheList() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio)
    await session.activate()
    session.pick([.named("Band")])
    await session.until(Self.entry)
    for text in ["0\n", "2\n", "\u{1B}[2J\n"] { session.type(text) }
    await session.until("> no accessory \"0\"; enter a number of the list")
    await session.until("> no accessory \"2\"; enter a number of the list")
    session.pick([.named("Band")])
    await session.until("answer pickerAlreadyActive")
    session.type("\n")
    await session.until("answer userCancelled")
    #expect(session.log.suffix(2) == ["pickerDidDismiss", "answer userCancelled"])
    #expect(!session.log.contains { $0.contains("\u{1B}") })
    #expect(session.names == [])
    await radio.close()
  }

  /// A ring's name is in its scan response, which may be heard later than the advertisement with its service.
  @Test(arguments: [true, false])
  func theNameOfTheScanResponseIsShownAndStored(isInteractive: Bool) async throws {
    let folder = try Folder()
    defer { folder.remove() }
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.ring()]))
    let session = SessionRecorder(radio, isInteractive: isInteractive, folder: folder.path)
    await session.activate()
    session.pick([.named("Band")])
    if isInteractive {
      await session.until("> 1  Band: no name, C0:00:00:00:00:01, -50 dBm")
      await session.until("> 1  Band: Ring, C0:00:00:00:00:01, -50 dBm")
      session.type("1\n")
    } else {
      await session.until("after 3.0")
      await session.untilHeard("Ring", radio)
      session.fire(3)
    }
    await session.until("answer nil")
    PeripheralStore.finishWriting()
    #expect(
      KnownPeripherals(path: folder.path + "/peripherals.json") { _ in }.peripherals.map(\.name) == ["Ring"])
    await radio.close()
  }

  @Test func withoutATerminalTheStrongestIsTaken() async {
    let straps = await [
      Devices.strap("Far", "C0:00:00:00:00:01"), Devices.strap("Near", "C0:00:00:00:00:02"),
      Devices.strap("Unknown", "C0:00:00:00:00:03"),
    ]
    await BluetoothActor.run {
      straps[0].rssi = -90
      straps[1].rssi = -30
      straps[2].rssi = 127
    }.value
    let radio = await ManagedAdapter.kept(SimulatedRadio(straps))
    let session = SessionRecorder(radio, isInteractive: false)
    await session.activate()
    session.pick([.named("Band")])
    await session.until("after 3.0")
    await session.untilHeard("Unknown", radio)
    // A report whose strength was not measured says nothing of it.
    await BluetoothActor.run { straps[1].rssi = 127 }.value
    await session.untilHeard("Near", radio)
    session.fire(3)
    await session.until("answer nil")
    let address = session.session.accessories.first?.bluetoothIdentifier.flatMap {
      CBPeripheral.address(of: $0)
    }
    #expect(address == straps[1].address)
    #expect(!session.log.contains { $0.hasPrefix(">") })
    await radio.close()
  }

  @Test func reportsDiscoveryTimeoutWithoutMatchingAccessory() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio, isInteractive: false)
    await session.activate()
    session.pick([.named("Bike") { $0.bluetoothServiceUUID = CBUUID(string: "1816") }])
    await session.until("after 30.0")
    session.fire(30)
    await session.until("answer discoveryTimeout")
    #expect(session.log.suffix(2) == ["pickerDidDismiss", "answer discoveryTimeout"])
    await radio.close()
  }

  @Test func reportsErrorsOfInvalidPickerRequests() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([], failure: SimulatedRadio.off))
    let session = SessionRecorder(radio)
    await session.activate()
    session.session.showPicker { session.answer($0) }
    await session.until("answer invalidRequest")
    session.pick([.named("Anything") { _ in }])
    await session.until("answer invalidRequest", count: 2)
    #expect(!session.log.contains("pickerDidPresent"))
    session.pick([.named("Band")])
    await session.until("answer pickerRestricted")
    #expect(session.log.suffix(2) == ["pickerDidDismiss", "answer pickerRestricted"])
    await radio.close()
  }

  @Test func theEndOfASessionDismissesItsPicker() async {
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio)
    await session.activate()
    session.pick([.named("Band")])
    await session.until(Self.entry)
    session.session.invalidate()
    await session.until("invalidated")
    #expect(session.log.suffix(3) == ["pickerDidDismiss", "answer invalidated", "invalidated"])
    #expect(!session.isReading)
    session.pick([.named("Band")])
    await session.until("answer invalidated", count: 2)
    #expect(session.log.last == "answer invalidated")
    await radio.close()
  }

  @Test func renamesDamagedAccessoryFile() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write("accessories.json", "{\"version\":1,\"accessories\":[{\"program\":7}]}")
    let radio = await ManagedAdapter.kept(SimulatedRadio([Devices.strap()]))
    let session = SessionRecorder(radio, folder: folder.path)
    await session.activate()
    #expect(session.names == [])
    await pickStrap(session)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/accessories.json.damaged"))
    let next = SessionRecorder(radio, folder: folder.path)
    await next.activate()
    #expect(next.names == ["Band"])
    await radio.close()
  }

  /// As Foundation writes it: bytes in base64, slashes with an escape.
  @Test func readsAccessoriesStoredByEarlierVersion() async throws {
    let folder = try Folder()
    defer { folder.remove() }
    folder.write(
      "accessories.json",
      #"""
      {"accessories" : [{
        "descriptor" : {"company" : 513, "manufacturerBlob" : "\/+8=", "options" : 2, "range" : 0, "service" : "GA0="},
        "displayName" : "Band", "identifier" : "00000000-0000-4000-8000-C00000000001", "program" : "tests"
      }], "version" : 1}
      """#)
    let radio = await ManagedAdapter.kept(SimulatedRadio([]))
    let session = SessionRecorder(radio, folder: folder.path, program: "tests")
    await session.activate()
    #expect(session.names == ["Band"])
    let descriptor = try #require(session.session.accessories.first?.descriptor)
    #expect(descriptor.bluetoothServiceUUID == CBUUID(string: "180D"))
    #expect(descriptor.bluetoothManufacturerDataBlob == Data([0xFF, 0xEF]))
    #expect(
      descriptor.supportedOptions.rawValue == 2 && descriptor.bluetoothCompanyIdentifier.rawValue == 513)
    await radio.close()
  }

  // MARK: Descriptors

  private static let service = CBUUID(string: "180D")
  nonisolated(unsafe) private static let advertised: [String: Any] = [
    CBAdvertisementDataLocalNameKey: "R02_BEEF",
    CBAdvertisementDataManufacturerDataKey: Data([0x34, 0x12, 0xA5, 0x01, 0x02]),
    CBAdvertisementDataServiceUUIDsKey: [service],
    CBAdvertisementDataServiceDataKey: [CBUUID(string: "FEAA"): Data([0x20, 0x7F])],
  ]

  private func matches(_ set: (ASDiscoveryDescriptor) -> Void) -> Bool {
    let fields = ASPickerDisplayItem.named("", set).descriptor.fields
    return fields.defect == nil && fields.matches(name: nil, Self.advertised)
  }

  @Test func descriptorsMatchNamesCompaniesAndServices() {
    #expect(matches { $0.bluetoothNameSubstring = "BEEF" })
    #expect(!matches { $0.bluetoothNameSubstring = "beef" })
    #expect(
      matches {
        $0.bluetoothNameSubstring = "beef"
        $0.bluetoothNameSubstringCompareOptions = .caseInsensitive
      })
    #expect(matches { $0.bluetoothCompanyIdentifier = ASBluetoothCompanyIdentifier(0x1234) })
    #expect(!matches { $0.bluetoothCompanyIdentifier = ASBluetoothCompanyIdentifier(0x3412) })
    #expect(matches { $0.bluetoothServiceUUID = Self.service })
    #expect(!matches { $0.bluetoothServiceUUID = CBUUID(string: "1816") })
    #expect(
      !matches {
        $0.bluetoothServiceUUID = Self.service
        $0.bluetoothNameSubstring = "R03"
      })
  }

  @Test func blobsAreComparedUnderTheirMasks() {
    func company(_ blob: [UInt8], _ mask: [UInt8]? = nil) -> Bool {
      matches {
        $0.bluetoothCompanyIdentifier = ASBluetoothCompanyIdentifier(0x1234)
        $0.bluetoothManufacturerDataBlob = Data(blob)
        $0.bluetoothManufacturerDataMask = mask.map { Data($0) }
      }
    }
    #expect(company([0xA5, 0x01]))
    #expect(!company([0xA5, 0x02]))
    #expect(company([0xA0, 0xFF], [0xF0, 0x00]))
    #expect(!company([0xA5, 0x01, 0x02, 0x03]))
    // A mask of another size is a defect.
    #expect(!company([0xA5], [0xFF, 0xFF]))
    func service(_ blob: [UInt8], _ mask: [UInt8]) -> Bool {
      matches {
        $0.bluetoothServiceUUID = CBUUID(string: "FEAA")
        $0.bluetoothServiceDataBlob = Data(blob)
        $0.bluetoothServiceDataMask = Data(mask)
      }
    }
    #expect(service([0x20], [0xFF]))
    #expect(!service([0x30], [0xFF]))
  }
}
