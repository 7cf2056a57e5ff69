import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import TestSupport
import Testing

/// Reads, writes, notifications and indications (Core Specification Vol 3, Part G, 4.8 to 4.11).
@BluetoothActor
@Suite(.onTheLoop) struct ValueTests {
  // MARK: Reads

  /// 22 bytes are a full answer at an MTU of 23.
  private nonisolated static func part(_ byte: UInt8, _ count: Int = 22) -> [UInt8] {
    Array(repeating: byte, count: count)
  }

  /// Long reads: never short, shrinking, answered with nothing; empty values are values (GATT/CL/GAR/BV-04-C).
  @Test(
    arguments: [
      ([[]], []), ([part(1), []], part(1)), ([part(1), part(2, 5)], part(1) + part(2, 5)),
      ([part(1), part(2), part(3, 1)], part(1) + part(2) + part(3, 1)), ([part(1, 3)], part(1, 3)),
    ] as [([[UInt8]], [UInt8])])
  func longReadsEndWithTheShortAnswer(_ parts: [[UInt8]], _ value: [UInt8]) async throws {
    let (stage, connection) = try await Stage.connected()
    var left = parts[...]
    stage.peer.react = { request in
      let part = left.popFirst() ?? []
      if request is ATTReadRequest { return .send(ATTReadResponse(part)) }
      return .send(ATTReadBlobResponse(part))
    }
    #expect(try await connection.gatt.read(AttributeHandle(0x0003)) == value)
    #expect(stage.peer.requestCount == parts.count)
    stage.peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func aLongReadThatNeverBecomesShortEndsAtTheLongestValue() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { request in
      if request is ATTReadRequest { return .send(ATTReadResponse(Self.part(1))) }
      return .send(ATTReadBlobResponse(Self.part(1)))
    }
    let error = await failure { () async throws(StackError) in
      try await connection.gatt.read(AttributeHandle(0x0003))
    }
    #expect(error?.code == .misbehaved)
    #expect(stage.peer.requestCount == 512 / 22 + 1)
    stage.peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// The firmware's name at an MTU of 23: a list holds 19 bytes of it, the rest is read (GATT/CL/GAR/BV-03-C).
  @Test(arguments: [
    "R02_3.00.06_240523", "RT02R_3.11.00_250611", "RT11CR_1.00.08_250514", "1234567890123456789",
  ])
  func theFirstValueOfATypeIsReadWhole(_ firmware: String) async throws {
    let peer = Peer()
    peer.server.addService(uuid(0x180A), at: 0x0030)
    peer.server.addCharacteristic(uuid(0x2A26), .read, at: 0x0031, Array(firmware.utf8))
    let (stage, connection) = try await Stage.connected(peer)
    #expect(try await connection.gatt.readFirst(uuid: uuid(0x2A26)) == Array(firmware.utf8))
    #expect(peer.requestCount == (firmware.utf8.count < 19 ? 1 : 2))
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func theFirmwareOfARingIsWholeAtTheSmallestMTU() async throws {
    let peer = Peer()
    let firmware = "RT11CR_1.00.08_250514"
    peer.server = .empty
    peer.server.addService(uuid(0x180A), at: 0x0001)
    peer.server.addCharacteristic(RingGATT.firmwareRevision, .read, at: 0x0002, Array(firmware.utf8))
    peer.server.addService(RingGATT.commandService, at: 0x0010)
    peer.server.addCharacteristic(RingGATT.commandWrite, .write, at: 0x0011, [])
    peer.server.addCharacteristic(RingGATT.commandNotify, .notify, at: 0x0013, [])
    peer.server.addConfiguration(at: 0x0015)
    let (stage, connection) = try await Stage.connected(peer)
    #expect(try await RingClient.open(connection).firmware.firmwareRevision == firmware)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test(arguments: ["09 05 0300 61", "09 02 0300", "09 06 0300 61626364 0400", "09 01 03"])
  func innerLengthsThatGoPastTheEndFail(_ answer: String) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .hex(answer) }
    if answer == "09 02 0300" {
      #expect(try await connection.gatt.read(uuid: uuid(0x2A00), limit: 1).map(\.value) == [[]])
    } else {
      let error = await failure { () async throws(StackError) in
        try await connection.gatt.read(uuid: uuid(0x2A00))
      }
      #expect(error?.code == .malformed)
    }
    stage.peer.react = { _ in .honest }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: Writes

  /// The echo of a prepared write differs: the queue is cancelled, and the write fails (GATT/CL/GAW/BI-32-C).
  @Test(arguments: [
    ATTPreparedWrite(handle: 0x0013, offset: 0, value: part(7, 18)),
    ATTPreparedWrite(handle: 0x0012, offset: 1, value: part(7, 18)),
    ATTPreparedWrite(handle: 0x0012, offset: 0, value: part(8, 18)),
    ATTPreparedWrite(handle: 0x0012, offset: 0, value: part(7, 17)),
    ATTPreparedWrite(handle: 0x0012, offset: 0, value: []),
  ]) func aReliableWriteWhoseEchoDiffersIsCancelled(_ echo: ATTPreparedWrite) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { request in
      if request is ATTPrepareWriteRequest { return .send(ATTPrepareWriteResponse(echo)) }
      return .honest
    }
    let error = await failure { () async throws(StackError) in
      try await connection.gatt.write(Self.part(7, 40), to: AttributeHandle(0x0012))
    }
    #expect(error?.code == .misbehaved)
    #expect(stage.peer.requests.last == ATTExecuteWriteRequest(.cancel))
    #expect(stage.peer.requestCount == 2)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Security errors (GATT/CL/GAR/BI-03-C to BI-05-C, GAW/BI-05-C): said once, not repeated.
  @Test(arguments: [0x05, 0x08, 0x0C, 0x0F] as [UInt8]) func reportsSecurityErrorsWithoutRetry(
    _ code: UInt8
  ) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = {
      .send(
        ATTErrorResponse(request: $0.opcode, handle: 0x0012, code: ATTErrorCode(rawValue: code)))
    }
    for write in [false, true] {
      let error = await failure { () async throws(StackError) in
        if write {
          try await connection.gatt.write([1], to: AttributeHandle(0x0012))
        } else {
          _ = try await connection.gatt.read(AttributeHandle(0x0012))
        }
      }
      #expect(
        error.map { "\($0)".contains([0x08: "Authorization", 0x0C: "Key Size"][code] ?? "pairing") } == true)
    }
    await stage.sleep(.seconds(60))
    #expect(stage.peer.requestCount == 2)
    stage.peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: Notifications and indications

  private final class Heard {
    var values: [[UInt8]] = []
  }

  private func subscribe(_ connection: GATTLink, _ heard: Heard) async throws {
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    _ = try await connection.gatt.subscribe(to: characteristic) { value, _ in
      heard.values.append(Array(value))
    }
  }

  /// For unknown handles, cut, empty, longer than the MTU; what is right goes on (GATT/CL/GAN/BV-01-C).
  @Test func ignoresUnexpectedAndMalformedNotifications() async throws {
    let (stage, connection) = try await Stage.connected()
    let heard = Heard()
    try await subscribe(connection, heard)
    for odd in [
      "1b 0000 01", "1b ffff 01", "1b 9900 01", "1b", "1b 12", "1d", "1d 12", "23 1200", "23 1200 0500 01",
    ] {
      stage.peer.send(hex(odd))
    }
    stage.peer.notify(0x0012, [])
    stage.peer.notify(0x0012, Self.part(5, 200))
    stage.peer.send(hex("23 1200 0100 07 1200 0200 0809"))
    await stage.sleep(.seconds(1))
    #expect(heard.values == [[], Self.part(5, 200), [7], [8, 9]])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func floodsAreHeardBySubscribersAndBoundedOtherwise() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.delay = .nanoseconds(1)
    let heard = Heard()
    for number in 0..<50_000 {
      stage.peer.notify(AttributeHandle(UInt16(truncatingIfNeeded: number)), [1, 2, 3])
      if number % 5000 == 0 { await stage.sleep(.milliseconds(1)) }
    }
    await stage.sleep(.seconds(1))
    try await subscribe(connection, heard)
    for number in 0..<50_000 {
      stage.peer.notify(0x0012, [UInt8(truncatingIfNeeded: number)])
      if number % 5000 == 0 { await stage.sleep(.milliseconds(1)) }
    }
    await stage.sleep(.seconds(1))
    #expect(heard.values.count >= 50_000 && heard.values.count <= 50_064)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func deliversNotificationsBeforeCCCDWriteResponse() async throws {
    let (stage, connection) = try await Stage.connected()
    let peer = stage.peer
    peer.react = { [weak peer] request in
      if request is ATTWriteRequest {
        peer?.notify(0x0012, [1])
        peer?.notify(0x0012, [2])
      }
      return .honest
    }
    let heard = Heard()
    try await subscribe(connection, heard)
    #expect(heard.values == [[1], [2]])
    peer.react = { _ in .honest }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Each indication that can be read is confirmed once, also for unknown handles (GATT/CL/GAI/BV-01-C).
  @Test func everyIndicationIsConfirmedOnce() async throws {
    let (stage, connection) = try await Stage.connected()
    for handle in [0x0000, 0x0006, 0x0012, 0x9999, 0xFFFF] as [AttributeHandle] {
      stage.peer.send(ATTHandleValueIndication(handle, value: [1]))
    }
    stage.peer.send(ATTHandleValueIndication(0x0012, value: []))
    stage.peer.send(hex("1d 12"))
    await stage.sleep(.seconds(1))
    #expect(stage.peer.confirmations == 6)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: The peer asks us

  /// A peer that discovers, reads and writes its central gets an answer to each request.
  @Test(
    arguments: [
      ("04 0100 ffff", 0x0A), ("04 0000 ffff", 0x01), ("04 0500 0400", 0x01),
      ("06 0100 ffff 0028 0d18", 0x0A),
      ("08 0100 ffff 0328", 0x0A), ("08 0100 ffff 002a", 0x0A), ("10 0100 ffff 0028", 0x0A),
      ("10 0100 ffff 0328", 0x10), ("0a 0300", 0x01), ("0c 0300 1600", 0x01), ("0e 0300 0400", 0x01),
      ("20 0300 0400", 0x01), ("12 0300 01", 0x01), ("16 0300 0000 01", 0x01), ("18 02", 0x04),
      ("04 01", 0x04), ("0a", 0x04), ("08 0100 ffff 03", 0x04), ("14", 0x06),
    ] as [(String, UInt8)]) func aPeerThatAsksIsAnswered(_ request: String, _ code: UInt8) async throws
  {
    let (stage, connection) = try await Stage.connected()
    let answers = Collected()
    stage.peer.onOther = { answers.pdus.append($0) }
    let bytes = hex(request)
    stage.peer.send(bytes)
    await stage.sleep(.milliseconds(100))
    guard let error = answers.pdus.first as? ATTErrorResponse, answers.pdus.count == 1 else {
      Issue.record("\(answers.pdus)")
      return
    }
    #expect(error.request.rawValue == bytes[0])
    #expect(error.code.rawValue == code)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test(arguments: ["52 0300 01", "d2 0300 01 00000000 0000000000000000", "1e", "1e 00", "52", "40"])
  func commandsAndStrayConfirmationsGetNoAnswer(_ pdu: String) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.onOther = { Issue.record("\($0)") }
    stage.peer.send(hex(pdu))
    await stage.sleep(.seconds(1))
    #expect(stage.peer.requestCount == 0)
    #expect(stage.peer.otherFrameCount == 0)
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
