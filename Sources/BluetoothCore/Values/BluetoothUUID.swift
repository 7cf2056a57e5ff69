/// A UUID of 16, 32 or 128 bits. The short forms stand for the Bluetooth Base UUID with some of its bits
/// replaced, so that both forms of one UUID are equal (Core Specification Vol 3, Part B, 2.5.1).
public struct BluetoothUUID: Hashable, Sendable, TextWritable, ExpressibleByIntegerLiteral,
  ExpressibleByStringInterpolation
{
  /// All 128 bits, as a big-endian number: the first digit of the text is the most significant.
  public let value: UInt128

  /// `00000000-0000-1000-8000-00805F9B34FB`
  private static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5F9B_34FB

  /// All zero: no UUID.
  package static let zero = BluetoothUUID(UInt128(0))

  /// All 128 bits; the first byte in the text form is the most significant.
  public init(_ value: UInt128) {
    self.value = value
  }

  /// A 16-bit UUID (Core Specification Vol 3, Part B, 2.5.1).
  public init(_ short: UInt16) {
    self.init(Self.base | UInt128(short) << 96)
  }

  /// A 32-bit UUID (Core Specification Vol 3, Part B, 2.5.1).
  package init(_ short: UInt32) {
    self.init(Self.base | UInt128(short) << 96)
  }

  /// Parses `180A`, `0x180A`, `0000180A` or `6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E`; nil for anything else.
  public init?(_ text: some StringProtocol) {
    var digits = Substring(text)
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits.removeFirst(2) }
    guard digits.allSatisfy({ ($0.isHexDigit && $0.isASCII) || $0 == "-" }) else { return nil }
    switch digits.count {
    case 4: guard let short = UInt16(digits, radix: 16) else { return nil }; self.init(short)
    case 8: guard let short = UInt32(digits, radix: 16) else { return nil }; self.init(short)
    case 36:
      let groups = digits.split(separator: "-", omittingEmptySubsequences: false)
      guard groups.map(\.count) == [8, 4, 4, 4, 12],
        let value = UInt128(groups.joined(), radix: 16)
      else { return nil }
      self.init(value)
    case 32: guard let value = UInt128(digits, radix: 16) else { return nil }; self.init(value)
    default: return nil
    }
  }

  /// The 16-bit form, where there is one.
  public var short: UInt16? {
    shorter.flatMap { UInt16(exactly: $0) }
  }

  /// The 16- or 32-bit form, where there is one.
  package var shorter: UInt32? {
    value & ~(UInt128(UInt32.max) << 96) == Self.base ? UInt32(truncatingIfNeeded: value >> 96) : nil
  }

  /// Reads a UUID of `length` bytes (2, 4 or 16), least significant first.
  package init(parsing reader: inout ByteReader, length: Int) throws(DecodeError) {
    switch length {
    case 2: self.init(try reader.readUInt16())
    case 4: self.init(try reader.readUInt32())
    case 16:
      let low = try reader.readUInt64()
      let high = try reader.readUInt64()
      self.init(UInt128(high) << 64 | UInt128(low))
    default: throw reader.invalid("a UUID has 2, 4 or 16 bytes, not \(length)")
    }
  }

  /// The number of bytes that ``write(into:)`` writes: 2 if there is a 16-bit form, else 16. ATT has no 32-bit form
  /// (Vol 3, Part F, 3.2.1).
  package var wireLength: Int { short == nil ? 16 : 2 }

  /// Writes the shortest form that ATT supports, least significant byte first.
  package func write(into writer: inout ByteWriter) {
    if let short {
      writer.write(short)
    } else {
      writeLong(into: &writer)
    }
  }

  /// Writes all 16 bytes, least significant byte first.
  package func writeLong(into writer: inout ByteWriter) {
    writer.write(UInt64(truncatingIfNeeded: value))
    writer.write(UInt64(truncatingIfNeeded: value >> 64))
  }

  /// The shortest form, in upper case: `180A`, or 36 characters.
  public var description: String { TextBuffer.string { $0.write(self) } }

  /// Writes ``description``.
  @usableFromInline package func write(to text: inout TextBuffer) {
    let count = shorter == nil ? 32 : short == nil ? 8 : 4
    // The short forms are the most significant digits of the first group.
    let digits = shorter.map { UInt128($0) } ?? value
    text.withRoom(36) { room in
      var place = 0
      for index in 0..<count {
        if count == 32, [8, 12, 16, 20].contains(index) {
          room[place] = UInt8(ascii: "-")
          place += 1
        }
        let nibble = UInt8(truncatingIfNeeded: digits >> UInt128((count - 1 - index) * 4)) & 15
        room[place] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
        place += 1
      }
      return place
    }
  }

  /// A literal of up to 32 bits is the short form, such as `0x180D`; a longer one is all 128 bits.
  public init(integerLiteral value: UInt128) {
    if let short = UInt32(exactly: value) { self.init(short) } else { self.init(value) }
  }

  /// A literal such as `"180D"` or `"6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"`, also with numbers of the program in it. One that is
  /// not a UUID is a programming error, which ends the program. Text that comes from elsewhere is parsed by `BluetoothUUID(text)`
  /// with a variable, which may be nil.
  public init(stringLiteral text: String) {
    guard let value = BluetoothUUID(text) else { preconditionFailure("\"\(text)\" is not a UUID") }
    self = value
  }
}
