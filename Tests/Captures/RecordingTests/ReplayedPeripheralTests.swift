import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloRecording

private let heartRate = uuid("2a37")
private let controlPoint = uuid("2a39")
private let battery = uuid("2a19")

/// Programs on GATTClient against a recorded device: it answers by meaning, not by position.
@BluetoothActor
@Suite(.onTheLoop, .serialized) struct ReplayedPeripheralTests {
  private var script = ATTScript()

  @Test mutating func discoveryIsAnsweredInOtherRangesAndWidths() async throws {
    script.discover()
    let replay = try await ReplayedClient(script.traffic())
    // The recorded client asked for all services; this one asks for one by its UUID.
    let service = try #require(try await replay.connection.gatt.firstService(uuid("180d")))
    #expect(service.handles == HandleRange(0x0010, 0x0016))
    let found = try await replay.connection.gatt.discoverCharacteristics(of: service)
    #expect(found.map(\.uuid) == [heartRate, controlPoint])
    #expect(found.map(\.valueHandle) == [0x0012, 0x0015])
    let descriptors = try await replay.connection.gatt.discoverDescriptors(of: found[0])
    #expect(descriptors.map(\.handle) == [0x0013])
    let all = try await replay.connection.gatt.discoverServices()
    #expect(all.map(\.uuid) == [uuid("180d"), uuid("180f")])
    #expect(replay.peripheral.missing.isEmpty)
    await replay.central.stop()
  }

  @Test mutating func repeatedReadsGetTheRecordedValuesAndThenTheLast() async throws {
    script.discover()
    for level in [90, 89, 88] as [UInt8] { script.ask(ATTReadRequest(0x0022), ATTReadResponse([level])) }
    let replay = try await ReplayedClient(script.traffic())
    var levels: [UInt8] = []
    for _ in 0..<4 { levels += try await replay.connection.gatt.read(AttributeHandle(0x0022)) }
    #expect(levels == [90, 89, 88, 88])
    await replay.central.stop()
  }

  @Test mutating func aLongValueIsReadWithAnyMTU() async throws {
    script.discover()
    // Read with the default MTU: in parts of 22 bytes.
    let value = (0..<60).map { UInt8($0) }
    script.ask(ATTReadRequest(0x0022), ATTReadResponse(Array(value[..<22])))
    script.ask(ATTReadBlobRequest(0x0022, offset: 22), ATTReadBlobResponse(Array(value[22..<44])))
    script.ask(ATTReadBlobRequest(0x0022, offset: 44), ATTReadBlobResponse(Array(value[44...])))
    let short = try await ReplayedClient(script.traffic())
    #expect(try await short.connection.gatt.read(AttributeHandle(0x0022)) == value)
    await short.central.stop()
    var longer = ATTScript()
    longer.ask(ATTExchangeMTURequest(clientMTU: 517), ATTExchangeMTUResponse(serverMTU: 185))
    longer.discover()
    longer.ask(ATTReadRequest(0x0022), ATTReadResponse(value))
    let long = try await ReplayedClient(longer.traffic())
    #expect(try await long.connection.gatt.exchangeMTU() == 185)
    #expect(try await long.connection.gatt.read(AttributeHandle(0x0022)) == value)
    await long.central.stop()
  }

