import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct TextFormsTests {
  @Test(arguments: [
    ("180A", "180A"), ("0x180a", "180A"), ("0000180A", "180A"), ("12345678", "12345678"),
    ("0000180a-0000-1000-8000-00805f9b34fb", "180A"),
    ("6e40fff0-b5a3-f393-e0a9-e50e24dcca9e", "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"),
    ("6e40fff0b5a3f393e0a9e50e24dcca9e", "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"),
    ("00000001-0000-0000-0000-000000000000", "00000001-0000-0000-0000-000000000000"),
  ])
  func uuidsReadAndPrint(text: String, printed: String) {
    #expect(BluetoothUUID(text)?.description == printed)
  }

  @Test(arguments: [
    "", "18", "180G", "180A0", "6e40fff0-b5a3-f393-e0a9-e50e24dcca9", "é180", "+123",
    "6e40fff0b-5a3-f393-e0a9-e50e24dcca9e", "------------------------------------",
  ])
  func rejectsInvalidUUIDText(text: String) {
    #expect(BluetoothUUID(text) == nil)
  }

  @Test func shortAndLongFormsAreEqual() throws {
    let long = try hex("fb349b5f80000080001000000a180000").withReader { reader throws(DecodeError) in
      try BluetoothUUID(parsing: &reader, length: 16)
    }
    #expect(long == BluetoothUUID(UInt16(0x180A)))
    #expect(long.wireLength == 2)
    #expect(throws: DecodeError.self) {
      _ = try hex("000000").withReader { try BluetoothUUID(parsing: &$0, length: 3) }
    }
  }

  @Test func aUUIDIsPutTogether() {
    for number in 1...3 {
      let uuid: BluetoothUUID = "6E40000\(number)-B5A3-F393-E0A9-E50E24DCCA9E"
      #expect(uuid.description == "6E40000\(number)-B5A3-F393-E0A9-E50E24DCCA9E")
    }
  }

  @Test func addressesReadAndPrint() {
    #expect(BluetoothAddress("C0:11:22:33:A1:B2") == BluetoothAddress(0xC011_2233_A1B2, .random))
    #expect(BluetoothAddress("c0:11:22:33:a1:b2/public") == BluetoothAddress(0xC011_2233_A1B2, .public))
    #expect(BluetoothAddress("00-1a-7d-da-71-13")?.kind == .public)
    #expect(BluetoothAddress("001a7dda7113/random")?.description == "00:1A:7D:DA:71:13")
    for text in ["", "C0:11:22:33:A1", "C0:11:22:33:A1:B2:00", "C0:11:22:33:A1:B2/x", "R02_A1B2", "0xC01122"]
    {
      #expect(BluetoothAddress(text) == nil, "\(text)")
    }
  }

  @Test(arguments: [
    ("R02_A1B2".utf8.map { $0 }, "R02_A1B2"), ([0x41, 0, 0], "A"), ([0x1B, 0x5B, 0x41], "\\x1b[A"),
    ([0xFF, 0x41], "\\xffA"), ([0xC3, 0x28], "\\xc3("), ([0xE2, 0x80, 0xAE], "\\u{202e}"),
    ("né€😀".utf8.map { $0 }, "né€😀"), ([0x5C], "\\\\"), ([0xE2, 0x82], "\\xe2\\x82"),
    ([0x41, 0xC2], "A\\xc2"),
  ])
  func peerTextIsEscaped(bytes: [UInt8], printed: String) {
    #expect(String(printable: bytes) == printed)
  }

  /// Two names that look the same, and are not, are told apart.
  @Test(
    arguments: [
      0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x180F, 0x200B, 0x200C, 0x200D,
      0x2060, 0x2065, 0x206F,
      0x2800, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0x1BCA0, 0x1D159, 0x1D173, 0xE0001, 0xE0041,
      0xE0100, 0xE01EF,
    ] as [UInt32])
  func invisibleCharactersAreEscaped(value: UInt32) throws {
    let scalar = try #require(UnicodeScalar(value))
    let escape = "\\u{\(String(value, radix: 16))}"
    #expect("R02\(scalar)_A1B2".printable == "R02\(escape)_A1B2")
    #expect("\(scalar)".printable == escape)
    #expect("é\(scalar)".printable == "é\(escape)")
  }

  /// Vietnamese in single marks, Thai, Hindi with both joiners, Arabic with its vowels, Hebrew with accents, Persian, and emoji
  /// of several characters.
  @Test(arguments: [
    "Vie\u{323}\u{302}t Nam", "น้ำใจที่", "हिन्दी क्\u{200D}ष क्\u{200C}ष", "مُحَمَّدٌ", "בְּרֵאשִׁ֖ית", "می\u{200C}خواهم",
    "👩\u{200D}👩\u{200D}👧", "❤\u{FE0F}", "👍🏽", "1\u{FE0F}\u{20E3}", "🏳\u{FE0F}\u{200D}🌈", "🇫🇷", "指輪　リング", "반지",
  ])
  func doesNotEscapeInternationalText(text: String) {
    #expect(text.printable == text)
  }

  @Test func marksInARowAreEscapedAfterTheFourth() {
    let mark = "\u{301}"
    func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
    #expect(
      ("a" + repeated(mark, 40) + "b" + mark).printable
        == "a" + repeated(mark, 4) + repeated("\\u{301}", 36) + "b" + mark)
    // Nor does a mark join what is printed before the text, or an escape.
    #expect((mark + "a").printable == "\\u{301}a")
    #expect("a\u{202E}\(mark)".printable == "a\\u{202e}\\u{301}")
  }

  @Test func literalsAreUUIDs() {
    let heartRate: BluetoothUUID = 0x180D
    #expect(heartRate == BluetoothUUID(UInt16(0x180D)) && BluetoothUUID(0x180D) == heartRate)
    #expect("180D" as BluetoothUUID == heartRate && BluetoothUUID("0000180D") == heartRate)
    #expect(BluetoothUUID(0x0001_180D).shorter == 0x0001_180D)
    let long: BluetoothUUID = 0x6E40_FFF0_B5A3_F393_E0A9_E50E_24DC_CA9E
    #expect(long == "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E" && long.shorter == nil)
  }

  @Test func hexIsStrict() {
    #expect(Hex.bytes("a1 04:00-FF_0x") == nil)
    #expect(Hex.bytes("0xa104") == [0xA1, 4])
    #expect(Hex.bytes("a1 04:00-FF") == [0xA1, 4, 0, 0xFF])
    #expect(Hex.bytes("a") == nil)
    #expect(Hex.bytes("a 1") == nil)
    #expect(Hex.string([0xA1, 4], separator: " ") == "a1 04")
    #expect(Hex.string(UInt16(0x12)) == "0x0012")
  }
}
