/// Bytes written as hexadecimal digits.
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits a byte, `separator` between the bytes: `"a1 04"`.
  public static func string(_ bytes: some Sequence<UInt8>, separator: String = "") -> String {
    var text = ""
    for byte in bytes {
      if !text.isEmpty { text += separator }
      text.unicodeScalars.append(UnicodeScalar(digits[Int(byte >> 4)]))
      text.unicodeScalars.append(UnicodeScalar(digits[Int(byte & 15)]))
    }
    return text
  }

  /// An integer with all its leading zeros: `"0x0012"`.
  public static func string(_ value: some FixedWidthInteger & UnsignedInteger) -> String {
    let text = String(value, radix: 16)
    return "0x" + String(repeating: "0", count: max(0, value.bitWidth / 4 - text.count)) + text
  }

  /// The bytes that `text` spells. Spaces, colons, dashes and underscores between bytes and a leading `0x`
  /// are allowed; nil for anything else that is not a pair of digits.
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
