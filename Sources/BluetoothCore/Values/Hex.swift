/// Bytes written as hexadecimal digits.
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits a byte, `separator` between the bytes: `"a1 04"`.
  public static func string(_ bytes: some Collection<UInt8>, separator: String = "") -> String {
    guard !bytes.isEmpty else { return "" }
    let gap = Array(separator.utf8)
    let length = bytes.count * 2 + (bytes.count - 1) * gap.count
    return String(unsafeUninitializedCapacity: length) { text in
      var place = 0
      for byte in bytes {
        if place > 0 { for letter in gap { text.initializeElement(at: place, to: letter); place += 1 } }
        text.initializeElement(at: place, to: digits[Int(byte >> 4)])
        text.initializeElement(at: place + 1, to: digits[Int(byte & 15)])
        place += 2
      }
      return place
    }
  }

  /// An integer with all its leading zeros: `"0x0012"`.
  public static func string(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
    string(UInt64(value), bytes: value.bitWidth / 8)
  }

  /// The low `bytes` bytes of an integer, with all leading zeros: `"0x000012"`.
  public static func string(_ value: UInt64, bytes: Int) -> String {
    let count = bytes * 2
    return String(unsafeUninitializedCapacity: count + 2) { text in
      text.initializeElement(at: 0, to: UInt8(ascii: "0"))
      text.initializeElement(at: 1, to: UInt8(ascii: "x"))
      for index in 0..<count {
        let digit = Int(truncatingIfNeeded: value >> ((count - 1 - index) * 4)) & 15
        text.initializeElement(at: index + 2, to: digits[digit])
      }
      return count + 2
    }
  }

  /// The bytes that `text` represents. Spaces, colons, dashes and underscores between bytes and a leading `0x` are
  /// allowed; nil for anything else that is not a pair of digits.
  public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
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
