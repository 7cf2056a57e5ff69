import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct AdvertisingDataTests {
  @Test(arguments: advertisingVectors)
  func vectorsAreReadAndWritten(vector: AdvertisingVector) {
    let data = AdvertisingData(vector.bytes)
    #expect(data.structures == vector.structures)
    if !data.isDamaged { #expect(data.bytes == vector.bytes) }
    checkDecoderIsTotal(vector.bytes) { _ = AdvertisingData($0).bytes }
  }

  /// Each kind of structure, built and read again.
  static let samples: [(ADStructure, String)] = [
    (.flags([.generalDiscoverable, .brEDRNotSupported]), "02 01 06"),
    (.localName(Array("R02".utf8), isComplete: false), "04 08 523032"),
    (.serviceUUIDs([], width: .two, isComplete: true), "01 03"),
    (.serviceUUIDs([uuid("180A"), uuid("180F")], width: .two, isComplete: false), "05 02 0a18 0f18"),
    (.serviceUUIDs([uuid("12345678")], width: .four, isComplete: true), "05 05 78563412"),
    (
      .serviceUUIDs([uuid("180A")], width: .sixteen, isComplete: true),
      "11 07 fb349b5f80000080001000000a180000"
    ),
    (.solicitedServiceUUIDs([uuid("180A")], width: .two), "03 14 0a18"),
    (.solicitedServiceUUIDs([uuid("0000180A")], width: .four), "05 1f 0a180000"),
    (
      .solicitedServiceUUIDs([uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e")], width: .sixteen),
      "11 15 9ecadc240ee5a9e093f3a3b5f0ff406e"
    ),
    (.serviceData(uuid("FE9F"), width: .two, [1, 2]), "05 16 9ffe 0102"),
    (.manufacturerData(CompanyIdentifier(rawValue: 0x004C), []), "03 ff 4c00"),
    (.txPower(-20), "02 0a ec"),
    (.appearance(Appearance(rawValue: 0x0340)), "03 19 4003"),
    (.connectionIntervalRange(min: interval(6), max: interval(0xFFFF)), "05 12 0600 ffff"),
    (.deviceAddress(BluetoothAddress(0xC011_2233_A1B2, .random)), "08 1b b2a1332211c0 01"),
    (.role(2), "02 1c 02"),
    (.uri(hex("162f2f61")), "05 24 162f2f61"),
    (.unknown(ADType(rawValue: 0x2A), [9]), "02 2a 09"),
  ]

  @Test(arguments: samples)
  func structuresAreReadAndWritten(structure: ADStructure, bytes: String) {
    #expect(AdvertisingData([structure]).bytes == hex(bytes))
    #expect(AdvertisingData(hex(bytes)).structures == [structure])
    checkDecoderIsTotal(hex(bytes)) { _ = AdvertisingData($0) }
  }

  @Test(arguments: [
    ("04 03 0a180f", ADType.completeServiceUUIDs16, "0a180f"),
    ("03 05 0a18", .completeServiceUUIDs32, "0a18"), ("02 16 0a", .serviceData16, "0a"),
    ("03 0a 0000", .txPower, "0000"), ("02 19 40", .appearance, "40"),
    ("04 12 060006", .connectionIntervalRange, "060006"),
    ("07 1b b2a1332211c0", .deviceAddress, "b2a1332211c0"),
    ("02 ff 4c", .manufacturerData, "4c"),
  ])
  func aMalformedPayloadDoesNotStopTheRest(bytes: String, type: ADType, payload: String) {
    let data = AdvertisingData(hex(bytes) + hex("020106"))
    #expect(data.structures == [.malformed(type, hex(payload)), .flags(ADFlags(rawValue: 6))])
    #expect(data.isDamaged)
    #expect(data.flags == ADFlags(rawValue: 6))
    #expect(data.bytes == hex(bytes) + hex("020106"))
  }

  /// Flags have any number of bytes (Core Specification Supplement, Part A, 1.3), and most bits of the byte behind an
  /// address are reserved (1.16): neither is damage.
  @Test func acceptsUnusualFlagsAndAddresses() {
    let none = AdvertisingData(hex("01 01"))
    #expect(none.flags == [] && !none.isDamaged && none.bytes == hex("01 01"))
    let two = AdvertisingData(hex("03 01 06 00"))
    #expect(two.flags == ADFlags(rawValue: 6) && !two.isDamaged && two.bytes == hex("03 01 06 00"))
    let address = AdvertisingData(hex("08 1b b2a1332211c0 81"))
    #expect(address.structures == [.deviceAddress(BluetoothAddress(0xC011_2233_A1B2, .random))])
  }

  @Test func aLengthAloneIsMalformed() {
    #expect(
      AdvertisingData(hex("02010605")).structures == [.flags(ADFlags(rawValue: 6)), .malformed(nil, [5])])
  }

  @Test func lengthZeroEndsTheData() {
    let data = AdvertisingData(hex("020106 00 020a04"))
    #expect(data.structures == [.flags(ADFlags(rawValue: 6))])
    #expect(data.padding == hex("00020a04"))
    #expect(!data.isDamaged)
    #expect(data.bytes == hex("020106 00 020a04"))
  }

  @Test func accessorsAnswer() {
    let data = AdvertisingData(
      hex("020106 04085230 32 0509523032 41 03030a18 1107 9ecadc240ee5a9e093f3a3b5f0ff406e")
        + hex("05160f186400 05ff4c000102 05ff4c000304 020af4 03194003"))
    #expect(data.flags == [.generalDiscoverable, .brEDRNotSupported])
    #expect(data.localName == "R02A")
    #expect(data.shortenedLocalName == "R02")
    #expect(data.serviceUUIDs == [uuid("180A"), uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e")])
    #expect(data.serviceData == [.init(service: uuid("180F"), data: [0x64, 0])])
    #expect(data.manufacturerData.map(\.company.rawValue) == [0x4C, 0x4C])
    #expect(data.manufacturerData.map(\.data) == [[1, 2], [3, 4]])
    #expect(data.txPower == -12)
    #expect(data.appearance?.category == 13)
    #expect(AdvertisingData(hex("03083031")).localName == "01")
    #expect(AdvertisingData([UInt8]()).localName == nil)
  }

  /// UUIDs of one length are one list (Core Specification Supplement, Part A, 1.1).
  @Test func listsOfUUIDsAreMade() {
    let data = AdvertisingData(
      localName: "R",
      serviceUUIDs: [
        uuid("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e"), uuid("180A"), uuid("12345678"), uuid("180F"),
      ])
    #expect(
      data.bytes == hex("020952 05030a180f18 050578563412 11079ecadc240ee5a9e093f3a3b5f0ff406e"))
  }

  /// Firmware sends a complete name of no bytes, or a buffer of zeros, in front of the one that says something.
  @Test(arguments: ["0109", "0209 00", "0509 00000000"])
  func ignoresEmptyLocalName(_ empty: String) {
    let shortened = hex(empty + "0408523032")
    #expect(AdvertisingData(shortened).localName == "R02")
    #expect(AdvertisingData.nameRange(in: shortened.span.bytes)?.isComplete == false)
    #expect(AdvertisingData(hex(empty + "0409523032")).completeLocalName == "R02")
    #expect(AdvertisingData(hex(empty)).localName == nil)
    #expect(AdvertisingData.nameRange(in: hex(empty).span.bytes) == nil)
  }

  @Test func namesAreSafeToPrint() {
    #expect(AdvertisingData(hex("06091b5b41ff00")).localName == "\\x1b[A\\xff")
  }

  /// A program looks for it by its name.
  @Test func aNameInLatin1IsAName() {
    let device = Advertisement(
      address: BluetoothAddress(1, .public), advertisingData: AdvertisingData(hex("0509436166e9")))
    #expect(device.localName == "Café" && device.isNamed("café"))
  }

  @Test func omitsOversizedADStructure() {
    let data = AdvertisingData([
      .unknown(ADType(rawValue: 0x2A), Array(repeating: 0, count: 255)), .txPower(0),
    ])
    #expect(data.bytes == hex("020a00"))
  }
}
