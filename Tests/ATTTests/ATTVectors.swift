import ATT
import HaloBluetoothCore
import TestSupport
import Testing

// PDUs with the values that a decoder must find in them. The byte sequences are those of the test files of the
// projects that are named, or made after the Core Specification; the values were checked with an independent
// dissector.

/// A PDU and what it says.
struct ATTVector: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let pdu: any ATTPDU

  init(_ name: String, _ bytes: String, _ pdu: any ATTPDU) {
    self.name = name
    self.bytes = hex(bytes)
    self.pdu = pdu
  }

  var testDescription: String { name }
}

let attVectors: [ATTVector] = [
  ATTVector(
    "pureswift: readMultipleVariableLengthRequest", "2003000500",
    ATTReadMultipleVariableRequest([0x0003, 0x0005])),
  ATTVector(
    "Read Multiple Variable Request", "20100012001500",
    ATTReadMultipleVariableRequest([0x0010, 0x0012, 0x0015])),
  ATTVector(
    "bluez: /TP/GAR/SR/BV-05-C/small", "0f09426c75655a", ATTReadMultipleResponse(hex("09426c75655a"))),
  ATTVector("pureswift: readBlobResponse", "0d", ATTReadBlobResponse([])),
  ATTVector("noble: encoder", "1801", ATTExecuteWriteRequest(.write)),
  ATTVector(
    "bluez: /TP/GAW/SR/BI-15-C/large-1", "1673000000010203",
    ATTPrepareWriteRequest(ATTPreparedWrite(handle: 0x0073, offset: 0, value: hex("010203")))),
  ATTVector("bluez: /TP/GAD/SR/BV-02-C/exists-16/large-1", "030002", ATTExchangeMTUResponse(serverMTU: 512)),
  ATTVector("pureswift: configureClientDescriptor", "03c800", ATTExchangeMTUResponse(serverMTU: 200)),
  ATTVector("bumble: Read Request", "0acdab", ATTReadRequest(0xabcd)),
  ATTVector(
    "pureswift: discovery", "0807000c000328", ATTReadByTypeRequest(range(0x0007, 0x000c), type: uuid("2803"))),
  ATTVector("noble: encoder", "124300050607", ATTWriteRequest(0x0043, value: hex("050607"))),
  ATTVector(
    "pureswift: discovery", "011013000a",
    ATTErrorResponse(request: ATTOpcode(rawValue: 0x10), handle: 0x0013, code: ATTErrorCode(rawValue: 0x0a))),
  ATTVector(
    "pureswift: readByGroupTypeRequest", "100100ffff0028",
    ATTReadByGroupTypeRequest(range(0x0001, 0xffff), type: uuid("2800"))),
  ATTVector(
    "bluez: signed write vector (key 505e42df9691ec72d31fcdfbeb641b61)", "d21200133701000000f1871e933c900ff2",
    ATTSignedWriteCommand(
      0x0012, value: hex("1337"), signature: ATTSignature(counter: 1, code: 0xf20f903c931e87f1))),
  ATTVector(
    "Multiple Handle Value Notification", "2310000200aabb12000100cc",
    ATTMultipleHandleValueNotification([
      ATTHandleAndValue(handle: 0x0010, value: hex("aabb")),
      ATTHandleAndValue(handle: 0x0012, value: hex("cc")),
    ])),
  ATTVector(
    "pureswift: prepareWriteResponse", "170a0000000102",
    ATTPrepareWriteResponse(ATTPreparedWrite(handle: 0x000a, offset: 0, value: hex("0102")))),
  ATTVector(
    "bluez: /TP/GAW/SR/BV-10-C/large-1", "1772000300040506",
    ATTPrepareWriteResponse(ATTPreparedWrite(handle: 0x0072, offset: 3, value: hex("040506")))),
  ATTVector(
    "noble: encoder", "100800b80b0700", ATTReadByGroupTypeRequest(range(0x0008, 0x0bb8), type: uuid("0007"))),
  ATTVector("bluez: /TP/GAR/SR/BV-04-C/large-1", "0cd3002d00", ATTReadBlobRequest(0x00d3, offset: 45)),
  ATTVector(
    "bumble: Read By Group Type Request 128-bit", "100100ffff9ecadc240ee5a9e093f3a3b5f0ff406e",
    ATTReadByGroupTypeRequest(range(0x0001, 0xffff), type: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"))),
  ATTVector("pureswift: handleValueConfirmation", "1e", ATTHandleValueConfirmation()),
  ATTVector(
    "bluez: /TP/GAD/SR/BV-03-C/large-1", "080100ffff0228",
    ATTReadByTypeRequest(range(0x0001, 0xffff), type: uuid("2802"))),
  ATTVector(
    "bluez: /TP/GAW/SR/BV-09-C/large-1", "1783000000ffffffffffffffffffffffffffffffffffff",
    ATTPrepareWriteResponse(
      ATTPreparedWrite(handle: 0x0083, offset: 0, value: hex("ffffffffffffffffffffffffffffffffffff")))),
  ATTVector(
    "pureswift: readByGroupTypeResponse", "111428003000c7a8d570e0234fb8e51172f9e24ff160",
    ATTReadByGroupTypeResponse([
      ATTGroupAndValue(group: range(0x0028, 0x0030), value: hex("c7a8d570e0234fb8e51172f9e24ff160"))
    ])),
  ATTVector(
    "pureswift: readByGroupTypeRequest", "100100ffff2800",
    ATTReadByGroupTypeRequest(range(0x0001, 0xffff), type: uuid("0028"))),
  ATTVector("bumble: Exchange MTU Response 247", "03f700", ATTExchangeMTUResponse(serverMTU: 247)),
  ATTVector(
    "bluez: /TP/GAD/SR/BV-02-C/exists-128/large-1", "06de00ffff0028efcdab8967452301000000000ca00000",
    ATTFindByTypeValueRequest(
      range(0x00de, 0xffff), type: 0x2800, value: hex("efcdab8967452301000000000ca00000"))),
  ATTVector("pureswift: write", "1217000100", ATTWriteRequest(0x0017, value: hex("0100"))),
  ATTVector("bluez: /TP/GAR/SR/BI-24-C/large-1", "0af00f", ATTReadRequest(0x0ff0)),
  ATTVector(
    "pureswift: signedWriteCommand", "d2100001000102030405060708090a0b",
    ATTSignedWriteCommand(
      0x0010, value: hex("01"), signature: ATTSignature(counter: 50462976, code: 0x0b0a090807060504))),
  ATTVector("pureswift: findInformation", "0417001700", ATTFindInformationRequest(range(0x0017, 0x0017))),
  ATTVector(
    "bluez: /TP/GAR/SR/BV-04-C/large-1", "0d33445566778899001122334455667788990011223344",
    ATTReadBlobResponse(hex("33445566778899001122334455667788990011223344"))),
  ATTVector("pureswift: mtu", "031700", ATTExchangeMTUResponse(serverMTU: 23)),
  ATTVector(
    "bumble: Find By Type Value Request", "060100ffff0028f0ff406e",
    ATTFindByTypeValueRequest(range(0x0001, 0xffff), type: 0x2800, value: hex("f0ff406e"))),
  ATTVector(
    "noble: encoder", "1643004400050607",
    ATTPrepareWriteRequest(ATTPreparedWrite(handle: 0x0043, offset: 68, value: hex("050607")))),
  ATTVector("pureswift: executeWriteResponse", "19", ATTExecuteWriteResponse()),
  ATTVector(
    "Read By Group Type Response, 4-byte entries (empty value)", "110401000400",
    ATTReadByGroupTypeResponse([ATTGroupAndValue(group: range(0x0001, 0x0004), value: hex(""))])),
  ATTVector(
    "bluez: /TP/GAD/SR/BV-02-C/missing-16/large-1", "010601000a",
    ATTErrorResponse(request: ATTOpcode(rawValue: 0x06), handle: 0x0001, code: ATTErrorCode(rawValue: 0x0a))),
  ATTVector(
    "bluez: /TP/GAR/SR/BI-07-C/large-1", "010801000a",
    ATTErrorResponse(request: ATTOpcode(rawValue: 0x08), handle: 0x0001, code: ATTErrorCode(rawValue: 0x0a))),
  ATTVector(
    "bumble: Find Information Request", "041000ffff", ATTFindInformationRequest(range(0x0010, 0xffff))),
  ATTVector(
    "pureswift: discovery",
    "0915020010030099ea3345a4cd5093b14cf27dc48be52b0500080600aefdccc61787349b9b4bdb3bb0e5ca94",
    ATTReadByTypeResponse([
      ATTHandleAndValue(handle: 0x0002, value: hex("10030099ea3345a4cd5093b14cf27dc48be52b")),
      ATTHandleAndValue(handle: 0x0005, value: hex("080600aefdccc61787349b9b4bdb3bb0e5ca94")),
    ])),

  // Made after the Core Specification: the PDUs that are not above.
  ATTVector("Exchange MTU Request", "020502", ATTExchangeMTURequest(clientMTU: 517)),
  ATTVector(
    "Find Information Response, 16 bit", "05011000002811000328",
    ATTFindInformationResponse([
      ATTHandleAndType(handle: 0x0010, type: uuid("2800")),
      ATTHandleAndType(handle: 0x0011, type: uuid("2803")),
    ])),
  ATTVector(
    "Find Information Response, 128 bit", "050211009ecadc240ee5a9e093f3a3b5f0ff406e",
    ATTFindInformationResponse([
      ATTHandleAndType(handle: 0x0011, type: uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"))
    ])),
  ATTVector(
    "Find By Type Value Response", "070100050010001900",
    ATTFindByTypeValueResponse([range(0x0001, 0x0005), range(0x0010, 0x0019)])),
  ATTVector("Read Response", "0b6402", ATTReadResponse([0x64, 0x02])),
  ATTVector("Read Response, empty value", "0b", ATTReadResponse([])),
  ATTVector("Read Multiple Request", "0e10001200", ATTReadMultipleRequest([0x0010, 0x0012])),
  ATTVector("Write Response", "13", ATTWriteResponse()),
  ATTVector("Execute Write Request, cancel", "1800", ATTExecuteWriteRequest(.cancel)),
  ATTVector("Write Command", "521000a1040400", ATTWriteCommand(0x0010, value: hex("a1040400"))),
  ATTVector("Write Command, empty value", "521000", ATTWriteCommand(0x0010, value: [])),
  ATTVector(
    "Read Multiple Variable Response", "210200aabb00000100cc",
    ATTReadMultipleVariableResponse([hex("aabb"), [], hex("cc")])),
  ATTVector(
    "Handle Value Notification", "1b1000a103", ATTHandleValueNotification(0x0010, value: hex("a103"))),
  ATTVector("Handle Value Indication", "1d1000", ATTHandleValueIndication(0x0010, value: [])),
  ATTVector(
    "an opcode nobody knows", "3fabcd", ATTUnknownPDU(ATTOpcode(rawValue: 0x3F), parameters: hex("abcd"))),
  // Packets in reports to the projects that are named.
  ATTVector(
    "adafruit/circuitpython 11145: no handle and no code", "0108000000",
    ATTErrorResponse(request: .readByTypeRequest, handle: 0, code: ATTErrorCode(rawValue: 0))),
  ATTVector(
    "arduino-libraries/ArduinoBLE 95: another request is named", "011001000a",
    ATTErrorResponse(request: .readByGroupTypeRequest, handle: 1, code: .attributeNotFound)),
  ATTVector(
    "noble/bleno 77: a part of a long value", "1611000000303030333430313937313131303131313136",
    ATTPrepareWriteRequest(
      ATTPreparedWrite(handle: 0x0011, offset: 0, value: Array("000340197111011116".utf8)))),
  ATTVector(
    "noble/bleno 77: the part is refused", "011611000e",
    ATTErrorResponse(request: .prepareWriteRequest, handle: 0x0011, code: .unlikelyError)),
  ATTVector(
    "RPi-Distro/bluez-firmware 8: declarations of characteristics",
    "0907" + "0200200300052a" + "1500021600002a" + "1700021800012a" + "1900021a00a62a",
    ATTReadByTypeResponse([
      ATTHandleAndValue(handle: 0x0002, value: hex("200300052a")),
      ATTHandleAndValue(handle: 0x0015, value: hex("021600002a")),
      ATTHandleAndValue(handle: 0x0017, value: hex("021800012a")),
      ATTHandleAndValue(handle: 0x0019, value: hex("021a00a62a")),
    ])),
]

/// PDUs that must be read although bytes are left over.
let trailingATTVectors: [ATTVector] = [
  ATTVector("MTU Response with a byte too many", "03170000", ATTExchangeMTUResponse(serverMTU: 23))
]

/// PDUs that must be refused.
let malformedATTVectors: [(name: String, bytes: String)] = [
  ("Find Information Response with no entries", "0501"),
  ("Read By Type Response length 7, no entries", "0907"),
  ("Read By Type Response, last entry cut", "09070200020300002a0400"),
  ("Find By Type Value Response, half entry", "070100"),
  ("MTU Response with one byte", "0317"),
  ("zephyrproject-rtos/zephyr 94922: entries longer than the response", "090d0100aabbccddeeff"),
]

func decoded(_ bytes: [UInt8]) throws(DecodeError) -> any ATTPDU {
  try bytes.withReader { reader throws(DecodeError) in try ATTReader.read(&reader) }
}
