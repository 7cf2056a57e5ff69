import HaloRaw
import Testing

/// What a program offers, made and changed at run time, as a phone sees it.
///
/// Names, data and services that change while the device is advertised are asked for in h2zero/NimBLE-Arduino 420, 711 and 743,
/// sandeepmistry/arduino-BLEPeripheral 47, 198 and 212, and taks/esp32-nimble 98; descriptors in kevincar/bless 118.
@Suite struct OfferedTableTests {
  private static let text = CharacteristicID<String>("FFF1", in: "FFF0")

  private func serve(
    _ medium: String, _ services: [LocalService], appearance: AppearanceValue? = nil,
    preferring preferred: PreferredConnectionParameters? = nil,
    _ body: @Sendable (Radio, Server) async throws -> Void
  ) async throws {
    try await withRadio(RadioSelector("virtual:air=table-\(medium)")) { phone in
      try await withRadio(RadioSelector("virtual:air=table-\(medium)")) { radio in
        try await radio.serve(services, as: "Lamp", appearance: appearance, preferring: preferred) { server in
          try await body(phone, server)
        }
      }
    }
  }

  @Test func aServiceIsMadeAtRunTime() async throws {
    var service = LocalService("FFF0")
    for number in 0..<3 {
      service.add(
        LocalCharacteristic(CharacteristicID<[UInt8]>("FFF\(number + 1)", in: "FFF0"), [UInt8(number)]))
    }
    service.add(LocalCharacteristic(.batteryLevel, 50))
    try await serve("made", [service]) { phone, _ in
      let lamp = try await phone.connect(to: .service("FFF0"))
      let found = try #require(try await lamp.services().first { $0.uuid == "FFF0" })
      #expect(found.characteristics.map(\.uuid) == ["FFF1", "FFF2", "FFF3", "2A19"])
      #expect(try await lamp.read(found.characteristics[2].id) == [2])
    }
  }

  /// A service that is refused, as it has a characteristic of another one, takes nothing from that one.
  @Test func aServiceThatIsRefusedLeavesTheOthers() async throws {
    let text = LocalCharacteristic(Self.text, "on")
    try await serve("refused", [LocalService("FFF0", text)]) { phone, server in
      let lamp = try await phone.connect(to: .service("FFF0"))
      let level = LocalCharacteristic(.batteryLevel, 50)
      await #expect(throws: BluetoothError.self) { try await server.add(LocalService("FFE0", level, text)) }
      #expect(try await lamp.read(Self.text) == "on")
      try await text.notify("off")
      #expect(try await lamp.read(Self.text) == "off")
      // What was refused can be added elsewhere.
      try await server.add(LocalService("180F", level))
      #expect(try await lamp.read(.batteryLevel) == 50)
    }
  }

  /// A client finds them through the services that include them; one of 128 bits has to be asked for its type.
  @Test(arguments: ["FFE0", "7A1D0009-5241-572D-4C41-422D52494E47"])
  func secondaryServicesAreFound(_ uuid: String) async throws {
    let type = try #require(BluetoothUUID(uuid))
    let text = CharacteristicID<String>("FFE1", in: type)
    let hidden = LocalService(type, isPrimary: false, LocalCharacteristic(text, "inside"))
    let shown = LocalService("FFF0", including: [hidden], LocalCharacteristic(Self.text, "on"))
    try await serve("secondary-\(uuid.prefix(4))", [hidden, shown]) { phone, _ in
      let lamp = try await phone.connect(to: .service("FFF0"))
      #expect(try await lamp.read(text) == "inside")
      let found = try await lamp.services().map(\.uuid)
      #expect(found.suffix(2) == [type, "FFF0"])
    }
  }

  /// A closure that waits takes the next value when it has returned.
  @Test func theWritesOfAClientAreTakenInOrder() async throws {
    let (steps, sink) = AsyncStream.makeStream(of: String.self)
    try await withRadio("virtual:air=table-order") { phone in
      try await withRadio("virtual:air=table-order") { radio in
        let input = LocalCharacteristic(
          Self.text,
          write: { value, _ in
            sink.yield("begin \(value)")
            try await radio.clock.sleep(for: value == "a" ? .seconds(2) : .milliseconds(1))
            sink.yield("end \(value)")
          })
        try await radio.serve([LocalService("FFF0", input)], as: "Lamp") { _ in
          let lamp = try await phone.connect(to: .service("FFF0"))
          for value in ["a", "b"] { try await lamp.writeWithoutResponse(value, to: Self.text) }
          try await lamp.write("c", to: Self.text)
        }
      }
    }
    sink.finish()
    var all: [String] = []
    for await step in steps { all.append(step) }
    #expect(all == ["a", "b", "c"].flatMap { ["begin \($0)", "end \($0)"] })
  }