  @Test mutating func answersFollowTheirWriteInAnyOrder() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.ask(ATTWriteRequest(0x0015, value: [1]), ATTWriteResponse())
    script.notify(0x0012, [0, 61], after: 100)
    script.ask(ATTWriteRequest(0x0015, value: [2]), ATTWriteResponse())
    script.notify(0x0012, [0, 62], after: 200)
    let replay = try await ReplayedClient(script.traffic())
    let measurement = try await replay.characteristic(heartRate)
    var values: [[UInt8]] = []
    var times: [Instant] = []
    _ = try await replay.connection.gatt.subscribe(to: measurement) { value, time in
      values.append(Array(value))
      times.append(time)
    }
    let timers = testTimers
    let written = timers.now
    try await replay.connection.gatt.write([2], to: AttributeHandle(0x0015))
    await timers.sleep(for: .seconds(1))
    #expect(values == [[0, 62]])
    // The answer came 10 ms after the write, the notification 200 ms after that.
    #expect(times.first == written + .milliseconds(210))
    try await replay.connection.gatt.write([1], to: AttributeHandle(0x0015))
    await timers.sleep(for: .seconds(1))
    try await replay.connection.gatt.write([1], to: AttributeHandle(0x0015))
    await timers.sleep(for: .seconds(1))
    #expect(values == [[0, 62], [0, 61], [0, 61]])
    await replay.central.stop()
  }

  @Test mutating func unaskedValuesFollowTheSubscription() async throws {
    script.discover()
    script.ask(ATTReadRequest(0x0022), ATTReadResponse([90]))
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    for beat in [60, 61, 62] as [UInt8] { script.notify(0x0012, [0, beat], after: 1000) }
    let replay = try await ReplayedClient(script.traffic())
    let measurement = try await replay.characteristic(heartRate)
    var beats: [UInt8] = []
    var times: [Instant] = []
    let timers = testTimers
    await timers.sleep(for: .seconds(10))
    let start = timers.now
    _ = try await replay.connection.gatt.subscribe(to: measurement) { value, time in
      beats.append(value.byte(at: 1) ?? 0)
      times.append(time)
    }
    await timers.sleep(for: .seconds(5))
    #expect(beats == [60, 61, 62])
    let subscribed = times.first.map { $0 - start } ?? .zero
    // The descriptor was found first, and that took as long as it did then.
    #expect(subscribed >= .milliseconds(1010) && subscribed <= .milliseconds(1200))
    #expect(times.last.map { $0 - times[0] } == .seconds(2))
    await replay.central.stop()
  }

  /// An answer is not kept back by what the device sent on its own before the write: that comes first, at once.
  @Test mutating func responseDoesNotWaitForEarlierNotifications() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.notify(0x0012, [0, 61], after: 100_000)
    script.wait(50_000)
    script.ask(ATTWriteRequest(0x0015, value: [2]), ATTWriteResponse())
    script.notify(0x0012, [2, 62], after: 200)
    script.notify(0x0012, [0, 63], after: 30_000)
    let replay = try await ReplayedClient(script.traffic())
    var values: [UInt8?] = []
    _ = try await replay.connection.gatt.subscribe(to: try await replay.characteristic(heartRate)) {
      value, _ in
      values.append(value.byte(at: 1))
    }
    try await replay.connection.gatt.write([2], to: AttributeHandle(0x0015))
    await testTimers.sleep(for: .seconds(1))
    #expect(values == [61, 62])
    await testTimers.sleep(for: .seconds(30))
    #expect(values == [61, 62, 63])
    await replay.central.stop()
  }

  /// A program that has listened and then asks: what it has got does not come again, and the rest waits for its request.
  @Test mutating func doesNotRepeatDeliveredNotifications() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.ask(ATTWriteRequest(0x0015, value: [1]), ATTWriteResponse())
    script.notify(0x0012, [1, 61], after: 100)
    script.wait(9000)
    script.ask(ATTWriteRequest(0x0015, value: [2]), ATTWriteResponse())
    script.notify(0x0012, [2, 62], after: 200)
    script.wait(60_000)
    script.notify(0x0012, [0, 63])
    let replay = try await ReplayedClient(script.traffic())
    var values: [UInt8?] = []
    _ = try await replay.connection.gatt.subscribe(to: try await replay.characteristic(heartRate)) {
      value, _ in
      values.append(value.byte(at: 1))
    }
    await testTimers.sleep(for: .seconds(3))
    #expect(values == [61])
    try await replay.connection.gatt.write([1], to: AttributeHandle(0x0015))
    await testTimers.sleep(for: .seconds(20))
    #expect(values == [61])
    try await replay.connection.gatt.write([2], to: AttributeHandle(0x0015))
    await testTimers.sleep(for: .seconds(1))
    #expect(values == [61, 62])
    await replay.central.stop()
  }

  @Test mutating func indicationsWaitForTheirConfirmation() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [2, 0]), ATTWriteResponse())
    script.push(ATTHandleValueIndication(0x0012, value: [1]), after: 100)
    script.command(ATTHandleValueConfirmation())
    script.push(ATTHandleValueIndication(0x0012, value: [2]), after: 100)
    let peripheral = try ReplayedPeripheral(script.traffic())
    let server = ReplayedServer(peripheral, 0, timers: testTimers)
    var sent: [String] = []
    server.onPDU = { bytes, _ in sent.append(Hex.string(bytes)) }
    server.start()
    server.receive(ATTWriteRequest(0x0013, value: [2, 0]).bytes.span.bytes)
    await testTimers.sleep(for: .seconds(5))
    #expect(sent == ["13", "1d120001"])
    server.receive(ATTHandleValueConfirmation().bytes.span.bytes)
    await testTimers.sleep(for: .seconds(5))
    #expect(sent == ["13", "1d120001", "1d120002"])
  }

  @Test mutating func aLostConnectionIsLostAgain() async throws {
    script.discover()
    script.ask(ATTReadRequest(0x0022), ATTReadResponse([90]))
    let replay = try await ReplayedClient(script.traffic(reason: .connectionTimeout, endsAfter: 4000))
    let timers = testTimers
    var loss: LinkLoss?
    replay.connection.whenDisconnected { loss = $0 }
    #expect(try await replay.connection.gatt.read(AttributeHandle(0x0022)) == [90])
    await timers.sleep(for: .milliseconds(3900))
    #expect(loss == nil)
    await timers.sleep(for: .milliseconds(200))
    #expect(loss == .remote(.connectionTimeout))
    // The capture has no later connection.
    await #expect(throws: StackError.self) {
      try await replay.central.connect(
        ConnectionRequest(peer: ATTScript.peer, deadline: .seconds(5)))
    }
    await replay.central.stop()
  }

  /// A program that takes longer than the recorded connection lasted still gets to its subscription, and to all values.
  @Test mutating func aShortConnectionWaitsForASubscription() async throws {
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.notify(0x0012, [0, 75])
    let replay = try await ReplayedClient(script.traffic(reason: .connectionTimeout, endsAfter: 50))
    let measurement = try await replay.characteristic(RecordedAttributes.madeUpUUID(0x0012))
    await testTimers.sleep(for: .seconds(1))
    var values: [UInt8?] = []
    var loss: LinkLoss?
    replay.connection.whenDisconnected { loss = $0 }
    _ = try await replay.connection.gatt.subscribe(to: measurement) { value, _ in
      values.append(value.byte(at: 1))
    }
    await testTimers.sleep(for: .seconds(3))
    #expect(values == [75] && loss == .remote(.connectionTimeout))
    await replay.central.stop()
  }

  @Test mutating func theNextConnectionIsThatOfTheCapture() async throws {
    script.discover()
    script.ask(ATTReadRequest(0x0022), ATTReadResponse([90]))
    var second = ATTScript()
    second.ask(ATTReadRequest(0x0022), ATTReadResponse([70]))
    let traffic = RecordedTraffic(connections: [
      script.connection(reason: .remoteUserTerminatedConnection, endsAfter: 1000), second.connection(),
    ])
    let replay = try await ReplayedClient(traffic)
    #expect(try await replay.connection.gatt.read(AttributeHandle(0x0022)) == [90])
    _ = try await replay.connection.disconnection()
    let connection = try await replay.central.connect(ConnectionRequest(peer: ATTScript.peer))
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [70])
    await replay.central.stop()
  }

  @Test mutating func rejectsAndListsRequestsMissingFromCapture() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0015, value: [1]), ATTWriteResponse())
    var options = ReplayedPeripheral.Options()
    options.matching = .exact
    let replay = try await ReplayedClient(script.traffic(), options)
    await #expect(throws: StackError.self) { try await replay.connection.gatt.read(AttributeHandle(0x0022)) }
    await #expect(throws: StackError.self) {
      try await replay.connection.gatt.write([9], to: AttributeHandle(0x0015))
    }
    await #expect(throws: StackError.self) { try await replay.connection.gatt.read(AttributeHandle(0x0099)) }
    let missing = replay.peripheral.missing.map(\.description)
    try #require(missing.count == 3)
    #expect(missing[0].hasPrefix("Read Request of 0x0022 (2A19): its value was not read"))
    #expect(missing[1] == "Write Request of 0x0015 (2A39): 09 was not written to it; nearest is packet 13")
    #expect(missing[2].contains("0x0099: the capture has no attribute with this handle"))
    #expect(throws: ReplayError.self) { try replay.peripheral.verify() }
    await replay.central.stop()
  }

  @Test mutating func aCommandWithOtherParametersIsAnsweredLikeTheRecordedOne() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.ask(ATTWriteRequest(0x0015, value: [0x01, 0x20, 0x25]), ATTWriteResponse())
    script.notify(0x0012, [0x01, 0xAA])
    script.ask(ATTWriteRequest(0x0015, value: [0x02, 0x20, 0x25]), ATTWriteResponse())
    script.notify(0x0012, [0x02, 0xBB])
    let replay = try await ReplayedClient(script.traffic())
    var values: [[UInt8]] = []
    _ = try await replay.connection.gatt.subscribe(to: try await replay.characteristic(heartRate)) {
      value, _ in
      values.append(Array(value))
    }
    try await replay.connection.gatt.write([0x02, 0x21, 0x26], to: AttributeHandle(0x0015))
    await testTimers.sleep(for: .seconds(1))
    #expect(values == [[0x02, 0xBB]])
    #expect(replay.peripheral.adapted.map(\.recorded) == [[0x02, 0x20, 0x25]])
    // Nothing recorded begins like this.
    await #expect(throws: StackError.self) {
      try await replay.connection.gatt.write([0x03, 0x20, 0x25], to: AttributeHandle(0x0015))
    }
    await replay.central.stop()
  }

  @Test mutating func aValueWrittenInPartsMatchesOneWrittenAtOnce() async throws {
    script.discover()
    let value = [UInt8](repeating: 7, count: 40)
    script.ask(ATTWriteRequest(0x0015, value: value), ATTWriteResponse())
    script.refuse(ATTWriteRequest(0x0015, value: [UInt8](repeating: 8, count: 40)), 0x0015, .outOfRange)
    let replay = try await ReplayedClient(script.traffic())
    // The MTU is 23 here: the client prepares the value in parts.
    try await replay.connection.gatt.write(value, to: AttributeHandle(0x0015))
    do throws(StackError) {
      try await replay.connection.gatt.write([UInt8](repeating: 8, count: 40), to: AttributeHandle(0x0015))
      Issue.record("not refused")
    } catch {
      #expect(error.attCode == .outOfRange)
    }
    #expect(replay.peripheral.missing.isEmpty)
    await replay.central.stop()
  }

  /// A bonded device is not discovered: half of the captures of phones (havvk/even-g2-smart-classroom on an iPhone,
  /// madkaye/revcar-cli). What was used is there, under UUIDs that are made up.
  @Test mutating func synthesizesUsedAttributesWithoutDiscovery() async throws {
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.notify(0x0012, [0, 75], after: 500)
    script.command(ATTWriteCommand(0x0042, value: [9]))
    script.notify(0x0044, [9, 1])
    let bare = try await ReplayedClient(script.traffic())
    #expect(bare.peripheral.attributes.madeUp == [0x0012, 0x0042, 0x0044])
    #expect(!bare.peripheral.attributes.hasDiscovery)
    let services = try await bare.connection.gatt.discoverServices()
    #expect(services.map(\.uuid) == [RecordedAttributes.madeUpUUID])
    var found: [Characteristic] = []
    for service in services { found += try await bare.connection.gatt.discoverCharacteristics(of: service) }
    #expect(found.map(\.valueHandle) == [0x0012, 0x0042, 0x0044])
    #expect(found.map(\.properties) == [.notify, .writeWithoutResponse, .notify])
    var values: [[UInt8]] = []
    for characteristic in [found[0], found[2]] {
      _ = try await bare.connection.gatt.subscribe(to: characteristic) { value, _ in
        values.append(Array(value))
      }
    }
    await testTimers.sleep(for: .seconds(60))
    #expect(values == [[0, 75], [9, 1]])
    await bare.central.stop()
  }

  /// The client of a phone that remembers services asks for characteristics only, and a table has holes (whoisbe/pongbot-mcp).
  @Test mutating func characteristicsWithoutAServiceAreInOneThatIsMadeUp() async throws {
    script.ask(
      ATTReadByTypeRequest(.all, type: GATTUUID.characteristic),
      ATTReadByTypeResponse([.init(handle: 0x0011, value: [0x10, 0x12, 0, 0x37, 0x2A])]))
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.notify(0x0012, [0, 75], after: 500)
    let replay = try await ReplayedClient(script.traffic())
    let measurement = try await replay.characteristic(heartRate)
    #expect(measurement.valueHandle == 0x0012 && replay.peripheral.attributes.madeUp.isEmpty)
    var values: [[UInt8]] = []
    _ = try await replay.connection.gatt.subscribe(to: measurement) { value, _ in values.append(Array(value))
    }
    await testTimers.sleep(for: .seconds(5))
    #expect(values == [[0, 75]] && replay.peripheral.missing.isEmpty)
    await replay.central.stop()
  }

  /// Several values in one PDU (Core Specification Vol 3, Part F, 3.4.7.4) count one by one.
  @Test mutating func aNotificationOfSeveralValuesIsThatOfEach() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.push(
      ATTMultipleHandleValueNotification([
        .init(handle: 0x0012, value: [1]), .init(handle: 0x0022, value: [90]),
      ]))
    let replay = try await ReplayedClient(script.traffic())
    var values: [[UInt8]] = []
    _ = try await replay.connection.gatt.subscribe(to: try await replay.characteristic(heartRate)) {
      value, _ in
      values.append(Array(value))
    }
    await testTimers.sleep(for: .seconds(5))
    #expect(values == [[1]])
    await replay.central.stop()
  }

  /// The connection with the most notifications is replayed, and others that have more PDUs are named.
  @Test mutating func replaysConnectionWithMostNotifications() throws {
    var long = ATTScript()
    long.notify(0x0012, [1])
    long.notify(0x0012, [2])
    script.notify(0x0012, [3])
    let traffic = RecordedTraffic(connections: [script.connection(), long.connection(), script.connection()])
    let chosen = try ReplayedPeripheral(traffic)
    #expect(chosen.connections.map(\.number) == [2, 3] && chosen.richer.isEmpty)
    var options = ReplayedPeripheral.Options()
    options.connection = 1
    #expect(try ReplayedPeripheral(traffic, options).richer.map(\.number) == [2])
  }

  @Test mutating func aTableIsGivenForACaptureFromWithinAConnection() async throws {
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.notify(0x0012, [0, 75], after: 500)
    let table = AttributeDatabase()
    table.addService(uuid("180d"), at: 0x0010)
    table.addCharacteristic(heartRate, .notify)
    var options = ReplayedPeripheral.Options()
    options.table = table.attributes
    let replay = try await ReplayedClient(script.traffic(), options)
    var beats: [UInt8?] = []
    let measurement = try await replay.characteristic(heartRate)
    _ = try await replay.connection.gatt.subscribe(to: measurement) { value, _ in
      beats.append(value.byte(at: 1))
    }
    await testTimers.sleep(for: .seconds(2))
    #expect(beats == [75])
    #expect(replay.peripheral.missing.isEmpty)
    await replay.central.stop()
  }

  @Test mutating func aRefusalBeforePairingIsLeftOut() async throws {
    script.discover()
    script.refuse(ATTReadRequest(0x0022), 0x0022, .insufficientEncryption)
    script.ask(ATTReadRequest(0x0022), ATTReadResponse([55]))
    let replay = try await ReplayedClient(script.traffic())
    #expect(try await replay.connection.gatt.read(AttributeHandle(0x0022)) == [55])
    await replay.central.stop()
  }

  @Test mutating func verifiesExpectedSubscriptionsWritesAndReads() async throws {
    script.discover()
    script.ask(ATTWriteRequest(0x0013, value: [1, 0]), ATTWriteResponse())
    script.ask(ATTWriteRequest(0x0015, value: [1]), ATTWriteResponse())
    script.ask(ATTReadRequest(0x0022), ATTReadResponse([90]))
    let replay = try await ReplayedClient(script.traffic())
    let peripheral = replay.peripheral
    peripheral.expect(subscriptionTo: heartRate)
    peripheral.expect(write: [1], to: controlPoint)
    peripheral.expect(write: [1], to: controlPoint)
    peripheral.expect(readOf: battery)
    try await replay.connection.gatt.write([1], to: AttributeHandle(0x0015))
    _ = try await replay.connection.gatt.read(AttributeHandle(0x0022))
    #expect(peripheral.unmet.map(\.description) == ["subscribe to 2A37", "write 01 to 2A39"])
    #expect(throws: ReplayError.self) { try peripheral.verify() }
    _ = try await replay.connection.gatt.subscribe(to: try await replay.characteristic(heartRate)) { _, _ in }
    try await replay.connection.gatt.write([1], to: AttributeHandle(0x0015))
    try peripheral.verify()
    await replay.central.stop()
  }

  @Test mutating func aScanFindsThePeripheralByItsName() async throws {
    script.ask(
      ATTReadByTypeRequest(HandleRange(1, 7), type: GATTUUID.characteristic),
      ATTReadByTypeResponse([.init(handle: 2, value: [2, 3, 0, 0x00, 0x2A])]))
    script.ask(ATTReadRequest(3), ATTReadResponse(Array("Belt".utf8)))
    let peripheral = try ReplayedPeripheral(script.traffic())
    #expect(peripheral.name == "Belt" && peripheral.address == ATTScript.peer)
    let central = Central(ReplayAdapter(peripheral, time: testTime))
    try await central.start()
    var found: [String?] = []
    let scan = central.scan { found.append($0.localName) }
    await testTimers.sleep(for: .seconds(1))
    scan.cancel()
    #expect(found.first == "Belt")
    await central.stop()
  }
}
