import CoreBluetooth
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloDevices
import HaloRaw
import Testing
import HaloSimulation

/// Programs that offer services, met by programs of the central role on another machine in the same air.
@Suite(.timeLimit(.minutes(60))) struct PeripheralManagerTests {
  private static func characteristic(
    _ uuid: String, _ properties: CBCharacteristicProperties, value: [UInt8]? = nil,
    _ permissions: CBAttributePermissions = [.readable, .writeable]
  ) -> CBMutableCharacteristic {
    CBMutableCharacteristic(
      type: CBUUID(string: uuid), properties: properties, value: value.map { Data($0) },
      permissions: permissions)
  }

  private static func service(_ uuid: String = "FF00", _ characteristics: CBMutableCharacteristic...)
    -> CBMutableService
  {
    let made = CBMutableService(type: CBUUID(string: uuid), primary: true)
    made.characteristics = characteristics
    return made
  }

  @Test func aValueIsReadWrittenAndSubscribedTo() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    offer.values["FF01"] = [1, 2]
    let value = Self.characteristic("FF01", [.read, .write, .writeWithoutResponse, .notify])
    await offer.offer([Self.service("FF00", value)])
    #expect(offer.log == ["poweredOn", "added FF00", "started"])
    await offer.perform { #expect($0.manager.isAdvertising) }
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    #expect(phone.advertised["Offer"] == ["FF00"])
    await phone.perform { me in
      let value = me.characteristic("FF01")
      me.peripherals["Offer"]?.readValue(for: value)
      me.peripherals["Offer"]?.writeValue(Data([9]), for: value, type: .withResponse)
      me.peripherals["Offer"]?.writeValue(Data([9, 9]), for: value, type: .withoutResponse)
      me.peripherals["Offer"]?.setNotifyValue(true, for: value)
    }
    await phone.until("value FF01 [1, 2]")
    await phone.until("wrote FF01")
    await offer.until("write FF01@0 2")
    await offer.until("subscribed FF01")
    await offer.perform { me in
      #expect(me.centrals.map(\.maximumUpdateValueLength) == [512])
      #expect(me.centrals.map(\.identifier.uuidString) == ["68616C6F-7261-8077-8000-001A7DDA7177"])
      #expect(me.manager.updateValue(Data([7]), for: value, onSubscribedCentrals: nil))
      #expect(me.manager.updateValue(Data([8]), for: value, onSubscribedCentrals: me.centrals))
    }
    await phone.until("value FF01 [8]")
    await phone.perform { me in
      me.peripherals["Offer"]?.setNotifyValue(false, for: me.characteristic("FF01"))
    }
    await offer.until("unsubscribed FF01")
    await meeting.end()
  }

  /// Servers look for the service of a request among those that they have added (adafruit/Bluefruit_LE_Connect_v2), and may
  /// keep the characteristic only.
  @Test func attributesReferToTheirParents() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let value = Self.characteristic("FF01", [.read, .write, .notify])
    let description = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "level")
    value.descriptors = [description]
    #expect(description.characteristic === value && value.service == nil)
    offer.values["FF01"] = [1]
    await offer.offer([Self.service("FF00", value)])
    #expect(value.service?.uuid.uuidString == "FF00" && value.service?.peripheral == nil)
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in
      me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
      me.peripherals["Offer"]?.readValue(for: me.characteristic("FF01"))
      me.peripherals["Offer"]?.writeValue(Data([9]), for: me.characteristic("FF01"), type: .withResponse)
    }
    await phone.until("wrote FF01")
    await offer.until("subscribed FF01")
    #expect(offer.services.sorted() == ["added FF00", "read FF00", "subscribed FF00", "write FF00"])
    // The manager held the service, and does so until its end is reported.
    await offer.perform { $0.manager.removeAllServices() }
    await offer.until("unsubscribed FF01")
    #expect(offer.services.last == "unsubscribed FF00")
    await meeting.end()
  }

  /// A characteristic of somebody else's peripheral stays that of its service.
  @Test func anObjectOfAPeripheralIsNotTakenOver() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    await offer.offer([Self.service("FF00", Self.characteristic("FF01", .read))])
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in
      let (found, own) = (me.characteristic("FF01"), Self.service("FF20"))
      own.characteristics = [found]
      #expect(found.service?.uuid.uuidString == "FF00")
    }
    await meeting.end()
  }

  /// No call of the delegate for what was given at the beginning.
  @Test func servesCachedValuesWithoutDelegateCalls() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let value = Self.characteristic("FF01", [.read, .extendedProperties], value: [5], .readable)
    value.descriptors = [
      CBMutableDescriptor(type: CBUUID(string: "2901"), value: "level"),
      CBMutableDescriptor(type: CBUUID(string: "2904"), value: Data([4, 0, 0xAD, 0x27, 1, 0, 0])),
    ]
    let inner = Self.service("FF10")
    let outer = Self.service("FF00", value, Self.characteristic("FF02", [.indicate], .readable))
    outer.includedServices = [inner]
    await offer.offer([inner, outer])
    // Fixed from then on.
    outer.characteristics = []
    value.value = Data([6])
    let phone = await meeting.phone(finds: "FF10,FF00")
    await phone.until("characteristics of FF00: FF01,FF02")
    await phone.perform { me in
      let value = me.characteristic("FF01")
      me.peripherals["Offer"]?.readValue(for: value)
      me.peripherals["Offer"]?.discoverDescriptors(for: value)
      me.peripherals["Offer"]?.discoverIncludedServices(nil, for: value.service!)
    }
    await phone.until("value FF01 [5]")
    await phone.until("descriptors 2900,2901,2904")
    await phone.perform { me in
      for descriptor in me.characteristic("FF01").descriptors ?? [] {
        me.peripherals["Offer"]?.readValue(for: descriptor)
      }
      me.peripherals["Offer"]?.discoverDescriptors(for: me.characteristic("FF02"))
    }
    await phone.until("descriptor 2901 level")
    await phone.until("descriptor 2900 1")
    await phone.until("descriptors 2902")
    #expect(offer.log == ["poweredOn", "added FF10", "added FF00", "started"])
    await meeting.end()
  }

  /// What can't be offered is told once, with its reason.
  @Test func rejectsInvalidServicesAndAdvertisements() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let inner = Self.service("FF10")
    let outer = Self.service("FF11")
    outer.includedServices = [inner]
    let other = Self.characteristic("FF01", .read)
    other.descriptors = [CBMutableDescriptor(type: CBUUID(string: "2902"), value: nil)]
    await offer.perform { me in
      me.manager.add(Self.service("1801"))
      me.manager.add(outer)
      me.manager.add(Self.service("FF12", other))
      me.manager.add(inner)
      me.manager.add(inner)
      me.manager.startAdvertising(nil)
      me.manager.startAdvertising(nil)
      me.manager.publishL2CAPChannel(withEncryption: false)
      me.manager.unpublishL2CAPChannel(0x80)
    }
    await offer.until("started alreadyAdvertising")
    await offer.until("added FF10 invalidParameters")
    #expect(
      offer.log.filter { $0.hasPrefix("added") } == [
        "added 1801 uuidNotAllowed", "added FF11 invalidParameters", "added FF12 invalidParameters",
        "added FF10", "added FF10 invalidParameters",
      ])
    #expect(
      offer.log.filter { !$0.hasPrefix("added") } == [
        "poweredOn", "published 0 operationNotSupported", "unpublished 128 operationNotSupported", "started",
        "started alreadyAdvertising",
      ])
    await meeting.end()
  }

  @Test func aCachedValueIsReadOnly() async {
    await #expect(processExitsWith: .failure) {
      let manager = CBPeripheralManager(
        delegate: nil, queue: DispatchQueue(label: "trap"), options: ["halo.adapter": "virtual"])
      let service = CBMutableService(type: CBUUID(string: "FF00"), primary: true)
      service.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: "FF01"), properties: [.read, .notify], value: Data([1]), permissions: .readable
        )
      ]
      manager.add(service)
    }
  }

  /// The codes of applications go through.
  @Test func requestsAreRefusedWithAnyCode() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    await offer.offer([
      Self.service(
        "FF00", Self.characteristic("FF01", [.read, .write]),
        Self.characteristic("FF02", [.read, .write], []),
        Self.characteristic(
          "FF03", [.read, .write, .notifyEncryptionRequired],
          [.readEncryptionRequired, .writeEncryptionRequired]))
    ])
    offer.result = CBATTError.Code(rawValue: 0x81)
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01,FF02,FF03")
    await phone.perform { me in
      for uuid in ["FF01", "FF02", "FF03"] {
        me.peripherals["Offer"]?.readValue(for: me.characteristic(uuid))
        me.peripherals["Offer"]?.writeValue(Data([1]), for: me.characteristic(uuid), type: .withResponse)
      }
      me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF03"))
    }
    await phone.until("value FF01 [] other(129)")
    await phone.until("wrote FF01 other(129)")
    await phone.until("value FF02 [] readNotPermitted")
    await phone.until("wrote FF02 writeNotPermitted")
    await phone.until("value FF03 [] insufficientAuthentication")
    await phone.until("wrote FF03 insufficientAuthentication")
    await phone.until("notifying FF03 false insufficientAuthentication")
    // The request is answered: another response is ignored.
    await offer.perform { me in
      for request in me.requests { me.manager.respond(to: request, withResult: .success) }
    }
    await meeting.end()
  }

  /// Apps that trace contacts have both roles, and each connects to the other one (OpenTrace, TCN). There is one link: who has
  /// made it offers services on it, too.
  @Test func eachSideOffersServicesOnTheOneLink() async {
    let meeting = await Meeting()
    let (offer, back) = (
      await PeripheralRecorder.start(meeting.radio), await PeripheralRecorder.start(meeting.other)
    )
    (offer.values["FF01"], back.values["FF11"]) = ([1], [2])
    let value = Self.characteristic("FF01", [.read, .notify])
    await offer.offer([Self.service("FF00", value)])
    await back.offer([Self.service("FF10", Self.characteristic("FF11", .read))], as: "Back")
    let caller = await Recorder.start(meeting.radio)
    await caller.connect("Back")
    // The simulated radio does not hear a device that it has a link to.
    let phone = await Recorder.start(meeting.other)
    await phone.perform { me in
      let identifier = CBPeripheral.identifier(of: ControllerOptions().address)
      let peripheral = me.central.retrievePeripherals(withIdentifiers: [identifier]).first
      peripheral?.delegate = me
      me.peripherals["Offer"] = peripheral
      if let peripheral { me.central.connect(peripheral) }
    }
    await phone.until("name Offer")
    await phone.perform { $0.peripherals["Offer"]?.discoverServices() }
    await phone.until("services FF00")
    await phone.perform { me in
      guard let peripheral = me.peripherals["Offer"], let service = peripheral.services?.first else { return }
      peripheral.discoverCharacteristics(for: service)
    }
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in
      me.peripherals["Offer"]?.readValue(for: me.characteristic("FF01"))
      me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await phone.until("value FF01 [1]")
    await offer.until("subscribed FF01")
    await offer.perform { me in
      #expect(me.manager.updateValue(Data([7]), for: value, onSubscribedCentrals: nil))
    }
    await phone.until("value FF01 [7]")
    await caller.perform { $0.peripherals["Back"]?.discoverServices() }
    await caller.until("services FF10")
    // The caller's link, which the phone shares, ends for both.
    await caller.perform { me in
      if let peripheral = me.peripherals["Back"] { me.central.cancelPeripheralConnection(peripheral) }
    }
    await offer.until("unsubscribed FF01")
    await phone.until("disconnected Offer peripheralDisconnected, disconnected")
    await meeting.end()
  }

  /// A client without a larger MTU reads and writes in parts.
  @Test func longValuesComeInParts() async throws {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let long = (0..<60).map { UInt8($0) }
    offer.values["FF01"] = long
    await offer.offer([Self.service("FF00", Self.characteristic("FF01", [.read, .write, .notify]))])
    try await Self.readAndWriteInParts(meeting.other, long)
    let parts = ["FF01@0 18", "FF01@18 18", "FF01@36 18", "FF01@54 6"].joined(separator: ", ")
    #expect(
      offer.log == [
        "poweredOn", "added FF00", "started", "read FF01 from 0", "read FF01 from 22", "read FF01 from 44",
        "write \(parts)",
      ])
    await meeting.end()
  }

  @BluetoothActor private static func readAndWriteInParts(_ radio: ManagedAdapter, _ value: [UInt8])
    async throws
  {
    while radio.state != .poweredOn { await Task.yield() }
    let central = try #require(radio.central)
    let found = try #require(try await central.find(within: .seconds(60), where: { $0.isNamed("Offer") }))
    let link = try await central.connect(ConnectionRequest(peer: found.address))
    let service = try #require(try await link.gatt.firstService(BluetoothUUID(0xFF00 as UInt16)))
    let all = try await link.gatt.discoverCharacteristics(of: service)
    let characteristic = try #require(all.first)
    #expect(try await link.gatt.read(characteristic) == value)
    try await link.gatt.write(value, to: characteristic)
    await link.disconnect()
  }

  /// As Apple's sample sends a text: until there is no room, and on when there is.
  @Test func updatesWaitForRoomAndNoneIsLost() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let value = Self.characteristic("FF01", [.notify], .readable)
    await offer.offer([Self.service("FF00", value)])
    nonisolated(unsafe) var sent = 0
    func sendMore(_ me: PeripheralRecorder) {
      while sent < 200, me.manager.updateValue(Data([UInt8(sent)]), for: value, onSubscribedCentrals: nil) {
        sent += 1
      }
    }
    offer.on("subscribed FF01", sendMore)
    offer.on("ready", sendMore)
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in
      me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await phone.until("value FF01 [199]")
    #expect(phone.log.filter { $0.hasPrefix("value") } == (0..<200).map { "value FF01 [\($0)]" })
    #expect(offer.log.contains("ready"))
    await meeting.end()
  }

  @Test func aServiceThatIsRemovedEndsItsSubscriptions() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let (first, second) = (
      Self.service("FF00", Self.characteristic("FF01", .notify)),
      Self.service("FF10", Self.characteristic("FF11", .read))
    )
    offer.values["FF11"] = [3]
    await offer.offer([first, second])
    let phone = await meeting.phone(finds: "FF00,FF10")
    await phone.until("characteristics of FF10: FF11")
    await phone.perform { me in me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await offer.until("subscribed FF01")
    await offer.perform { $0.manager.remove(first) }
    await offer.until("unsubscribed FF01")
    await phone.until("modified [\"FF00\"], left 1")
    await phone.perform { me in me.peripherals["Offer"]?.readValue(for: me.characteristic("FF11")) }
    await phone.until("value FF11 [3]")
    await offer.perform { me in
      me.manager.removeAllServices()
      me.manager.add(first)
    }
    await offer.until("added FF00", count: 2)
    await meeting.end()
  }

  /// An update of the firmware removes services, and adds them: what was discovered between two changes failed for ever, as it
  /// counted as equal to what was discovered after them.
  @Test(arguments: [1, 2, 3]) func readsAttributesDiscoveredAfterSeveralServiceChanges(changes: Int) async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    offer.values["FF11"] = [3]
    let second = Self.service("FF10", Self.characteristic("FF11", .read))
    await offer.offer([Self.service("FF00", Self.characteristic("FF01", .notify)), second])
    let phone = await meeting.phone(finds: "FF00,FF10")
    await phone.until("characteristics of FF10: FF11")
    phone.on("modified [\"FF10\"], left 1") { $0.peripherals["Offer"]?.discoverServices() }
    await offer.perform { me in
      for _ in 0..<changes {
        me.manager.remove(second)
        me.manager.add(second)
      }
    }
    await offer.until("added FF10", count: changes + 1)
    await meeting.pass(.seconds(2))
    await phone.perform { $0.peripherals["Offer"]?.discoverServices([CBUUID(string: "FF10")]) }
    await meeting.pass(.seconds(2))
    await phone.perform { me in
      for service in me.peripherals["Offer"]?.services ?? [] where service.uuid == CBUUID(string: "FF10") {
        me.peripherals["Offer"]?.discoverCharacteristics(for: service)
      }
    }
    await phone.until("characteristics of FF10: FF11", count: 2)
    await phone.perform { me in me.peripherals["Offer"]?.readValue(for: me.characteristic("FF11")) }
    await phone.until("value FF11 [3]")
    await meeting.end()
  }

  /// A central that has connected is a device, too: its link is used in the other direction (10 s passed, and the controller
  /// refused another link).
  @Test func aCentralIsConnectedToOnTheLinkThatItHasMade() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    await offer.offer([Self.service("FF00", Self.characteristic("FF01", [.read, .notify]))])
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await offer.until("subscribed FF01")
    let central = await Recorder.start(meeting.radio)
    let identifier = offer.centrals.first?.identifier
    await central.perform { me in
      guard let identifier,
        let back = me.central.retrievePeripherals(withIdentifiers: [identifier]).first
      else { return me.note("unknown") }
      me.peripherals["Back"] = back
      me.central.connect(back)
    }
    await central.until("connected ?")
    await central.perform { me in me.peripherals["Back"].map { me.central.cancelPeripheralConnection($0) } }
    await central.until("disconnected ?, disconnected")
    // The link is the phone's.
    offer.values["FF01"] = [4]
    await phone.perform { me in me.peripherals["Offer"]?.readValue(for: me.characteristic("FF01")) }
    await phone.until("value FF01 [4]")
    await meeting.end()
  }

  @Test func theAdapterIsSwitchedOffAndOn() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let value = Self.characteristic("FF01", .notify)
    await offer.offer([Self.service("FF00", value)])
    let phone = await meeting.phone(finds: "FF00")
    await phone.until("characteristics of FF00: FF01")
    await phone.perform { me in me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await offer.until("subscribed FF01")
    await BluetoothActor.run { meeting.offering.fail() }.value
    await offer.until("poweredOff")
    #expect(Array(offer.log.suffix(2)) == ["unsubscribed FF01", "poweredOff"])
    await offer.perform { me in
      #expect(!me.manager.updateValue(Data([1]), for: value, onSubscribedCentrals: nil))
      #expect(value.subscribedCentrals == [] && me.manager.isAdvertising)
    }
    await phone.until("disconnected Offer connectionTimeout, disconnected")
    await BluetoothActor.run { meeting.offering.repair() }.value
    await offer.until("poweredOn", count: 2)
    // It advertises again, and offers what it has offered before.
    await phone.perform { $0.central.scanForPeripherals() }
    await phone.until("connected Offer", count: 2)
    await phone.perform { $0.peripherals["Offer"]?.discoverServices() }
    await phone.until("services FF00", count: 2)
    await meeting.end()
  }

  /// Controllers that refuse to advertise (abandonware/bleno#20): the program hears of it, and may try again. What is refused
  /// later has no call of the delegate; the property has it.
  @Test func reportsRefusedAdvertisingAndRetries() async {
    let meeting = await Meeting()
    let refusal = StackError.commandFailed(LESetAdvertisingEnable.opcode, .commandDisallowed)
    let refuse = { (refusal: StackError?) in
      await BluetoothActor.run { meeting.offering.advertisingRefusal = refusal }.value
    }
    await refuse(refusal)
    let offer = await PeripheralRecorder.start(meeting.radio)
    await offer.perform { me in
      me.manager.startAdvertising(nil)
      me.manager.stopAdvertising()
      me.manager.startAdvertising(nil)
      #expect(!me.manager.isAdvertising)
    }
    await offer.until("started operationCancelled")
    await offer.until("started unknown")
    await offer.perform { me in
      #expect(!me.manager.isAdvertising)
      me.manager.startAdvertising(nil)
    }
    await refuse(nil)
    await offer.until("started")
    await offer.perform { #expect($0.manager.isAdvertising) }
    await refuse(refusal)
    await offer.perform { #expect(!$0.manager.isAdvertising) }
    await refuse(nil)
    await meeting.pass(.seconds(1))
    await offer.perform { #expect($0.manager.isAdvertising) }
    #expect(offer.log.filter { $0.hasPrefix("started") }.count == 3)
    await meeting.end()
  }

  @Test func releasedManagerRemovesServicesAndAdvertising() async {
    let meeting = await Meeting()
    let (first, second) = (
      await PeripheralRecorder.start(meeting.radio), await PeripheralRecorder.start(meeting.radio)
    )
    await first.offer([Self.service("FF00", Self.characteristic("FF01", [.read, .notify]))])
    await second.perform { me in
      me.manager.add(Self.service("FF10", Self.characteristic("FF11", .read)))
      me.manager.startAdvertising(nil)
    }
    await second.until("started alreadyAdvertising")
    let phone = await meeting.phone(finds: "FF00,FF10")
    await phone.until("characteristics of FF10: FF11")
    await phone.perform { me in me.peripherals["Offer"]?.setNotifyValue(true, for: me.characteristic("FF01"))
    }
    await first.until("subscribed FF01")
    let count = first.log.count
    await first.perform { $0.manager = nil }
    await phone.until("modified [\"FF00\"], left 1")
    await second.perform { $0.manager = nil }
    await phone.until("disconnected Offer peripheralDisconnected, disconnected")
    #expect(first.log.count == count)
    await meeting.end()
  }

  /// What scanners filter by comes first, the name is in the scan response, and is shortened.
  @Test func theAdvertisementIsFilledInItsOrder() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let long = CBUUID(string: "B12D0000-5C8E-4E0B-9D55-6F2A7C31E804")
    let phone = await Recorder.start(meeting.other)
    let (short, name) = (CBUUID(string: "180D"), "Grüße aus einem sehr langen Namen")
    let found = "found Grüße aus einem sehr langen"
    await offer.perform { me in
      me.manager.startAdvertising([
        CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [long, short, long],
        CBPeripheralManagerAdvertisementManufacturerDataKey: Data([0xFF, 0xFF, 1]),
        CBAdvertisementDataTxPowerLevelKey: 3,
      ])
    }
    await phone.perform { $0.central.scanForPeripherals(withServices: [long]) }
    await offer.until("started")
    await phone.until(found)
    #expect(phone.advertised.values.contains(["180D", long.uuidString]))
    await offer.perform { me in
      me.manager.stopAdvertising()
      me.manager.startAdvertising([
        CBPeripheralManagerAdvertisementServiceDataKey: [short: Data(repeating: 1, count: 25)]
      ])
    }
    await offer.until("started invalidParameters")
    await offer.perform { #expect(!$0.manager.isAdvertising) }
    await meeting.end()
  }

  /// A value that can't be advertised is no success: the bytes of a beacon that are too few, UUIDs that are texts.
  @Test func rejectsInvalidAdvertisementValues() async {
    let meeting = await Meeting()
    let offer = await PeripheralRecorder.start(meeting.radio)
    let beacon = "kCBAdvDataAppleBeaconKey"
    let refused: [[String: Any]] = [
      [beacon: Data(count: 20)], [beacon: "beacon"], [CBAdvertisementDataLocalNameKey: 7],
      [CBAdvertisementDataServiceUUIDsKey: ["180D"]],
      [beacon: Data(count: 21), CBPeripheralManagerAdvertisementManufacturerDataKey: Data([1, 2])],
      [CBPeripheralManagerAdvertisementManufacturerDataKey: Data([1])],
    ]
    await offer.perform { me in
      for data in refused { me.manager.startAdvertising(data) }
      #expect(!me.manager.isAdvertising)
      // Apple's systems ignore a key that they do not advertise.
      me.manager.startAdvertising([CBAdvertisementDataTxPowerLevelKey: 3])
    }
    await offer.until("started")
    let answers = Array(repeating: "started invalidParameters", count: refused.count) + ["started"]
    #expect(offer.log == ["poweredOn"] + answers)
    await meeting.end()
  }
}
