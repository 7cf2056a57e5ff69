import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloRaw
import TestLink
import TestLoop
import TestSupport
import Testing
import HaloSimulation

/// Services that a program offers, met by programs on other radios in the same air.
@BluetoothActor
@Suite(.onTheLoop) struct ServerTests {
  private let medium = RadioMedium(timers: testTimers)

  private func transport(_ number: UInt64) -> SimulatedTransport {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
    return SimulatedTransport(medium, options)
  }

  private func radio(_ number: UInt64) async throws -> Radio {
    try await Radio.start(OpenedAdapter(HCIAdapter(transport(number))))
  }

  private static let temperature = CharacteristicID<Celsius>.temperature
  private static let order = CharacteristicID<[UInt8]>(0xFF01, in: 0xFF00)

  private func phone(_ number: UInt64 = 2) async throws -> Connection {
    try await radio(number).connect(to: .service("181A"), within: .seconds(5))
  }

  /// Serves a thermometer while `body` runs.
  private func serve<Result>(
    _ temperature: LocalCharacteristic<Celsius>, _ body: (Server) async throws -> Result
  ) async throws -> Result {
    try await radio(1).serve([LocalService("181A", temperature)], as: "Thermometer", body)
  }

  @Test func aValueIsReadAndNotified() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20.5)
    try await serve(temperature) { server in
      #expect(server.address.value == 0xC000_0000_0001)
      let phone = try await phone()
      #expect(try await phone.read(.temperature).degrees == 20.5)
      #expect(try await phone.read(.deviceName) == "Thermometer")
      let values = spawn { try await phone.values(of: Self.temperature).first(2).map(\.value) }
      for try await count in temperature.subscriberCounts where count == 1 { break }
      try await temperature.notify(21)
      try await temperature.notify(21.5)
      #expect(try await values.value == [21, 21.5])
      #expect(try await phone.read(.temperature) == 21.5)
    }
  }

  @Test func silentDevicesAndThoseThatAreNotAllowedMakeRoom() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    let phones = [BluetoothAddress("C0:00:00:00:00:02"), BluetoothAddress("C0:00:00:00:00:03")].compactMap {
      $0
    }
    try await radio(1).serve(
      [LocalService("181A", temperature)], as: "Thermometer", maximumConnections: 1, idleLimit: .seconds(30),
      allowing: phones
    ) { _ in
      let first = try await phone(2)
      #expect(try await first.read(.temperature).degrees == 20)
      // The client subscribes to Service Changed meanwhile, which is a PDU.
      await testTimers.sleep(for: .seconds(60))
      // The second one has the only place, and a third may not have it.
      let second = try await phone(3)
      #expect(try await second.read(.temperature).degrees == 20)
      await second.disconnect()
      await #expect(throws: BluetoothError.self) {
        let third = try await phone(4)
        await testTimers.sleep(for: .seconds(1))
        _ = try await third.read(.temperature)
      }
    }
  }

  private static let disallowed = StackError.commandFailed(LESetAdvertisingEnable.opcode, .commandDisallowed)

  /// Controllers that refuse to advertise (abandonware/bleno#20). The program runs when others can find it.
  @Test func bodyRunsOnceAdvertisingStarts() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let temperature = LocalCharacteristic(Self.temperature, 20)
    var failures: [BluetoothError?] = []
    let serving = spawn {
      try await radio.serve([LocalService("181A", temperature)], as: "Thermometer") { server in
        failures.append(server.advertisingFailure)
        adapter.advertise(Self.disallowed)
        failures.append(server.advertisingFailure)
        adapter.advertise(nil)
        failures.append(server.advertisingFailure)
      }
    }
    await testTimers.sleep(for: .seconds(1))
    adapter.advertise(Self.disallowed)
    await testTimers.sleep(for: .seconds(1))
    #expect(failures.isEmpty)
    adapter.advertise(nil)
    try await serving.value
    #expect(failures.map { $0?.code } == [nil, .refused, nil])
    #expect(failures[1]?.description.contains("Command Disallowed") == true)
  }

  @Test func aRadioThatRefusesForSecondsIsAnErrorAndCanBeUsedAgain() async throws {
    let adapter = FakeAdapter()
    let radio = try await Radio.start(OpenedAdapter(adapter))
    let temperature = LocalCharacteristic(Self.temperature, 20)
    for _ in 0..<2 {
      let serving = spawn { () -> Void in
        try await radio.serve([LocalService("181A", temperature)], as: "Thermometer") { _ in
          _ = Issue.record("it is not advertised")
        }
      }
      await testTimers.sleep(for: .seconds(1))
      adapter.advertise(Self.disallowed)
      let error = await failure { try await serving.value }
      #expect(error?.code == .refused && error?.description.contains("Command Disallowed") == true)
      #expect(adapter.advertised == nil)
    }
    try await radio.close()
  }

  /// A program with both roles on such a controller: others find it, and it finds them, in turns.
  @Test(arguments: [false, true], [false, true])
  func aControllerThatScansOrAdvertisesServesBoth(_ bluetooth5: Bool, cannotInitiate: Bool) async throws {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0xC000_0000_0001, .public)
    options.cannotScanWhileAdvertising = true
    options.cannotInitiateWhileAdvertising = cannotInitiate
    options.bluetooth5 = bluetooth5
    let both = try await Radio.start(OpenedAdapter(HCIAdapter(SimulatedTransport(medium, options))))
    let humidity = LocalCharacteristic(CharacteristicID<[UInt8]>(0xFF11, in: 0xFF10), [40])
    try await radio(3).serve([LocalService("FF10", humidity)], as: "Hygrometer") { _ in
      let temperature = LocalCharacteristic(Self.temperature, 20)
      try await both.serve([LocalService("181A", temperature)], as: "Thermometer") { _ in
        let devices = try await both.devices(within: .seconds(20))
        #expect(devices.map(\.localName) == ["Hygrometer"])
        let search = spawn { try await both.connect(to: .service("FF10"), within: .seconds(30)).peer }
        let phone = try await radio(2).connect(to: .service("181A"), within: .seconds(30))
        #expect(try await phone.read(.temperature) == 20)
        #expect(try await search.value.value == 0xC000_0000_0003)
      }
    }
  }

  /// The end of the program is not the end of values that were taken and wait for room on the link.
  @Test func sendsAcceptedValuesBeforeServerEnds() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 0)
    var heard: Task<[Celsius], any Error>?
    try await serve(temperature) { _ in
      let phone = try await phone()
      heard = spawn { try await phone.values(of: Self.temperature).first(60).map(\.value) }
      for try await count in temperature.subscriberCounts where count == 1 { break }
      for degrees in 1...60 { try await temperature.notify(Celsius(Double(degrees))) }
    }
    #expect(try await heard?.value == (1...60).map { Celsius(Double($0)) })
  }

  /// A phone that keeps the attributes of a device compares this. The hash was computed with Python's cryptography, from the
  /// attributes as they are discovered.
  @Test(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
  func aPhoneSeesTheHashOfTheAttributes() async throws {
    try await serve(LocalCharacteristic(Self.temperature, 20)) { _ in
      let phone = try await phone()
      let hash = try await phone.read(CharacteristicID<[UInt8]>(0x2B2A, in: 0x1801))
      #expect(hash == hex("cdd7a59da914f1508f015b28340e1a9e"))
      let services = try await phone.services()
      #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x181A])
    }
  }

  /// What the program throws is what the client gets; nothing it does leaves a client without an answer (noble/bleno 166: a
  /// handler that forgot its callback ended the link after 30 seconds).
  @Test func closuresAnswer() async throws {
    var taken: [[UInt8]] = []
    let orders = LocalCharacteristic(Self.order) { _ in
      if taken.isEmpty { throw ATTErrorCode.writeRequestRejected }
      return taken.last ?? []
    } write: { value, phone in
      #expect(phone.peer.value == 0xC000_0000_0002)
      if value.isEmpty { throw CancellationError() }
      taken.append(value)
    }
    try await radio(1).serve([LocalService(0xFF00, orders)], as: "Kitchen") { _ in
      let phone = try await radio(2).connect(to: .name("Kitchen"))
      #expect(await failure { try await phone.read(Self.order) }?.attCode == .writeRequestRejected)
      try await phone.write([7], to: Self.order)
      #expect(try await phone.read(Self.order) == [7])
      #expect(await failure { try await phone.write([], to: Self.order) }?.attCode == .unlikelyError)
      #expect(taken == [[7]])
    }
  }

  /// A value that has not the form of its type never comes to the program.
  @Test func rejectsInvalidWrites() async throws {
    let level = LocalCharacteristic(CharacteristicID<Percent>(0xFF02, in: 0xFF00)) { _, _ in
      Issue.record("the program was called")
    }
    let raw = CharacteristicID<[UInt8]>(0xFF02, in: 0xFF00)
    try await radio(1).serve([LocalService(0xFF00, level)], as: "Lamp") { _ in
      let phone = try await radio(2).connect(to: .name("Lamp"))
      #expect(await failure { try await phone.write([], to: raw) }?.attCode == .invalidAttributeValueLength)
      #expect(
        await failure { try await phone.write([1, 2], to: raw) }?.attCode == .invalidAttributeValueLength)
    }
  }

  /// stoprocent/bleno 6, noble/bleno 197: of values in a row some were lost, or the adapter took nothing any more.
  @Test(arguments: [1, 3]) func notifyAppliesBackPressureWithoutLoss(phones: Int) async throws {
    let bytes = LocalCharacteristic(Self.order, [])
    try await radio(1).serve([LocalService(0xFF00, bytes)], as: "Source", maximumConnections: phones) { _ in
      var values: [Task<[Received<[UInt8]>], any Error>] = []
      for number in 0..<phones {
        let phone = try await radio(UInt64(2 + number)).connect(to: .name("Source"))
        values.append(spawn { try await phone.values(of: Self.order, keepingNewest: 1000).first(500) })
      }
      for try await count in bytes.subscriberCounts where count == phones { break }
      for number in 0..<500 { try await bytes.notify([UInt8(number & 0xFF), UInt8(number >> 8)]) }
      for heard in values {
        let numbers = try await heard.value.map { Int($0.value[0]) | Int($0.value[1]) << 8 }
        #expect(numbers == Array(0..<500))
      }
    }
  }

  /// Only the newest value waits, and the program does not.
  @Test func theNewestValueIsEnough() async throws {
    let bytes = LocalCharacteristic(Self.order, [])
    try await radio(1).serve([LocalService(0xFF00, bytes)], as: "Source") { _ in
      let phone = try await radio(2).connect(to: .name("Source"))
      let values = spawn {
        var last: [UInt8] = []
        for try await value in phone.values(of: Self.order) where value.value.count == 2 {
          last = value.value
          if last == [0xE7, 3] { break }
        }
        return last
      }
      for try await count in bytes.subscriberCounts where count == 1 { break }
      let begin = testTimers.now
      for number in 0..<1000 {
        try await bytes.notify([UInt8(number & 0xFF), UInt8(number >> 8)], keepsOnlyNewest: true)
      }
      #expect(testTimers.now == begin)
      #expect(try await values.value == [0xE7, 3])
    }
  }

  /// ukBaz/python-bluezero 344, bluez/bluez 1015: nothing was advertised any more after the first device had connected.
  @Test func severalDevicesConnectAndItAdvertisesAgain() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    try await serve(temperature) { server in
      let connections = spawn { try await server.connections.first(3).map(\.peer.value) }
      let first = try await phone(2)
      let second = try await phone(3)
      let values = spawn { try await second.values(of: Self.temperature).first(1) }
      for try await count in temperature.subscriberCounts where count == 1 { break }
      try await temperature.notify(22)
      #expect(try await values.value.map(\.value) == [22])
      await first.disconnect()
      _ = try await phone(4)
      #expect(try await connections.value == [0xC000_0000_0002, 0xC000_0000_0003, 0xC000_0000_0004])
    }
  }

  /// A program measures while somebody listens. A device that is gone listens no more.
  @Test func subscribersAreCounted() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    let counts = try await serve(temperature) { _ in
      let counts = spawn { try await temperature.subscriberCounts.first(4) }
      let first = try await phone(2)
      let values = spawn { try await first.values(of: Self.temperature).first(1) }
      for try await count in temperature.subscriberCounts where count == 1 { break }
      try await temperature.notify(1)
      _ = try await values.value
      let second = try await phone(3)
      let others = spawn { try await second.values(of: Self.temperature).first(1) }
      for try await count in temperature.subscriberCounts where count == 1 { break }
      let counted = try await counts.value
      await second.disconnect()
      _ = try? await others.value
      return counted
    }
    #expect(counts == [0, 1, 0, 1])
    #expect(try await temperature.subscriberCounts.first(1) == [])
  }

  @Test func theEndOfTheBodyEndsTheLinks() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    let radio = try await radio(1)
    let services = [LocalService("181A", temperature)]
    let phone = try await radio.serve(services, as: "A") { _ in try await self.phone() }
    #expect(await failure { try await phone.read(.temperature) }?.code == .linkLost)
    #expect(await failure { try await self.phone(3) }?.code == .notFound)
    // It can be served again.
    let degrees = try await radio.serve(services, as: "B") { _ in
      try await self.phone(4).read(.temperature).degrees
    }
    #expect(degrees == 20)
  }

  @Test func aCancelledProgramServesNoMore() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    let radio = try await radio(1)
    let task = spawn {
      try await radio.serve([LocalService("181A", temperature)], as: "A") { _ in
        try await radio.clock.sleep(for: .seconds(1000))
      }
    }
    let phone = try await phone()
    task.cancel()
    #expect(await failure { try await task.value }?.code == .cancelled)
    #expect(await failure { try await phone.read(.temperature) }?.code == .linkLost)
  }

  /// A closure that still works for a device that is gone is cancelled.
  @Test func disconnectionCancelsReadClosure() async throws {
    var ends = 0
    let timers = testTimers
    let slow = LocalCharacteristic(Self.temperature) { _ in
      await timers.sleep(for: .seconds(20))
      if Task.isCancelled { ends += 1 }
      return 20
    }
    try await serve(slow) { _ in
      let phone = try await phone()
      let read = spawn { try await phone.read(.temperature) }
      await testTimers.sleep(for: .seconds(1))
      await phone.disconnect()
      _ = try? await read.value
      await testTimers.sleep(for: .seconds(1))
    }
    #expect(ends == 1)
  }

  /// bluez/bluez 1015: a device on a wall was not found any more after some days. Whatever ends the radio, it advertises again.
  @Test func aRadioThatFailsServesAgain() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    let transport = transport(1)
    let radio = try await Radio.start(OpenedAdapter(HCIAdapter(transport)))
    try await radio.serve([LocalService("181A", temperature)], as: "Thermometer") { _ in
      for number: UInt64 in 2...3 {
        let phone = try await phone(number)
        #expect(try await phone.read(.temperature) == 20)
        transport.controller?.fail(code: 3)
        #expect(await failure { try await phone.read(.temperature) }?.code == .linkLost)
        await testTimers.sleep(for: .seconds(60))
      }
      let closed = transport.onClose
      transport.close()
      closed?("unplugged")
      await testTimers.sleep(for: .seconds(60))
      let degrees = try await phone(4).read(.temperature).degrees
      #expect(degrees == 20)
    }
  }

  @Test func aCharacteristicBelongsToOneRadio() async throws {
    let temperature = LocalCharacteristic(Self.temperature, 20)
    try await serve(temperature) { _ in
      let other = try await radio(7)
      let error = await failure {
        try await other.serve([LocalService("181A", temperature)], as: "B") { _ in }
      }
      #expect(error?.code == .invalidValue)
      // The first one has it still.
      try await temperature.notify(21)
      let degrees = try await phone().read(.temperature).degrees
      #expect(degrees == 21)
    }
  }

  @Test func rejectsInvalidServerConfiguration() async throws {
    let radio = try await radio(1)
    let temperature = LocalCharacteristic(Self.temperature, 20)
    #expect(await failure { try await temperature.notify(1) }?.code == .closed)
    let many = ["6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E", "6E40FFF1-B5A3-F393-E0A9-E50E24DCCA9E"].map {
      LocalService(BluetoothUUID(stringLiteral: $0))
    }
    let tooLong = String(repeating: "x", count: 30)
    for (services, name) in [(many, "A"), ([LocalService("181A", temperature)], tooLong)] {
      let error = await failure { try await radio.serve(services, as: name) { _ in } }
      #expect(error?.code == .invalidValue)
    }
    let twice = [LocalService("181A", temperature), LocalService("181A", temperature)]
    #expect(await failure { try await radio.serve(twice, as: "A") { _ in } }?.code == .invalidValue)
    // Nothing of that is left.
    try await radio.serve([LocalService("181A", temperature)], as: "A") { _ in
      let error = await failure { try await radio.serve([], as: "B") { _ in } }
      #expect(error?.code == .refused)
      let degrees = try await phone().read(.temperature).degrees
      #expect(degrees == 20)
    }
  }
}
