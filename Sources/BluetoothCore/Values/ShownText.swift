/// Decides which characters of an untrusted text are shown as they are. It takes the text character by character.
///
/// These are not shown, but escaped:
///
/// - control and format characters, such as U+202E, which reverses the direction of the following text, private and unassigned
///   ones;
/// - characters that leave nothing to see, by which two different texts would look the same: Default_Ignorable_Code_Point of
///   Unicode, such as U+3164, variation selectors and tags, and U+2800, U+1D159, U+13441 and U+13442, which are empty glyphs;
/// - marks above, below and within a letter (Mn, Me) after the fourth, which would cover other lines, and those without a
///   letter before them in the text, which would change the character printed before it.
///
/// Writing systems and emoji need some of these, which stay where they have a meaning: U+200C and U+200D after a virama,
/// U+200C between Arabic letters, U+FE0F after a symbol that is an emoji only with it, and U+200D between two emoji. The flags
/// of countries that are made of tags, such as that of Scotland, are a black flag and escapes.
package struct ShownText {
  private var last: UnicodeScalar?
  /// How many more marks the last letter may have.
  private var room = 0

  /// Thai has two, Vietnamese two, Arabic with all vowels three, Hebrew with accents four.
  private static let mostMarks = 4

  package init() {}

  /// Takes the next character.
  ///
  /// - Parameters:
  ///   - scalar: the character
  ///   - next: the one after it; nil at the end of the text
  /// - Returns: whether it is shown; if not, it is escaped
  package mutating func takes(_ scalar: UnicodeScalar, before next: UnicodeScalar?) -> Bool {
    if scalar.isASCII {
      let isShown = scalar.value >= 0x20 && scalar.value < 0x7F
      (last, room) = (scalar, isShown ? Self.mostMarks : 0)
      return isShown
    }
    let isShown = shows(scalar, before: next)
    if !isShown {
      // The escape that takes its place is no letter for marks.
      (last, room) = (nil, 0)
    } else if scalar.isMark {
      room -= 1
      last = scalar
    } else if !scalar.isJoiner {
      (last, room) = (scalar, Self.mostMarks)
    } else {
      last = scalar
    }
    return isShown
  }

  private func shows(_ scalar: UnicodeScalar, before next: UnicodeScalar?) -> Bool {
    let properties = scalar.properties
    switch scalar.value {
    case 0x200C, 0x200D:
      guard let last, let next else { return false }
      if last.properties.canonicalCombiningClass == .virama { return next.properties.isAlphabetic }
      if scalar.value == 0x200C { return last.isArabicLetter && next.isArabicLetter }
      return last.isOfEmoji && next.properties.isEmoji && !next.isASCII
    case 0xFE0F: return last.map { $0.isPicture(before: next) } ?? false
    case 0x2800, 0x1D159, 0x13441, 0x13442: return false
    default: break
    }
    guard !properties.isDefaultIgnorableCodePoint else { return false }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
      return false
    case .nonspacingMark, .enclosingMark: return room > 0
    default: return true
    }
  }
}

extension UnicodeScalar {
  fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D || value == 0xFE0F }

  fileprivate var isMark: Bool {
    guard !isJoiner else { return false }
    let category = properties.generalCategory
    return category == .nonspacingMark || category == .enclosingMark
  }

  /// Whether U+FE0F makes this symbol an emoji: also a digit, before U+20E3.
  fileprivate func isPicture(before next: UnicodeScalar?) -> Bool {
    properties.isEmoji && !properties.isEmojiPresentation && (!isASCII || next == "\u{20E3}")
  }

  /// An emoji, the selector of its picture, or the tone of its skin.
  fileprivate var isOfEmoji: Bool { value == 0xFE0F || properties.isEmoji && !isASCII }

  /// Whether it is in one of the blocks Arabic and Arabic Supplement.
  fileprivate var isArabicLetter: Bool {
    (0x0600...0x06FF).contains(value) || (0x0750...0x077F).contains(value)
  }

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
