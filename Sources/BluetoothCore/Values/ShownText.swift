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
}
