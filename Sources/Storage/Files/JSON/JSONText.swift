extension JSONValue {
  /// The value as text for people to read and edit: an entry a line, two spaces for each level, members sorted by name.
  package var text: String {
    var text = ""
    write(to: &text, indentation: "\n")
    return text
  }

  /// The value as one line, for programs; members sorted by name.
  package var line: String {
    var text = ""
    write(to: &text, indentation: nil)
    return text
  }

  /// A string in quotes, with its escapes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// - Parameter indentation: a line break and the spaces of this level; nil for one line
  private func write(to text: inout String, indentation: String?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += "\(value)"
    case .number(let value): text += "\(value)"
    case .string(let value): text += Self.quoted(value)
    case .array(let items):
      Self.write(items, "[", "]", to: &text, indentation) { $0.write(to: &$1, indentation: $2) }
    case .object(let members):
      Self.write(members.sorted { $0.key < $1.key }, "{", "}", to: &text, indentation) {
        member, text, inner in
        text += Self.quoted(member.key) + (inner == nil ? ":" : " : ")
        member.value.write(to: &text, indentation: inner)
      }
    }
  }

  private static func write<Entry>(
    _ entries: [Entry], _ start: String, _ end: String, to text: inout String, _ indentation: String?,
    entry write: (Entry, inout String, _ indentation: String?) -> Void
  ) {
    let inner = entries.isEmpty ? "" : indentation.map { $0 + "  " } ?? ""
    text += start
    for (index, entry) in entries.enumerated() {
      text += (index == 0 ? "" : ",") + inner
      write(entry, &text, indentation.map { _ in inner })
    }
    text += (entries.isEmpty ? "" : indentation ?? "") + end
  }
}
