import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// What a server finds, reads and writes (Core Specification Vol 3, Part F, 3.4).
@Suite struct ServerBearerTests {
  /// Handles 0x0010 to 0x001A; the long value is 0x0012 with its configuration in 0x0013.
  private func server(longValue: [UInt8] = []) -> ServerDialogue {
    ServerDialogue { table in
      table.addService(uuid("180f"), at: 0x0010)
      table.addCharacteristic(uuid("2a19"), [.read, .write, .notify], value: longValue)
      table.addCharacteristic(uuid("2a1a"), .writeWithoutResponse)
      table.addCharacteristic(uuid("2a1b"), .read, value: [42], security: .authenticated)
      table.addCharacteristic(uuid("2a1c"), .read, value: [1, 2])
      table.addDescriptor(GATTUUID.characteristicUserDescription, value: Array("text".utf8))
    }
  }

  // MARK: Reading

  @Test func longValuesAreReadInPieces() {
    let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    let server = server(longValue: long).exchanged(100)
    #expect(server.ask(ATTReadRequest(0x0012)) == ATTReadResponse(Array(long[..<99])))
    var value: [UInt8] = []
    while value.count % 99 == 0,
      let piece = server.ask(ATTReadBlobRequest(0x0012, offset: UInt16(value.count))) as? ATTReadBlobResponse
    {
      value += piece.value
    }
    #expect(value == long)
    #expect(server.ask(ATTReadBlobRequest(0x0012, offset: 300)) == ATTReadBlobResponse([]))
    #expect(server.refusal(ATTReadBlobRequest(0x0012, offset: 301)) == .invalidOffset)
  }

