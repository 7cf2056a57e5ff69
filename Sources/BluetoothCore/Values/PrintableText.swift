extension String {
  /// Untrusted text, made safe to print: invalid UTF-8, control characters and characters that change the direction or
  /// appearance of the following text are escaped (`\x1b`, `\u{202e}`). Trailing zero bytes are dropped, as names are
  /// often padded.
  public init(printable bytes: some Collection<UInt8>) {
    var rest = Array(bytes)
    while rest.last == 0 { rest.removeLast() }
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
  public var printable: String { String(printable: utf8) }
}

extension UnicodeScalar {
  fileprivate var isSafeToPrint: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
      false
    default:
      self != "\\"
    }
  }

  fileprivate var printableEscape: String {
    if self == "\\" { return "\\\\" }
    return value < 0x80 ? "\\x" + Hex.string([UInt8(value)]) : "\\u{\(String(value, radix: 16))}"
  }
}
