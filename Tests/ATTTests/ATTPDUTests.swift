import ATT
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct ATTPDUTests {
  @Test(arguments: attVectors) func pdusHaveTheirValues(_ vector: ATTVector) throws {
    #expect(try decoded(vector.bytes) == vector.pdu)
    #expect(vector.pdu.bytes == vector.bytes)
    #expect(vector.pdu.opcode.rawValue == vector.bytes.first)
  }

  @Test(arguments: trailingATTVectors) func bytesBehindFixedFieldsAreIgnored(_ vector: ATTVector) throws {
    #expect(try decoded(vector.bytes) == vector.pdu)
  }

  @Test(arguments: malformedATTVectors.map(\.bytes)) func malformedPDUsAreRefused(_ bytes: String) {
    #expect(throws: DecodeError.self) { try decoded(hex(bytes)) }
  }

  @Test(arguments: attVectors + trailingATTVectors) func decodesDamagedPDUsWithoutCrashing(
    _ vector: ATTVector
  ) {
    checkDecoderIsTotal(vector.bytes) { bytes in
      guard let pdu = try? decoded(bytes) else { return }
      // What was understood can be said again, and is understood the same way.
      #expect((try? decoded(pdu.bytes)) == pdu)
    }
  }

  /// What a PDU without lists needs can't be left out.
  @Test(arguments: attVectors) func truncatedHeadersAreRefused(_ vector: ATTVector) {
    let needed: Int
    switch vector.pdu.opcode {
    case .errorResponse, .findInformationRequest: needed = 5
    case .exchangeMTURequest, .exchangeMTUResponse, .readRequest, .writeRequest, .writeCommand,
      .handleValueNotification, .handleValueIndication:
      needed = 3
    case .readBlobRequest, .prepareWriteRequest, .prepareWriteResponse: needed = 5
    case .readByTypeRequest, .readByGroupTypeRequest, .findByTypeValueRequest: needed = 7
    case .signedWriteCommand: needed = 15
    case .executeWriteRequest: needed = 2
    default: return
    }
    for length in 0..<needed {
      #expect(throws: DecodeError.self) { try decoded(Array(vector.bytes[..<length])) }
    }
  }

  @Test(arguments: [
    // Entry lengths of zero, and shorter than the fixed part.
    "0900", "09000100", "0901", "090101", "1100", "110000", "1103010002", "1103",
    // Information formats that do not exist; a set of UUIDs that does not come out even.
    "050010000028", "050310000028", "0501100000281100",
    // A list of one handle where two are needed; none; half a handle.
    "0e1000", "0e", "0e10", "201000", "2010",
    // Values whose length goes past the end.
    "2310000300aabb", "2310", "231000", "23100001",
    // Types of a length that no UUID has.
    "080100ffff", "080100ffff28", "080100ffff002800", "100100ffff0028000000",
    // Responses without an entry, and with a cut one.
    "07", "0701000500ff", "21", "2101",
    // Nothing at all.
    "",
  ]) func brokenListsAreRefused(_ bytes: String) {
    #expect(throws: DecodeError.self) { try decoded(hex(bytes)) }
  }

  /// The last value of this response is cut where the MTU ends; its length still tells the whole.
  @Test func theLastVariableValueMayBeCut() throws {
    #expect(
      try decoded(hex("21 0100aa 0400bbcc"))
        == ATTReadMultipleVariableResponse([[0xAA], [0xBB, 0xCC]])
    )
  }

  /// A response has entries of one size: what can't be told is left out, never told wrongly.
  @Test func entriesOfOtherSizesAreNotWritten() {
    let mixed: [ATTHandleAndValue] = [
      ATTHandleAndValue(handle: 1, value: [1, 2]), ATTHandleAndValue(handle: 2, value: [3]),
      ATTHandleAndValue(handle: 3, value: [4, 5]),
    ]
    #expect(ATTReadByTypeResponse(mixed).bytes == hex("09 04 0100 0102 0300 0405"))
    let large = ATTHandleAndValue(handle: 1, value: Array(repeating: 0, count: 300))
    #expect(ATTReadByTypeResponse([large]).bytes == hex("09 ff"))
    let types: [ATTHandleAndType] = [
      ATTHandleAndType(handle: 1, type: uuid("2800")),
      ATTHandleAndType(handle: 2, type: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e")),
    ]
    #expect(ATTFindInformationResponse(types).bytes == hex("05 01 0100 0028"))
  }

  @Test func pdusAreEqualIfAllTheirBytesAre() {
    func unknown(_ opcode: UInt8, _ parameters: [UInt8]) -> ATTUnknownPDU {
      ATTUnknownPDU(ATTOpcode(rawValue: opcode), parameters: parameters)
    }
    #expect(unknown(0x3F, [1]) == unknown(0x3F, [1]))
    #expect(unknown(0x3F, [1]) != unknown(0x3E, [1]) && unknown(0x3F, [1]) != unknown(0x3F, []))
    #expect(Set([unknown(0x3F, [1]), unknown(0x3E, [1]), unknown(0x3F, [1])]).count == 2)
    let pdus: [any ATTPDU] = [ATTWriteRequest(1, value: [2]), ATTWriteCommand(1, value: [2])]
    #expect(pdus[0] == ATTWriteRequest(1, value: [2]) && !(pdus[0] == pdus[1]))
  }

  @Test func everyOpcodeHasAKind() {
    #expect(ATTOpcode.readRequest.kind == .request)
    #expect(ATTOpcode.readRequest.response == .readResponse)
    #expect(ATTOpcode.errorResponse.kind == .response)
    #expect(ATTOpcode.multipleHandleValueNotification.kind == .notification)
    #expect(ATTOpcode.handleValueIndication.response == .handleValueConfirmation)
    // The command bit tells that nobody waits for an answer, even if nobody knows the method.
    #expect(ATTOpcode(rawValue: 0x7F).kind == .command)
    #expect(ATTOpcode(rawValue: 0x3F).kind == .unknown)
    #expect(ATTOpcode(rawValue: 0x92).kind == .unknown)
  }

  @Test func errorsAreNamed() {
    #expect(ATTErrorCode.attributeNotFound.description == "Attribute Not Found (0x0a)")
    #expect(ATTErrorCode(rawValue: 0x80).description == "application error (0x80)")
    #expect(ATTErrorCode(rawValue: 0x00).description == "reserved error (0x00)")
    #expect(ATTErrorCode.insufficientEncryption.isSecurityRelated)
    #expect(!ATTErrorCode.readNotPermitted.isSecurityRelated)
  }

  @Test func handlesDoNotWrap() {
    #expect(AttributeHandle.last.next == nil)
    #expect(AttributeHandle(0xFFFE).next == .last)
    #expect(!AttributeHandle(0).isValid)
    #expect(!range(0, 5).isValid)
    #expect(!range(6, 5).isValid)
    #expect(range(5, 5).isValid)
  }
}
