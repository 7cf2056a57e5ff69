import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloRaw
import TestLoop
import Testing
import HaloSimulation

/// A radio has one link to a device, for as long as somebody uses it, whichever side has made it.
@BluetoothActor
@Suite(.onTheLoop) struct SharedLinkTests {
  private let battery = CharacteristicID<Percent>.batteryLevel

  private func sleep(_ time: Duration) async { await testTimers.sleep(for: time) }

  /// Reads once, and forgets the connection.
  private func readOnce(_ radio: Radio) async throws -> Percent {
    try await radio.connect(to: .service(0x180D)).read(battery)
  }

  /// A program that connects in a function was refused the second time: the radio kept the link, so that the device did not
  /// advertise.
  @Test func unusedConnectionDisconnects() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    for _ in 0..<3 {
      #expect(try await readOnce(radio) == 81)
      await sleep(.seconds(1))
      #expect(!strap.isConnected)
    }
    // At once, too.
    for _ in 0..<3 { #expect(try await readOnce(radio) == 81) }
    try await radio.close()
  }

  @Test(arguments: [false, true]) func twoConnectionsShareALink(byAddress: Bool) async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    let device: DeviceSelector = byAddress ? .address(Strap.address) : .service(0x180D)
    let first = try await radio.connect(to: device)
    let begin = testTimers.now
    let second = try await radio.connect(to: device)
    #expect(testTimers.now == begin)
    var heard: [[Int]] = [[], []]
    let listeners = [first, second].enumerated().map { index, connection in
      spawn {
        for try await value in connection.values(of: Strap.measurement) {
          heard[index].append(Int(value.value.beatsPerMinute))
        }
      }
    }
    await strap.untilConfigured()
    await sleep(.seconds(1))
    strap.notify([0, 60])
    await sleep(.seconds(1))
    await first.disconnect()
    #expect(strap.isConnected)
    #expect(await failure { try await first.read(battery) }?.code == .closed)
    strap.notify([0, 61])
    await sleep(.seconds(1))
    #expect(heard == [[60], [60, 61]])
    #expect(try await second.read(battery) == 81)
    await second.disconnect()
    #expect(!strap.isConnected)
    for listener in listeners { _ = await failure { try await listener.value } }
    try await radio.close()
  }

  /// The link that there is was taken for that of any service.
  @Test func aLinkToAnotherDeviceIsNotTaken() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    let first = try await radio.connect(to: .service(0x180D))
    #expect(
      await failure { try await radio.connect(to: .service(0x1809), within: .seconds(2)) }?.code == .notFound)
    await first.disconnect()
    try await radio.close()
  }

  /// It was connected to by its address, and does not advertise: it says itself what it is.
  @Test(arguments: [DeviceSelector.name("strap"), .service(0x180D)])
  func findsConnectedDeviceByNameOrService(_ device: DeviceSelector) async throws {
    let strap = try await Strap()
    strap.database.addGenericAccess(name: "Strap")
    let radio = try await strap.radio()
    let first = try await radio.connect(to: .address(Strap.address))
    let second = try await radio.connect(to: device, within: .seconds(2))
    #expect(try await second.read(battery) == 81)
    #expect(
      await failure { try await radio.connect(to: .name("Other"), within: .seconds(2)) }?.code == .notFound)
    await first.disconnect()
    await second.disconnect()
    try await radio.close()
  }

  @Test func connectionsThatAreMadeAtTheSameTimeShareALink() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    let attempts = (0..<4).map { _ in
      spawn { try await radio.connect(to: .address(Strap.address), within: .seconds(20)) }
    }
    await sleep(.milliseconds(1))
    attempts[0].cancel()
    _ = await failure { try await attempts[0].value }
    for attempt in attempts.dropFirst() { #expect(try await attempt.value.read(battery) == 81) }
    try await radio.close()
    #expect(!strap.isConnected)
  }

  /// Each hears of the link's changes; the second one took the events of the first.
  @Test func eachConnectionHearsOfTheChangesOfItsLink() async throws {
    let strap = try await Strap()
    let radio = try await strap.radio()
    var events: [[ConnectionEvent.Kind]] = [[], []]
    let connections = [
      try await radio.connect(to: .service(0x180D)), try await radio.connect(to: .service(0x180D)),
    ]
    let listeners = connections.enumerated().map { index, connection in
      spawn { for try await event in connection.events { events[index].append(event.kind) } }
    }
    await sleep(.seconds(1))
    await strap.askForAnotherInterval()
    await sleep(.seconds(1))
    #expect(events[0].contains(.linkChanged) && events[0] == events[1])
    for connection in connections { await connection.disconnect() }
    for listener in listeners { try await listener.value }
    try await radio.close()
  }

  /// After a loss, the time to come back in is not that of the requests that a program makes much later.
  @Test func aRequestHasItsWholeTimeOnTheNextLink() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .within(.seconds(20)))
    #expect(try await connection.read(battery) == 81)
    await strap.leave()
    await sleep(.seconds(30))
    strap.answerTime = .seconds(8)
    try await connection.write([1], to: Strap.controlPoint)
    #expect(strap.writes == [[1]])
    await connection.disconnect()
  }

  /// A phone that is connected to what this radio serves has services, too: 10 s passed, and then the controller refused.
  @Test func aDeviceThatHasConnectedIsUsedOnItsLink() async throws {
    let medium = RadioMedium(timers: testTimers)
    func adapter(_ number: UInt64) -> HCIAdapter {
      var options = ControllerOptions()
      options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
      return HCIAdapter(SimulatedTransport(medium, options))
    }
    let pi = try await Radio.start(OpenedAdapter(adapter(1)))
    let phone = Central(adapter(2))
    try await phone.start()
    let services = AttributeDatabase()
    services.addService(0x1805)
    services.addCharacteristic(0x2A2B, .read, value: [9])
    let id = CharacteristicID<[UInt8]>(0xFF01, in: 0xFF00)
    let time = CharacteristicID<[UInt8]>(0x2A2B, in: 0x1805)
    try await pi.serve([LocalService(0xFF00, LocalCharacteristic(id, [7]))], as: "Pi") { server in
      let link = try await phone.connect(ConnectionRequest(peer: server.address))
      link.serve(services)
      #expect(try await link.gatt.readFirst(uuid: id.uuid) == [7])
      let begin = testTimers.now
      let back = try await pi.connect(to: .address(BluetoothAddress(0xC000_0000_0002, .public)))
      #expect(testTimers.now - begin < .seconds(1))
      #expect(try await back.read(time) == [9])
      await back.disconnect()
      // The link is the phone's.
      #expect(link.isConnected)
      #expect(try await link.gatt.readFirst(uuid: id.uuid) == [7])
      await link.disconnect()
    }
    await phone.stop()
    try await pi.close()
  }

  /// Apps that trace contacts have both roles: each connects to the other one, and uses its services on the one link that there
  /// is (OpenTrace, TCN). Whoever had made it had no services for the other side.
  @Test(arguments: [false, true]) func connectedPeripheralUsesServedAttributes(isServedFirst: Bool)
    async throws
  {
    let meeting = try await Meeting()
    let id = CharacteristicID<[UInt8]>(0xFF01, in: 0xFF00)
    let value = LocalCharacteristic(id, [7])
    if !isServedFirst { try await meeting.connect() }
    try await meeting.pi.serve([LocalService(0xFF00, value)], as: "Pi") { server in
      if isServedFirst { try await meeting.connect() }
      #expect(try await meeting.connection?.read(meeting.time) == [9])
      let link = try #require(meeting.link)
      #expect(try await link.gatt.readFirst(uuid: id.uuid) == [7])
      // It is no device that has connected.
      let listed = spawn {
        for try await _ in server.connections { return true }
        return false
      }
      await sleep(.seconds(1))
      var heard: [[UInt8]] = []
      let service = try #require(try await link.gatt.firstService(0xFF00))
      let characteristic = try #require(try await link.gatt.discoverCharacteristics(of: service).first)
      _ = try await link.gatt.subscribe(to: characteristic) { value, _ in heard.append(Array(value)) }
      try await value.notify([8])
      await sleep(.seconds(1))
      #expect(heard == [[8]])
      listed.cancel()
      #expect(try await listed.value == false)
    }
    // What is served ends, and the link stays.
    let link = try #require(meeting.link)
    #expect(link.isConnected)
    #expect(try await link.gatt.readFirst(uuid: id.uuid) == nil)
    #expect(try await meeting.connection?.read(meeting.time) == [9])
    try await meeting.end()
  }

  /// Data renew the time that a lost link has: with pauses that grew, 223 of 1,200 values came, with gaps of 16 s.
  @Test func aDeviceWhoseLinksLastThreeSecondsIsFollowed() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .within(.seconds(20)))
    var count = 0
    var longest = Duration.zero
    let listener = spawn {
      for try await value in connection.values(of: Strap.measurement) {
        count += 1
        longest = max(longest, value.gap ?? .zero)
      }
    }
    await strap.untilConfigured()
    var number: UInt8 = 0
    for _ in 0..<20 {
      for _ in 0..<60 {
        number &+= 1
        strap.notify([0, number])
        await sleep(.milliseconds(50))
      }
      await strap.leave()
    }
    #expect(longest < .seconds(1), "\(longest)")
    #expect(count > 900, "\(count)")
    await connection.disconnect()
    _ = await failure { try await listener.value }
  }

  /// A link that is made and gives nothing does not renew it.
  @Test func linksWithoutDataDoNotRenewReconnectBudget() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection(reconnect: .within(.seconds(20)))
    #expect(try await connection.read(battery) == 81)
    let begin = testTimers.now
    var end: Instant?
    let events = spawn {
      for try await _ in connection.events {}
      end = testTimers.now
    }
    for _ in 0..<100 where end == nil {
      await sleep(.milliseconds(500))
      await strap.leave()
    }
    _ = try? await events.value
    #expect(try #require(end) - begin < .seconds(25))
  }

  @Test func theMTUIsExchangedBeforeTheFirstValue() async throws {
    let strap = try await Strap()
    let connection = try await strap.connection()
    #expect(connection.status().mtu > 100)
    await connection.disconnect()
  }
}

