extension String {
  /// Untrusted text, made safe to print: invalid UTF-8, and characters that a terminal does not show or that change how
  /// other text looks (``ShownText``), are escaped (`\x1b`, `\u{202e}`). Trailing zero bytes are dropped, as names are
  /// often padded.
  package init(printable bytes: some Collection<UInt8>) {
    var rest = Array(bytes)
    while rest.last == 0 { rest.removeLast() }
    // Most names are plain ASCII.
    if rest.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) {
      self.init(decoding: rest, as: UTF8.self)
      return
    }
    var text = ""
    var shown = ShownText()
    var start = 0
    while start < rest.count {
      guard let scalar = UnicodeScalar(utf8: rest[start...]) else {
        text += "\\x" + Hex.string(CollectionOfOne(rest[start]))
        shown = ShownText()
        start += 1
        continue
      }
      start += UTF8.width(scalar)
      let isShown = shown.takes(scalar, before: UnicodeScalar(utf8: rest[start...]))
      text += isShown && scalar != "\\" ? String(scalar) : scalar.printableEscape
    }
    self = text
  }

  /// The text of a device: UTF-8, or Latin-1, which some firmware sends. Zeros at the end are left out. Nil if it is neither, and
  /// for UTF-8 that was cut within a character.
  package init?(text bytes: some Collection<UInt8>) {
    var rest = Array(bytes)
    while rest.last == 0 { rest.removeLast() }
    if let text = String(validating: rest, as: UTF8.self) {
      self = text
    } else if !rest.contains(where: { $0 < 0x20 || 0x7F..<0xA0 ~= $0 }),
      rest.last.map({ ![0xC2, 0xC3].contains($0) }) ?? true
    {
      self = String(String.UnicodeScalarView(rest.map { UnicodeScalar($0) }))
    } else {
      return nil
    }
  }

  /// This text, safe to print; see ``init(printable:)``.
  package var printable: String { String(printable: utf8) }
}

extension UnicodeScalar {
  /// The first character of some bytes; nil if they do not begin with one.
  fileprivate init?(utf8 bytes: ArraySlice<UInt8>) {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    self = scalar
  }

  fileprivate var printableEscape: String {
    if self == "\\" { return "\\\\" }
    return value < 0x80 ? "\\x" + Hex.string([UInt8(value)]) : "\\u{\(String(value, radix: 16))}"
  }
}

/// Integers as decimal text.
package enum DecimalText {
  /// A number in units of 10^-places: `3650` with 2 places is `36.50`.
  package static func string(_ number: Int64, places: Int) -> String {
    let digits = padded(number.magnitude, places + 1)
    return (number < 0 ? "-" : "") + digits.dropLast(places) + "." + digits.suffix(places)
  }

  /// A number with leading zeros: `7` with a width of 2 is `07`.
  package static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
