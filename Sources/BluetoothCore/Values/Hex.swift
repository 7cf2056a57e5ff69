/// Bytes written as hexadecimal digits.
@usableFromInline package enum Hex {
  /// The two digits of each byte, as they stand in memory.
  static let pairs: [UInt16] = {
    let digits = Array("0123456789abcdef".utf8)
    return (0..<256).map { (UInt16(digits[$0 >> 4]) | UInt16(digits[$0 & 15]) << 8).littleEndian }
  }()

  /// Two digits a byte, `separator` between the bytes: `"a1 04"`.
  @inlinable
  package static func string(_ bytes: some Collection<UInt8>, separator: String = "") -> String {
    if let string = bytes.withContiguousStorageIfAvailable({ string($0.span.bytes, separator: separator) }) {
      return string
    }
    return Array(bytes).withUnsafeBufferPointer { string($0.span.bytes, separator: separator) }
  }

  /// Two digits a byte, `separator` between the bytes: `"a1 04"`.
  @usableFromInline package static func string(_ bytes: RawSpan, separator: String = "") -> String {
    TextBuffer.string(capacity: bytes.byteCount * (2 + separator.utf8.count)) { text in
      switch separator {
      case "": text.writeHex(bytes)
      case " ": text.writeSpacedHex(bytes)
      default:
        for index in 0..<bytes.byteCount {
          if index > 0 { text.write(separator) }
          text.writeHex(bytes.extracting(index..<index + 1))
        }
      }
    }
  }

  /// An integer with all its leading zeros: `"0x0012"`.
  @inlinable
  package static func string(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
    string(UInt64(value), bytes: value.bitWidth / 8)
  }

  /// The low `bytes` bytes of an integer, with all leading zeros: `"0x000012"`.
  @usableFromInline package static func string(_ value: UInt64, bytes: Int) -> String {
    TextBuffer.string(capacity: 2 + 2 * bytes) { $0.writeHex(value, bytes: bytes) }
  }

  /// The bytes that `text` represents. Spaces, colons, dashes and underscores between bytes and a leading `0x` are
  /// allowed; nil for anything else that is not a pair of digits.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    var characters = Substring(text)
    if characters.hasPrefix("0x") || characters.hasPrefix("0X") { characters.removeFirst(2) }
    for character in characters {
      if let digit = character.hexDigitValue, character.isASCII {
        if let first = high {
          bytes.append(first << 4 | UInt8(digit))
          high = nil
        } else {
          high = UInt8(digit)
        }
      } else if !" :-_".contains(character) || high != nil {
        return nil
      }
    }
    return high == nil ? bytes : nil
  }
}