  @Test func severalValuesAreReadAtOnce() {
    let server = server(longValue: [7])
    #expect(server.ask(ATTReadMultipleRequest([0x0013, 0x0012])) == ATTReadMultipleResponse([0, 0, 7]))
    #expect(
      server.ask(ATTReadMultipleVariableRequest([0x0013, 0x0012]))
        == ATTReadMultipleVariableResponse([[0, 0], [7]]))
  }

  // MARK: Writing

  private func part(_ offset: UInt16, _ value: [UInt8]) -> any ATTPDU {
    ATTPrepareWriteRequest(ATTPreparedWrite(handle: 0x0012, offset: offset, value: value))
  }

  /// Nobody may listen to what clients do: the value is stored all the same.
  @Test func commandIsStoredIfNobodyListens() {
    let server = server()
    server.server.onEvent = nil
    #expect(server.ask("52 1500 0b") == "")
    #expect(server.database.value(of: 0x0015) == [0x0B])
  }

  // MARK: Signed writes

  private func signedServer(_ security: SecurityRequirement = .none) -> ServerDialogue {
    ServerDialogue { table in
      table.addService(uuid("180f"), at: 0x0010)
      table.addCharacteristic(uuid("2a3f"), .authenticatedSignedWrites, capacity: 2, security: security)
      table.addCharacteristic(uuid("2a40"), [.write, .writeWithoutResponse])
    }
  }

  /// A signature of zeros, behind a value.
  private func signed(_ beginning: String) -> String {
    "d2 " + beginning + String(repeating: "00", count: 12)
  }

  /// A server that cannot check signatures believes none.
  @Test func signedWriteWithoutACheckIsIgnored() {
    let server = signedServer()
    #expect(server.ask(signed("1200 01")) == "" && server.takeEvents() == [])
  }

  @Test func signedWriteIsTakenAfterItsCheckOnly() {
    let server = signedServer()
    var accepts: [(Bool) -> Void] = []
    var messages: [[UInt8]] = []
    server.server.checkSignature = { message, signature, accept in
      #expect(signature == ATTSignature(counter: 0, code: 0))
      messages.append(message)
      accepts.append(accept)
    }
    for pdu in ["1200 01", "1200", "1200 010203", "1400 01", "1100 01", "0000", "ffff 01"] {
      #expect(server.ask(signed(pdu)) == "")
    }
    for short in ["d2", "d2 1200", "d2 1200 0000000000000000000000"] { #expect(server.ask(short) == "") }
    #expect(
      messages
        == ["d2120001", "d21200", "d21200010203", "d2140001", "d2110001", "d20000", "d2ffff01"].map {
          hex($0)
        })
    #expect(server.takeEvents() == [])
    for accept in accepts { accept(false) }
    // Neither one that is too long, nor one for another attribute.
    #expect(server.takeEvents() == [.written(0x0012, [1]), .written(0x0012, [])])
  }

  /// The client may have gone while its signature was checked, or must discover the attributes anew.
  @Test func signedWriteThatIsAcceptedTooLateIsDropped() {
    let server = signedServer()
    var accept: (Bool) -> Void = { _ in }
    server.server.checkSignature = { accept = $2 }
    _ = server.ask(signed("1200 01"))
    server.server.bearerClosed()
    accept(true)
    #expect(server.takeEvents() == [])
  }

  @Test(arguments: [
    (SecurityRequirement.none, false, true), (.encrypted, true, false), (.authenticated, true, false),
    (.encryptedOrSigned, false, true), (.authorized, true, false),
  ])
  func requirementsOfSignedWrites(
    _ requirement: SecurityRequirement, _ isAuthenticated: Bool, _ isTaken: Bool
  ) {
    let server = signedServer(requirement)
    server.server.checkSignature = { $2(isAuthenticated) }
    _ = server.ask(signed("1200 01"))
    #expect(server.takeEvents().isEmpty != isTaken)
    // Over an encrypted link, the command needs no signature, and is ignored with one.
    server.server.security = LinkSecurity(isEncrypted: true, isAuthenticated: true, isAuthorized: true)
    _ = server.ask(signed("1200 02"))
    #expect(server.takeEvents() == [])
    _ = server.ask("52 1200 03")
    #expect(server.takeEvents() == [.written(0x0012, [3])])
    server.server.security = .none
    _ = server.ask("52 1200 04")
    #expect(server.takeEvents() == [])
  }

  @Test func longValuesAreWrittenInPieces() {
    let server = server().exchanged(247)
    let value = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
    for start in stride(from: 0, to: 512, by: 100) {
      let part = ATTPreparedWrite(
        handle: 0x0012, offset: UInt16(start), value: Array(value[start..<min(512, start + 100)]))
      #expect(server.ask(ATTPrepareWriteRequest(part)) == ATTPrepareWriteResponse(part))
    }
    #expect(server.ask(ATTExecuteWriteRequest(.write)) == ATTExecuteWriteResponse())
    #expect(server.ask(ATTReadBlobRequest(0x0012, offset: 500)) == ATTReadBlobResponse(Array(value[500...])))
  }

  /// 4096 bytes are the most, however few parts they are.
  @Test func aQueueHasALimitInBytes() {
    let server = server().exchanged(517)
    for _ in 0..<8 { #expect(server.refusal(part(0, Array(repeating: 1, count: 512))) == nil) }
    #expect(server.refusal(part(0, [1])) == .prepareQueueFull)
    #expect(server.refusal(part(0, [])) == nil)
  }

  /// The whole queue is executed, or nothing of it (3.4.6.3).
  @Test func failedExecuteWriteChangesNothing() {
    let server = server(longValue: Array(repeating: 0xFF, count: 512))
    _ = server.ask(part(513, [1]))
    #expect(server.refusal(ATTExecuteWriteRequest(.write)) == .invalidOffset)
    _ = server.ask(part(0, [9]))
    _ = server.ask(part(1, Array(repeating: 9, count: 512)))
    #expect(server.refusal(ATTExecuteWriteRequest(.write)) == .invalidAttributeValueLength)
    _ = server.ask(part(0, [9]))
    #expect(server.ask(ATTExecuteWriteRequest(.cancel)) == ATTExecuteWriteResponse())
    #expect(server.ask(ATTExecuteWriteRequest(.write)) == ATTExecuteWriteResponse())
    #expect(server.database.value(of: 0x0012) == Array(repeating: 0xFF, count: 512))
  }

  @Test func aPartFromFurtherOnIsLaidOverTheValue() {
    let server = server(longValue: [1, 2, 3, 4, 5])
    _ = server.ask(part(2, [0xAA, 0xBB]))
    #expect(server.ask(ATTExecuteWriteRequest(.write)) == ATTExecuteWriteResponse())
    #expect(server.ask(ATTReadRequest(0x0012)) == ATTReadResponse([1, 2, 0xAA, 0xBB, 5]))
  }

  @Test func theQueueIsBounded() {
    let server = server()
    for _ in 0..<64 { #expect(server.refusal(part(0, [])) == nil) }
    #expect(server.refusal(part(0, [])) == .prepareQueueFull)
  }

  /// A command gets no answer, and no error either (3.4.5.3).
  @Test func commandsAreNotAnswered() {
    let server = server()
    #expect(server.ask(ATTWriteCommand(0x0015, value: [1])) == nil)
    #expect(server.database.value(of: 0x0015) == [1])
    #expect(server.ask(ATTWriteCommand(0x0012, value: [1])) == nil)
    #expect(server.ask(ATTWriteCommand(0x00FF, value: [1])) == nil)
    #expect(server.database.value(of: 0x0012) == [])
    #expect(server.ask(ATTUnknownPDU(ATTOpcode(rawValue: 0x52 | 0x0C), parameters: [])) == nil)
  }

  // MARK: Refusals

  @Test(
    arguments: [
      (ATTReadRequest(0x00FF), .invalidHandle), (ATTReadRequest(0x0015), .readNotPermitted),
      (ATTReadRequest(0x0017), .insufficientAuthentication),
      (ATTWriteRequest(0x0019, value: [1]), .writeNotPermitted),
      (ATTWriteRequest(0x00FF, value: [1]), .invalidHandle),
      (ATTWriteRequest(0x0013, value: [1]), .invalidAttributeValueLength),
      (ATTWriteRequest(0x0013, value: [1, 0, 0]), .invalidAttributeValueLength),
      (ATTWriteRequest(0x0013, value: [2, 0]), .cccdImproperlyConfigured),
      (ATTWriteRequest(0x0013, value: [1, 1]), .cccdImproperlyConfigured),
      (ATTWriteRequest(0x0015, value: [1]), .writeNotPermitted),
      (ATTWriteRequest(0x0012, value: Array(repeating: 0, count: 513)), .invalidAttributeValueLength),
      (ATTFindInformationRequest(HandleRange(0, 5)), .invalidHandle),
      (ATTFindInformationRequest(HandleRange(9, 5)), .invalidHandle),
      (ATTFindInformationRequest(HandleRange(0x0100, 0xFFFF)), .attributeNotFound),
      (ATTFindByTypeValueRequest(.all, type: 0x2800, value: [0x0D, 0x18]), .attributeNotFound),
      (ATTReadByTypeRequest(.all, type: BluetoothUUID(0x2AFF as UInt16)), .attributeNotFound),
      (ATTReadByTypeRequest(.all, type: BluetoothUUID(0x2A1B as UInt16)), .insufficientAuthentication),
      (ATTReadByGroupTypeRequest(.all, type: GATTUUID.characteristic), .unsupportedGroupType),
      (ATTReadByGroupTypeRequest(.all, type: GATTUUID.secondaryService), .attributeNotFound),
      (ATTReadMultipleRequest([0x0012, 0x0013, 0x0015]), .readNotPermitted),
      (ATTReadMultipleVariableRequest([0x0012, 0x0015]), .readNotPermitted),
      (ATTPrepareWriteRequest(.init(handle: 0x0015, offset: 0, value: [1])), .writeNotPermitted),
      (ATTExecuteWriteRequest(ATTExecuteFlags(rawValue: 7)), .invalidPDU),
      (ATTUnknownPDU(ATTOpcode(rawValue: 0x3E), parameters: [1, 2]), .requestNotSupported),
    ] as [(any ATTPDU, ATTErrorCode)])
  func wrongRequestsAreRefused(request: any ATTPDU, code: ATTErrorCode) {
    let server = server()
    #expect(server.refusal(request) == code)
  }

  @Test func damagedRequestsAreSurvived() {
    let pdus: [any ATTPDU] = [
      ATTExchangeMTURequest(clientMTU: 517), ATTFindInformationRequest(.all),
      ATTFindByTypeValueRequest(.all, type: 0x2800, value: [1, 0x18]),
      ATTReadByTypeRequest(.all, type: GATTUUID.characteristic), ATTReadRequest(0x0012),
      ATTReadByGroupTypeRequest(.all, type: GATTUUID.primaryService), ATTReadBlobRequest(0x0012, offset: 299),
      ATTReadMultipleRequest([0x12, 0x13]), ATTReadMultipleVariableRequest([0x12, 0x13]),
      ATTWriteRequest(0x0012, value: [1]), ATTWriteCommand(0x0015, value: [1, 2]),
      part(0xFFFF, [1]), ATTExecuteWriteRequest(.write),
    ]
    for pdu in pdus {
      let server = server(longValue: Array(repeating: 1, count: 300))
      checkDecoderIsTotal(pdu.bytes) { damaged in
        let isAnswered = damaged.first.map { ATTOpcode(rawValue: $0).kind.isAnswered } ?? false
        let sent = server.unlinked.receive(damaged.span.bytes)
        #expect(sent.count == (isAnswered ? 1 : 0))
        #expect(sent.allSatisfy { $0.count <= server.unlinked.mtu })
      }
      #expect(server.ask(ATTReadRequest(0x0019)) == ATTReadResponse([1, 2]), "\(pdu)")
    }
  }
}
