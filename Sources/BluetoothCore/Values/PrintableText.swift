extension String {
  /// Untrusted text, made safe to print: invalid UTF-8, control characters and characters that change the direction or
  /// appearance of the following text are escaped (`\x1b`, `\u{202e}`). Trailing zero bytes are dropped, as names are
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
    var decoder = UTF8()
    var iterator = rest.makeIterator()
    var consumed = 0
    decoding: while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar):
        consumed += UTF8.width(scalar)
        text += scalar.isSafeToPrint ? String(scalar) : scalar.printableEscape
      case .emptyInput:
        break decoding
      case .error:
        // The decoder does not report how many bytes it consumed: escape one byte and continue after it.
        text += "\\x" + Hex.string(CollectionOfOne(rest[consumed]))
        consumed += 1
        decoder = UTF8()
        iterator = Array(rest[consumed...]).makeIterator()
      }
    }
    self = text
  }

  /// This text, safe to print; see ``init(printable:)``.
  package var printable: String { String(printable: utf8) }
}

extension UnicodeScalar {
  /// Whether a terminal shows it. Other characters it obeys, such as U+202E, which turns the direction of what follows.
  package var isShown: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
      false
    default: true
    }
  }

  fileprivate var isSafeToPrint: Bool { isShown && self != "\\" }

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
