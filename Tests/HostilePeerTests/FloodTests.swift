import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP
import RingLink
import TestLoop
import TestSupport
import Testing

/// Peers and controllers that ask without end.
@BluetoothActor
@Suite(.onTheLoop) struct FloodTests {
  private static let count = 100_000
  private static let parameters = "0600 0c00 0000 c800"

  /// Connection Parameter Update Requests: a few a second are obeyed, the others refused and counted.
  @Test func rateLimitsL2CAPParameterUpdateRequests() async throws {
    let (stage, connection) = try await Stage.connected()
    var reported = 0
    connection.whenChanged { if case .parameterRequest = $0 { reported += 1 } }
    let frame = hex("12 05 0800" + Self.parameters)
    for _ in 0..<100 {
      for _ in 0..<Self.count / 100 { stage.peer.sendFrame(.leSignaling, frame) }
      await stage.sleep(.milliseconds(50))
    }
    let obeyed = stage.radio.commands.filter { $0 == LEConnectionUpdate.opcode }.count
    #expect((4...24).contains(obeyed), "obeyed \(obeyed) times in 5 s")
    #expect(reported == obeyed)
    #expect(connection.excessParameterRequests >= Self.count / 2)
    #expect(stage.adapter.waitingPackets <= 512)
    // Who asks in a decent way afterwards is obeyed again.
    await stage.sleep(.seconds(2))
    stage.peer.sendFrame(.leSignaling, frame)
    await stage.sleep(.seconds(1))
    #expect(stage.radio.commands.filter { $0 == LEConnectionUpdate.opcode }.count == obeyed + 1)
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// The same by the link layer: LE Remote Connection Parameter Request (Vol 4, Part E, 7.7.65.6).
  @Test(arguments: [true, false]) func rateLimitsRemoteConnectionParameterRequests(
    isAnswered: Bool
  ) async throws {
    let (stage, connection) = try await Stage.connected()
    let handle = try #require(stage.peer.handle)
    let event = hex("04 3e 0b 06") + [UInt8(handle & 0xFF), UInt8(handle >> 8)] + hex(Self.parameters)
    if !isAnswered {
      // The controller takes the answers and says nothing until the flood is over.
      stage.radio.answer = { opcode, _ in
        opcode == LERemoteConnectionParameterRequestReply.opcode ? [] : nil
      }
    }
    for _ in 0..<100 {
      for _ in 0..<Self.count / 100 { stage.radio.deliver(event) }
      await stage.sleep(.milliseconds(20))
    }
    let obeyed = stage.radio.commands.filter { $0 == LERemoteConnectionParameterRequestReply.opcode }.count
    #expect((1...12).contains(obeyed), "obeyed \(obeyed) times in 2 s")
    #expect(stage.radio.commands.count < 5000)
    #expect(stage.adapter.counters.excessParameterRequests > Self.count / 2)
    if isAnswered {
      #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
      await connection.disconnect()
      try await stage.checkHealth()
    } else {
      await stage.central.stop()
    }
  }

  /// Requests of the peer, faster than their answers leave: bounded, whatever becomes of the link.
  @Test(arguments: [true, false]) func aFloodOfRequestsIsAnsweredWithBoundedMemory(takes: Bool) async throws {
    let (stage, connection) = try await Stage.connected()
    if !takes { stage.radio.returnsCredits = false }
    for _ in 0..<100 {
      for _ in 0..<500 { stage.peer.send(ATTReadRequest(0x0003)) }
      await stage.sleep(.milliseconds(20))
      #expect(stage.adapter.waitingPackets <= 512)
    }
    await stage.sleep(.seconds(1))
    // One that takes nothing has lost its link; one that takes the answers has them all.
    #expect(connection.isConnected == takes)
    stage.radio.returnsCredits = true
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// An endless stream of new random addresses does not fill the memory, nor hide whom one looks for.
  @Test func aFloodOfAddressesIsBounded() async throws {
    let stage = Stage()
    try await stage.central.start()
    var collector = AdvertisementCollector()
    var reports = 0
    let scan = stage.central.scan { _ in reports += 1 }
    for round in 0..<5 {
      for number in 0..<1000 {
        let report = AdvertisingReport(
          address: BluetoothAddress(UInt64(round * 1000 + number), .random),
          eventType: [.legacy, .connectable],
          rssi: -60, data: hex("020106"))
        stage.radio.deliver(.leAdvertisingReports(AdvertisingReports(.legacy, [report])))
        _ = collector.receive(report, at: stage.now)
      }
      await stage.sleep(.milliseconds(10))
    }
    #expect(reports == 5000)
    #expect(collector.count == 1024)
    scan.cancel()
    try await stage.checkHealth()
  }

  /// Rings that somebody makes up: the search remembers a few, and its message names three.
  @Test func aFloodOfRingsIsBounded() async throws {
    let stage = Stage()
    try await stage.central.start()
    let central = stage.central
    let search = Task { () async -> RingError? in
      do throws(RingError) {
        _ = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
        return nil
      } catch {
        return error
      }
    }
    await stage.sleep(.milliseconds(10))
    for number in 0..<5000 {
      let name = Array("R02_\(1000 + number)".utf8)
      let report = AdvertisingReport(
        address: BluetoothAddress(UInt64(number), .random), eventType: [.legacy, .connectable],
        rssi: -60, data: [2, 1, 6, UInt8(name.count + 1), 9] + name)
      stage.radio.deliver(.leAdvertisingReports(AdvertisingReports(.legacy, [report])))
    }
    await stage.sleep(.seconds(5))
    let error = try #require(await search.value)
    guard case .severalFound(let names) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(names.count == 64)
    #expect(error.description.contains("and 61 more") && error.description.utf8.count < 300)
    try await stage.checkHealth()
  }
}
