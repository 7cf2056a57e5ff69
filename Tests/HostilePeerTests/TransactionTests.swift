import ATT
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// ATT transactions and the exchange of the MTU (Core Specification Vol 3, Part F, 3.3 and 3.4.2).
@BluetoothActor
@Suite(.onTheLoop) struct TransactionTests {
  /// Lets a peer answer the read of its name with PDUs, and reads it; then all is well again on the same link.
  private func read(answeredWith pdus: [String]) async throws -> [UInt8] {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { request in
      request == ATTReadRequest(0x0003) ? .pdus(pdus.map { hex($0) }) : .honest
    }
    let value = try await stage.within(.seconds(1)) {
      try await connection.gatt.read(AttributeHandle(0x0003))
    }
    stage.peer.react = { _ in .honest }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
    return value
  }

  @Test(
    arguments: [
      ["13", "0b 01"], ["0b 01", "0b 02", "0b 03"], ["09 02 0300", "0d 09", "0b 01"], ["03 ffff", "0b 01"],
      ["01 0c 0300 01", "0b 01"], ["01 00 0000 00", "0b 01"],
    ]) func ignoresUnexpectedResponses(_ pdus: [String]) async throws
  {
    #expect(try await read(answeredWith: pdus) == [1])
  }

  /// An answer that comes when its request was given up is not taken for that of the next (3.3.3).
  @Test func anAnswerAfterTheTimeoutIsNotGivenToAnother() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    stage.peer.send(ATTReadResponse([0xBA, 0xD0]), after: .seconds(31))
    let error = await stage.within(.seconds(31)) {
      await failure { () async throws(StackError) in try await connection.gatt.read(AttributeHandle(0x0003)) }
    }
    #expect(error == .timedOut(.readRequest))
    await #expect(throws: StackError.self) { try await connection.gatt.read(AttributeHandle(0x0022)) }
    #expect(stage.peer.requestCount == 1)
    _ = try await connection.disconnection()
    try await stage.checkHealth()
  }

  /// The handle in an Error Response is informative; codes may be zero, reserved or the application's.
  @Test(arguments: [0x00, 0x01, 0x05, 0x0F, 0x13, 0x14, 0x7F, 0x80, 0x9F, 0xA0, 0xDF, 0xE0, 0xFF] as [UInt8])
  func errorResponseEndsRequestForAnyCodeAndHandle(_ code: UInt8) async throws {
    let (stage, connection) = try await Stage.connected()
    for handle: AttributeHandle in [0x0003, 0x0000, 0xFFFF] {
      let response = ATTErrorResponse(
        request: .readRequest, handle: handle, code: ATTErrorCode(rawValue: code))
      stage.peer.react = { _ in .send(response) }
      let error = await stage.within(.seconds(1)) {
        await failure { () async throws(StackError) in try await connection.gatt.read(AttributeHandle(0x0003))
        }
      }
      #expect(error?.code == .refused && error?.cause == StackError.refused(response).cause)
    }
    #expect(stage.peer.requestCount == 3)
    stage.peer.react = { _ in .honest }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// A PDU that can't be read and is the answer ends the request; one that is nothing is dropped.
  @Test(arguments: [
    ["01 0a 03"], ["01"], [""], ["ff"], ["3f 00"], ["1b"], ["1d 03"], ["23 0100"], ["05 03 01"],
  ])
  func pdusThatAreCutAreDroppedAndTheAnswerBehindThemCounts(_ pdus: [String]) async throws {
    #expect(try await read(answeredWith: pdus + ["0b 01"]) == [1])
  }

  @Test(arguments: [
    "09", "09 00", "09 01 00", "09 07 0200", "09 07 0200 02", "09 ff 0200 020300", "11 06",
  ])
  func anAnswerOfTheRightKindThatCanNotBeReadEndsTheRequest(_ pdu: String) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .hex(pdu) }
    let isGroup = pdu.hasPrefix("11")
    let error = await stage.within(.seconds(1)) {
      await failure { () async throws(StackError) in
        if isGroup {
          _ = try await connection.gatt.discoverServices()
        } else {
          _ = try await connection.gatt.read(uuid: uuid(0x2A00))
        }
      }
    }
    #expect(error?.code == .malformed)
    stage.peer.react = { _ in .honest }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Unknown commands are ignored, unknown requests refused (3.3).
  @Test func unknownOpcodesAreRefusedOrIgnored() async throws {
    let (stage, connection) = try await Stage.connected()
    let answers = Collected()
    stage.peer.onOther = { answers.pdus.append($0) }
    for opcode in [0x14, 0x3E, 0x00, 0x80] as [UInt8] { stage.peer.send([opcode, 1, 2, 3]) }
    for opcode in [0x40, 0x7E, 0xC0, 0xFE] as [UInt8] { stage.peer.send([opcode, 1, 2, 3]) }
    await stage.sleep(.seconds(1))
    let refused = answers.pdus.compactMap { pdu in
      if let error = pdu as? ATTErrorResponse, error.code == .requestNotSupported {
        error.request.rawValue
      } else {
        nil
      }
    }
    #expect(refused == [0x14, 0x3E, 0x00, 0x80])
    #expect(answers.pdus.count == refused.count)
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// What the server sends between a request and its answer; a confirmation does not wait for that answer.
  @Test func indicationsAreConfirmedWhileARequestIsOpen() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
    for number in 0..<10 as Range<UInt8> {
      stage.peer.notify(0x0012, [number])
      stage.peer.send(ATTHandleValueIndication(0x0006, value: [number]))
    }
    await stage.sleep(.seconds(1))
    #expect(stage.peer.confirmations == 10)
    stage.peer.send(ATTReadResponse([9]))
    #expect(try await read.value == [9])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Each direction has a request of its own.
  @Test func thePeersRequestIsAnsweredWhileOursIsOpen() async throws {
    let (stage, connection) = try await Stage.connected()
    let answers = Collected()
    stage.peer.onOther = { answers.pdus.append($0) }
    stage.peer.react = { _ in .silent }
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
    await stage.sleep(.seconds(1))
    stage.peer.send(ATTReadByGroupTypeRequest(.all, type: GATTUUID.primaryService))
    await stage.sleep(.seconds(1))
    #expect(answers.pdus.count == 1)
    stage.peer.send(ATTReadResponse([9]))
    #expect(try await read.value == [9])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: MTU (GATT/CL/GAC/BV-01-C)

  @Test(
    arguments: [(0, 23), (1, 23), (22, 23), (23, 23), (24, 24), (517, 517), (0xFFFF, 517)] as [(UInt16, Int)])
  func theMTUIsBetweenTheMinimumAndOurs(_ theirs: UInt16, _ agreed: Int) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .send(ATTExchangeMTUResponse(serverMTU: theirs)) }
    #expect(try await connection.gatt.exchangeMTU() == agreed)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func ignoresUnsolicitedExchangeMTUResponse() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.send(ATTExchangeMTUResponse(serverMTU: 100))
    await stage.sleep(.seconds(1))
    #expect(connection.gatt.mtu == 23)
    stage.peer.react = { _ in
      .send(ATTExchangeMTUResponse(serverMTU: 60), ATTExchangeMTUResponse(serverMTU: 30))
    }
    #expect(try await connection.gatt.exchangeMTU() == 60)
    await stage.sleep(.seconds(1))
    #expect(connection.gatt.mtu == 60)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func refusedMTUExchangeKeepsDefaultMTU() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = {
      .send(ATTErrorResponse(request: $0.opcode, handle: 0, code: .requestNotSupported))
    }
    #expect(try await connection.gatt.exchangeMTU() == 23)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func thePeersExchangeOfTheMTUIsAnsweredRightAfterTheConnectionAndWithinOurs() async throws {
    let peer = Peer()
    let answers = Collected()
    peer.onOther = { answers.pdus.append($0) }
    peer.onConnected = { [weak peer] in
      peer?.send(ATTExchangeMTURequest(clientMTU: 185), after: .milliseconds(1))
    }
    let (stage, connection) = try await Stage.connected(peer)
    await stage.sleep(.seconds(1))
    #expect(answers.pdus.map(\.bytes) == [ATTExchangeMTUResponse(serverMTU: 517).bytes])
    #expect(connection.gatt.mtu == 185)
    peer.react = { _ in .send(ATTExchangeMTURequest(clientMTU: 185), ATTExchangeMTUResponse(serverMTU: 247)) }
    #expect(try await connection.gatt.exchangeMTU() == 185)
    #expect(answers.pdus.count == 2)
    await connection.disconnect()
    try await stage.checkHealth()
  }
}

/// PDUs that a test has collected.
final class Collected {
  var pdus: [any ATTPDU] = []
}