  /// 248 bytes are the longest name (Vol 3, Part C, 12.1), and an advertisement has room for less.
  @Test func aNameThatIsTooLongIsRefused() async throws {
    await #expect(throws: BluetoothError.self) {
      try await withRadio("virtual:air=table-name") { radio in
        try await radio.serve([LocalService("FFF0")], as: String(repeating: "x", count: 249)) { _ in }
      }
    }
  }

  @Test func descriptorsAreRead() async throws {
    let text = LocalCharacteristic(
      Self.text, "on",
      descriptors: [
        LocalDescriptor("2901", "The state"), LocalDescriptor("2904", [0x19, 0, 0, 0x27, 1, 0, 0]),
      ])
    try await serve("descriptors", [LocalService("FFF0", text)]) { phone, _ in
      let lamp = try await phone.connect(to: .service("FFF0"))
      let found = try await lamp.descriptors(of: Self.text)
      #expect(Set(found.map(\.uuid)) == ["2901", "2902", "2904"])
      #expect(try await lamp.read(DescriptorID("2901", of: Self.text)) == Array("The state".utf8))
      let format = try #require(found.first { $0.uuid == "2904" })
      #expect(try await lamp.read(format) == [0x19, 0, 0, 0x27, 1, 0, 0])
      // A descriptor that is read-only, one that is not there, and one that is not for programs.
      for (id, code) in [
        (format, BluetoothError.Code.notPermitted), (DescriptorID("2905", of: Self.text), .notFound),
        (DescriptorID("2902", of: Self.text), .invalidValue),
      ] {
        do {
          try await lamp.write([1, 0], to: id)
          Issue.record("\(id) was written")
        } catch let error as BluetoothError {
          #expect(error.code == code)
        }
      }
    }
  }

  @Test func aServiceIncludesAnother() async throws {
    let battery = LocalService("180F", isPrimary: false, LocalCharacteristic(.batteryLevel, 81))
    let lamp = LocalService("FFF0", including: [battery], LocalCharacteristic(Self.text, "on"))
    try await serve("included", [battery, lamp]) { phone, server in
      let link = try await phone.connect(to: .service("FFF0"))
      #expect(try await link.services().map(\.uuid).suffix(2) == ["180F", "FFF0"])
      await #expect(throws: BluetoothError.self) { try await server.remove(battery) }
      try await server.remove(lamp)
      try await server.remove(battery)
    }
    await #expect(throws: BluetoothError.self) { try await serve("wrong", [lamp]) { _, _ in } }
  }

  /// A phone whose link is not encrypted begins to pair when it gets this error.
  @Test(arguments: [SecurityLevel.encrypted, .authenticated])
  func aValueMayNeedASecureLink(_ level: SecurityLevel) async throws {
    let secret = LocalCharacteristic(
      Self.text, "secret", properties: [.read, .write, .notify], security: level)
    try await serve("security-\(level)", [LocalService("FFF0", secret)]) { phone, _ in
      let lamp = try await phone.connect(to: .service("FFF0"))
      func check(_ call: () async throws -> Void) async {
        do {
          try await call()
          Issue.record("it is allowed")
        } catch {
          #expect((error as? BluetoothError)?.attCode == .insufficientAuthentication)
        }
      }
      await check { _ = try await lamp.read(Self.text) }
      await check { try await lamp.write("x", to: Self.text) }
      await check { for try await _ in lamp.values(of: Self.text) { break } }
    }
  }

  /// The program decides who may write.
  @Test func aClosureRefusesAClient() async throws {
    let text = LocalCharacteristic(Self.text) { _ in
      "on"
    } write: { _, client in
      if client.peer != BluetoothAddress("C0:11:22:33:A1:B2") { throw ATTErrorCode.insufficientAuthorization }
    }
    try await serve("authorization", [LocalService("FFF0", text)]) { phone, server in
      let lamp = try await phone.connect(to: .name("Lamp"))
      do {
        try await lamp.write("off", to: Self.text)
        Issue.record("it was written")
      } catch let error as BluetoothError {
        #expect(error.attCode == .insufficientAuthorization)
      }
      try await withRadio("virtual:air=table-authorization,address=C0:11:22:33:A1:B2") { friend in
        try await friend.connect(to: .address(server.address)).write("off", to: Self.text)
      }
    }
  }

  @Test func appearanceAndPreferredParametersAreRead() async throws {
    let preferred = PreferredConnectionParameters(
      shortestInterval: 12, longestInterval: 24, latency: 0, timeout: 600)
    let watch = AppearanceValue(rawValue: 0x00C0)
    try await serve("presence", [], appearance: watch, preferring: preferred) { phone, _ in
      let heard = try #require(try await phone.devices(within: .seconds(1)).first)
      #expect(heard.advertisingData?.bytes.suffix(4) == [3, 0x19, 0xC0, 0x00])
      let lamp = try await phone.connect(to: .name("Lamp"))
      #expect(try await lamp.read(.appearance) == watch)
      #expect(try await lamp.read(.preferredConnectionParameters) == preferred)
    }
  }

  @Test func servicesComeAndGoWhileAPhoneIsConnected() async throws {
    let text = LocalCharacteristic(Self.text, "on")
    let service = LocalService("FFF0", text)
    let battery = LocalService("180F", LocalCharacteristic(.batteryLevel, 81))
    try await serve("changes", [battery]) { phone, server in
      let lamp = try await phone.connect(to: .name("Lamp"))
      #expect(try await lamp.services().map(\.uuid).contains("FFF0") == false)
      try await server.add(service)
      #expect(try await lamp.read(Self.text) == "on")
      // Other phones find it by its service.
      try await withRadio("virtual:air=table-changes") { other in
        let second = try await other.connect(to: .service("FFF0"), within: .seconds(5))
        #expect(try await second.read(Self.text) == "on")
        try await server.remove(service)
        await #expect(throws: BluetoothError.self) { try await second.read(Self.text) }
      }
      await #expect(throws: BluetoothError.self) { try await lamp.read(Self.text) }
      #expect(try await lamp.read(.batteryLevel) == 81)
      // It can be offered again, with the value that it had.
      try await server.add(service)
      await #expect(throws: BluetoothError.self) { try await server.add(service) }
      #expect(try await lamp.read(Self.text) == "on")
    }
  }

  @Test func nameAndDataChangeWhileTheDeviceIsAdvertised() async throws {
    let battery = LocalService("180F", LocalCharacteristic(.batteryLevel, 81))
    try await serve("names", [battery]) { phone, server in
      let company = AdvertisingData.ManufacturerData(company: .init(rawValue: 0xFFFF), data: [1, 2, 3])
      try await server.change(
        name: "Lamp 2", data: AdvertisingData(localName: nil, manufacturerData: [company]))
      let heard = try #require(try await phone.devices(within: .seconds(1)).first)
      #expect(heard.advertisingData?.manufacturerData == [company])
      #expect(heard.scanResponse?.localName == "Lamp 2" && heard.serviceUUIDs == ["180F"])
      let lamp = try await phone.connect(to: .name("Lamp 2"))
      #expect(try await lamp.read(.deviceName) == "Lamp 2")
      // What does not fit changes nothing.
      let long = String(repeating: "x", count: 40)
      await #expect(throws: BluetoothError.self) { try await server.change(name: long) }
      await #expect(throws: BluetoothError.self) {
        try await server.change(name: "Lamp 3", data: AdvertisingData(Array(repeating: 1, count: 60)))
      }
      #expect(try await lamp.read(.deviceName) == "Lamp 2")
    }
  }

  /// Phones would get a part of it, or nothing.
  @Test func moreThan512BytesAreRefused() async throws {
    let id = CharacteristicID<[UInt8]>("FFF1", in: "FFF0")
    let long = [UInt8](repeating: 7, count: 513)
    let text = String(repeating: "x", count: 513)
    for value in [
      LocalCharacteristic(id, long),
      LocalCharacteristic(id, [], descriptors: [LocalDescriptor("2901", text)]),
    ] {
      do {
        try await serve("long", [LocalService("FFF0", value)]) { _, _ in }
        Issue.record("it was served")
      } catch let error as BluetoothError {
        #expect(error.code == .invalidValue && error.description.contains("513"))
      }
    }
    let value = LocalCharacteristic(id, Array(long.prefix(512)))
    try await serve("fitting", [LocalService("FFF0", value)]) { phone, _ in
      let lamp = try await phone.connect(to: .name("Lamp"))
      await #expect(throws: BluetoothError.self) { try await value.notify(long) }
      #expect(try await lamp.read(id).count == 512)
    }
  }

  @Test func anEndedServerRefusesChanges() async throws {
    nonisolated(unsafe) var last: Server?
    try await serve("ended", []) { _, server in last = server }
    let server = try #require(last)
    await #expect(throws: BluetoothError.self) { try await server.change(name: "Lamp 2") }
    await #expect(throws: BluetoothError.self) { try await server.add(LocalService("180F")) }
  }
}
