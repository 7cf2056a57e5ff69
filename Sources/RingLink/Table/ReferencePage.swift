import HaloBluetoothCore

/// The reference page of the ring's commands, in Markdown, generated from the command table.
package enum ReferencePage {
  /// The page, in Markdown.
  package static var markdown: String {
    var page = """
      # The ring's commands

      Generated from the command table in `Sources/RingLink/Table` by `halo-raw ring-commands`; a test compares the two.

      A frame has 16 bytes: the command, 14 bytes of payload padded with zeros, and the sum of those 15 modulo 256. Numbers
      below are bytes of the frame, counted from the command, which is byte 0. A ring that does not know a command answers with
      its number + 0x80 and 0xEE. Bulk frames have a header of their own: 0xBC, the id, the length of the payload and its
      CRC-16/MODBUS, both little-endian.

      *Families* are recognised by the firmware's name: RF03 (`R02_3.00...`), RY (`RY02...`), RT (`RT02R...`), RT11CR. *Known from* says
      how sure it is: read from a ring's firmware, captured between a ring and a phone, read from the maker's app or its SDK
      (the manual and library for other apps), the number of other programs that agree, or one weak source.

      """
    for group in CommandEntry.Group.allCases {
      page += section(group)
    }
    page += loneFacts
    page += "\n## Kinds of sport\n\n"
    page += Sport.allCases.map { "\($0.rawValue) \($0)" }.joined(separator: ", ") + "\n"
    return page
  }

  /// All that has one source alone.
  private static var loneFacts: String {
    var text = """

      ## Known from one source

      No capture, no firmware and no second client has shown these: they may be wrong. `decode -v` says so where it prints one.

      | id | name | what | by |
      | --- | --- | --- | --- |

      """
    for entry in CommandTable.all where entry.group != .blocked {
      let facts = entry.loneFacts
      for source in LoneSource.allCases {
        let own = facts.filter { $0.source == source }.map(\.fact)
        guard !own.isEmpty else { continue }
        let what = own == [entry.name] ? "all of it" : own.joined(separator: ", ")
        text += "| \(code(of: entry)) | \(entry.name) | \(what) | \(source.rawValue) |\n"
      }
    }
    return text
  }

  private static func code(of entry: CommandEntry) -> String {
    entry.subject.code + entry.prefix.map { " \(Hex.string($0).dropFirst(2))" }.joined()
  }

  /// The most names that are listed where they are used.
  private static let longestList = 32

  private static func section(_ group: CommandEntry.Group) -> String {
    let entries = CommandTable.all.filter { $0.group == group }
    guard !entries.isEmpty else { return "" }
    var text = "\n## \(group.rawValue)\n\n"
    if group == .blocked {
      text += "| id | name | why | known from |\n| --- | --- | --- | --- |\n"
      for entry in entries {
        text +=
          "| \(entry.subject.code) | \(entry.name) | it \(entry.danger ?? "") | \(evidence(entry.source)) |\n"
      }
      return text
    }
    text +=
      "| id | name | what for | answer | families | known from |\n| --- | --- | --- | --- | --- | --- |\n"
    for entry in entries {
      text +=
        "| \(code(of: entry)) | \(entry.name) "
      text +=
        "| \(entry.purpose) | \(entry.shape.rawValue) | \(families(entry.families)) | \(evidence(entry.source)) |\n"
    }
    for entry in entries where !(entry.requests + entry.replies).allSatisfy({ $0.fields.isEmpty }) {
      text += "\n**\(entry.name)**\n\n"
      for (side, forms) in [("to the ring", entry.requests), ("from the ring", entry.replies)] {
        for form in forms { text += line(form, of: entry, side) }
      }
    }
    return text
  }

  private static func line(_ form: FrameForm, of entry: CommandEntry, _ side: String) -> String {
    let marks = form.marks.map { String(Hex.string($0.byte).dropFirst(2)) }.joined(separator: " ")
    var text = "* \(form.name), \(side)"
    if !marks.isEmpty { text += ": begins with `\(entry.subject.code.dropFirst(2)) \(marks)`" }
    if !form.fields.isEmpty { text += marks.isEmpty ? ": " : "; " }
    return text + form.fields.map { self.field($0, of: form) }.joined(separator: ", ") + "\n"
  }

  private static func field(_ field: FrameField, of form: FrameForm) -> String {
    let range = field.range
    var text = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound - 1)"
    text += " `\(field.name)`"
    var details: [String] = []
    if field.form != .uint8 { details.append(field.form.description) }
    if let unit = field.unit { details.append(unit.rawValue) }
    // In a form that this byte makes, it has one value.
    let mark = form.marks.first { $0.offset == field.offset }.map { Int($0.byte) }
    if field.words.count > longestList {
      details.append("one of \(field.words.count) kinds of sport, listed below")
    } else {
      details += field.words.filter { mark == nil || mark == $0.key }.sorted { $0.key < $1.key }.map {
        "\($0.key) \($0.value)"
      }
    }
    if let source = field.loneSource { details.append(source.note) }
    return details.isEmpty ? text : text + " (\(details.joined(separator: ", ")))"
  }

  /// The evidence marks that follow the section of the reference, as text: `firmware, 6 clients`.
  private static func evidence(_ source: String) -> String {
    let words: [Substring: String] = [
      "F": "firmware", "C": "captures", "A": "the app", "S": "the SDK", "?": "one weak source",
    ]
    let marks = LoneSource.marks(of: source)
    let evidence = marks.map { words[$0] ?? ($0 == "1" ? "one client" : "\($0) clients") }
    return evidence.joined(separator: ", ") + (LoneSource(marks: marks) == nil ? "" : "; no capture")
  }

  private static func families(_ families: Set<RingFamily>) -> String {
    if families == .every { return "all" }
    if families.isEmpty { return "none known" }
    return RingFamily.allCases.filter(families.contains).map(\.description).joined(separator: ", ")
  }
}

extension CommandEntry.Subject {
  /// `0x16`, or `bulk 0x27`.
  var code: String {
    switch self {
    case .frame(let command): Hex.string(command.rawValue)
    case .bulk(let id): "bulk \(Hex.string(id.rawValue))"
    }
  }
}
