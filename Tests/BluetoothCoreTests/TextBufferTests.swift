import HaloBluetoothCore
import Testing

struct TextBufferTests {
  @Test func numbersHaveTheirDigits() {
    let text = TextBuffer.string(capacity: 0) { text in
      for number in [0, 9, 10, -1, Int.min, Int.max] {
        text.write(number)
        text.write(" ")
      }
      text.write(7, width: 3)
      text.write(-12345, width: 3)
    }
    #expect(text == "0 9 10 -1 -9223372036854775808 9223372036854775807   7-12345")
  }

  @Test(arguments: [
    (3650, 2, "36.50"), (-5, 3, "-0.005"), (0, 1, "0.0"), (Int64.min, 6, "-9223372036854.775808"),
  ])
  func decimalsHaveTheirPlaces(number: Int64, places: Int, text: String) {
    #expect(TextBuffer.string { $0.write(number, places: places) } == text)
    #expect(DecimalText.string(number, places: places) == text)
  }

  /// Blocks of 16 bytes are converted at once: all lengths around them, and all bytes.
  @Test func everyByteHasItsTwoDigits() {
    let all = (0...255).map { UInt8($0) }
    for length in [0, 1, 2, 15, 16, 17, 31, 32, 33, 256] {
      let bytes = Array(all.suffix(length))
      let expected = bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }
      #expect(TextBuffer.string(capacity: 0) { $0.writeHex(bytes.span.bytes) } == expected.joined())
      #expect(
        TextBuffer.string(capacity: 0) { $0.writeSpacedHex(bytes.span.bytes) }
          == expected.joined(separator: " "))
      #expect(Hex.string(bytes, separator: "::") == expected.joined(separator: "::"))
      #expect(Hex.string(bytes.reversed().reversed()) == expected.joined())
    }
    #expect(Hex.string(0x12 as UInt16) == "0x0012" && Hex.string(0x123456, bytes: 3) == "0x123456")
  }

  @Test(arguments: [
    [0x52, 0x30, 0x32], [0x52, 0], [0, 0x52], [0x5C], [0x1B, 0x5B], [0xC3, 0xA4], [0xFF],
  ])
  func untrustedTextIsWrittenAsAStringIs(bytes: [UInt8]) {
    #expect(TextBuffer.string { $0.writePrintable(bytes.span.bytes) } == String(printable: bytes))
  }

  @Test func keepsTextWhenBufferGrows() {
    var text = TextBuffer(capacity: 1)
    for _ in 0..<1000 { text.write("Handle Value Notification, ") }
    #expect(text.count == 27_000)
    let half = text.string(0..<13_500)
    text.truncate(to: 13_500)
    text.repeatText(0..<13_500)
    #expect(text.string == half + half)
    text.removeAll()
    #expect(text.string.isEmpty)
  }
}

struct FieldListTests {
  private struct Sample: PacketFields {
    var length: UInt8 = 0
    var payload: [UInt8] = []

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("length", &length, .unit("bytes"))
      try fields.rest("payload", &payload)
    }
  }

  private func list(_ bytes: [UInt8], into list: FieldList) {
    list.read(bytes.span.bytes, 0..<bytes.count, reference: "1.2") { lister throws(DecodeError) in
      var sample = Sample()
      try lister.group("sample", number: 1, &sample)
    }
  }

  @Test func aListIsUsedAgain() {
    let fields = FieldList()
    list([2, 0xA1, 0x04], into: fields)
    fields.removeAll()
    list([1, 0xFF], into: fields)
    #expect(fields.fields.map(\.name) == ["sample 1", "length", "payload"])
    #expect(fields.fields.map(\.value) == ["", "1 bytes", "ff"])
    #expect(fields.fields.map(\.range) == [0..<2, 0..<1, 1..<2])
    #expect(fields.fields.map(\.depth) == [0, 1, 1])
    #expect(fields.references == ["1.2"])
  }

  @Test func aValueCanBeReplacedAndExtended() {
    let fields = FieldList()
    list([1, 0xFF], into: fields)
    #expect(fields.isNamed(1, "length") && !fields.isNamed(1, "lengths") && !fields.isNamed(2, "length"))
    fields.extendValue(of: 1) { $0.write(" (all)") }
    fields.setValue(of: 2) { $0.write("off") }
    #expect(fields.fields.map(\.value) == ["", "1 bytes (all)", "off"])
  }

  @Test func listsUndecodableBytesAsDamagedField() {
    let fields = FieldList()
    list([], into: fields)
    #expect(fields.fields.map(\.name) == ["sample 1", "damaged"])
  }

  @Test(arguments: [0, 9, 10, 99, 100, 999, 65535, 123_456_789_012, 1 << 63, .max - 1, .max] as [UInt64])
  func magnitudesHaveTheirDigits(_ number: UInt64) {
    #expect(TextBuffer.string { $0.write(magnitude: number, digits: 1) } == "\(number)")
    let padded = String(repeating: "0", count: 24 - "\(number)".count) + "\(number)"
    #expect(TextBuffer.string { $0.write(magnitude: number, digits: 24) } == padded)
  }
}