/// A radio with both roles, and a phone that advertises, with services of its own.
@BluetoothActor
private final class Meeting {
  let pi: Radio
  let time = CharacteristicID<[UInt8]>(0x2A2B, in: 0x1805)
  private(set) var connection: Connection?
  /// The phone's end of the link.
  private(set) var link: GATTLink?
  private let phone: Peripheral

  init() async throws {
    let medium = RadioMedium(timers: testTimers)
    func adapter(_ number: UInt64) -> HCIAdapter {
      var options = ControllerOptions()
      options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
      return HCIAdapter(SimulatedTransport(medium, options))
    }
    pi = try await Radio.start(OpenedAdapter(adapter(1)))
    let services = AttributeDatabase()
    services.addService(0x1805)
    services.addCharacteristic(0x2A2B, .read, value: [9])
    let adapterOfPhone = adapter(2)
    _ = try await adapterOfPhone.start()
    phone = Peripheral(adapterOfPhone, serving: services)
    phone.onConnection = { [unowned self] in link = $0 }
    try phone.startAdvertising(
      Advertising(AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])])))
  }

  func connect() async throws {
    connection = try await pi.connect(to: .address(BluetoothAddress(0xC000_0000_0002, .public)))
  }

  func end() async throws {
    await connection?.disconnect()
    await phone.stop()
    try await pi.close()
  }
}
