import HaloBluetoothCore
import HaloStorage

/// A value in a record.
package enum Field: Hashable, Sendable {
  case text(String?)
  case number(Int?)
  case seconds(Int64)
  /// A decimal number in units of 10^-places: `3650` with 2 places is 36.50.
  case decimal(Int, places: Int)
  case flag(Bool?)
  case list([String]?)

  /// The value in a record of JSON. A record has its columns in their order, which a `JSONValue` does not keep; the quoted
  /// strings are the same.
  package var json: String {
    switch self {
    case .text(let text): text.map(JSONValue.quoted) ?? "null"
    case .list(let items): items.map { "[" + $0.map(JSONValue.quoted).joined(separator: ",") + "]" } ?? "null"
    default: plain ?? "null"
    }
  }

  package var csv: String {
    switch self {
    case .text(let text): Field.csvQuoted(text ?? "")
    case .list(let items): Field.csvQuoted((items ?? []).joined(separator: " "))
    default: plain ?? ""
    }
  }

  /// A number or a flag, which needs no quotes; nil for none, and for other fields.
  private var plain: String? {
    switch self {
    case .number(let number): number.map(String.init)
    case .seconds(let nanoseconds): DecimalText.string(nanoseconds / 1000, places: 6)
    case .decimal: text
    case .flag(let flag): flag.map { $0 ? "true" : "false" }
    case .text, .list: nil
    }
  }

  /// The same with all text printable: for csv on a terminal.
  var printable: Field {
    switch self {
    case .text(let text): .text(text?.printable)
    case .list(let items): .list(items?.map(\.printable))
    default: self
    }
  }

  /// An energy as rings count it, 1000 to the kilocalorie, in kilocalories.
  package static func energy(_ calories: Int?) -> Field {
    calories.map { .decimal($0, places: 3) } ?? .number(nil)
  }

  /// The text of a decimal; empty for other fields.
  package var text: String {
    guard case .decimal(let number, let places) = self else { return "" }
    return DecimalText.string(Int64(number), places: places)
  }

  /// Text in csv (RFC 4180). A spreadsheet may evaluate text that begins with one of ``formulaMarks`` as a formula: it
  /// gets a leading apostrophe, unless it is a plain number (OWASP, CSV Injection).
  private static func csvQuoted(_ text: String) -> String {
    let isFormula = text.unicodeScalars.first.map(formulaMarks.contains) ?? false
    let safe = isFormula && !isNumber(text) ? "'" + text : text
    // Scalars, not characters: a comma or quote with an accent upon it ends a field, too.
    guard
      safe.unicodeScalars.contains(where: {
        $0 == "," || $0 == "\"" || breaksLine($0)
      })
    else { return safe }
    var result = "\""
    for scalar in safe.unicodeScalars {
      if scalar == "\"" { result.unicodeScalars.append(scalar) }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }

  /// Whether it is white space other than a space. Looking the property up takes most of the time of a row: it is not
  /// done for ASCII.
  private static func breaksLine(_ scalar: UnicodeScalar) -> Bool {
    scalar.isASCII ? (0x09...0x0D).contains(scalar.value) : scalar.properties.isWhitespace
  }

  /// The last four are the full-width forms, which some spreadsheets treat like the others.
  private static let formulaMarks: Set<UnicodeScalar> = [
    "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
  ]

  /// A sign, digits, and a decimal point between digits.
  private static func isNumber(_ text: String) -> Bool {
    guard let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      return false
    }
    let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return (1...2).contains(parts.count)
      && parts.allSatisfy {
        !$0.isEmpty && $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }
}

extension String {
  /// JSON with an escape for each character that a terminal does not show, or that changes how other text looks.
  var withoutFormatCharacters: String {
    var text = ""
    var shown = ShownText()
    var rest = unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if shown.takes(scalar, before: rest.first) {
        text.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          text += "\\u" + Hex.string([UInt8(unit >> 8), UInt8(unit & 0xFF)])
        }
      }
    }
    return text
  }
}

/// A number with at most two decimals; `?` if it is none.
package func decimal(_ value: Double, _ places: Int) -> String {
  guard !value.isNaN else { return "?" }
  if places == 0 { return String(Int64(max(-1e12, min(value, 1e12)).rounded())) }
  let thousandths = Int64((min(value.magnitude, 1e12) * 1000).rounded())
  let divisor: Int64 = places == 1 ? 100 : 10
  let magnitude = (thousandths + divisor / 2) / divisor
  return DecimalText.string(value < 0 ? -magnitude : magnitude, places: places)
}
