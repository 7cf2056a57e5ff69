import BluetoothCore

/// In which form results are printed.
enum OutputFormat {
  case text, csv, jsonl

  init(_ invocation: Invocation) throws(Failure) {
    let choice = try invocation.choice("--format", [("text", OutputFormat.text), ("csv", .csv), ("jsonl", .jsonl)])
    self = choice ?? (Console.isTerminal ? .text : .csv)
  }
}

/// A value in a record.
enum Field {
  case text(String?)
  case number(Int?)
  case seconds(Int64)
  case flag(Bool)
  case list([String])

  fileprivate var json: String {
    switch self {
    case .text(let text): text.map(Field.quoted) ?? "null"
    case .number(let number): number.map(String.init) ?? "null"
    case .seconds(let nanoseconds): Field.decimal(nanoseconds)
    case .flag(let flag): flag ? "true" : "false"
    case .list(let items): "[" + items.map(Field.quoted).joined(separator: ",") + "]"
    }
  }

  fileprivate var csv: String {
    switch self {
    case .text(let text): Field.csvQuoted(text ?? "")
    case .number(let number): number.map(String.init) ?? ""
    case .seconds(let nanoseconds): Field.decimal(nanoseconds)
    case .flag(let flag): flag ? "true" : "false"
    case .list(let items): Field.csvQuoted(items.joined(separator: " "))
    }
  }

  private static func decimal(_ nanoseconds: Int64) -> String {
    let microseconds = nanoseconds.magnitude / 1000
    let fraction = String(microseconds % 1_000_000)
    return (nanoseconds < 0 ? "-" : "") + "\(microseconds / 1_000_000)."
      + String(repeating: "0", count: 6 - fraction.count) + fraction
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20: result += "\\u" + Hex.string(UInt16(scalar.value)).dropFirst(2)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private static func csvQuoted(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
    return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}

/// Prints records of one shape, for commands that print few: the csv header names each field with its unit.
struct RecordPrinter {
  private let format: OutputFormat
  private let columns: [(name: String, unit: String?)]
  private(set) var output = LineWriter()

  /// - Parameter columns: the names of the fields, and their units where they have one
  init(_ format: OutputFormat, _ columns: [(name: String, unit: String?)]) {
    self.format = format
    self.columns = columns
    if format == .csv {
      output.write(
        columns.map { $0.name + ($0.unit.map { "_\($0)" } ?? "") }.joined(separator: ",") + "\n")
      output.flush()
    }
  }

  /// Prints a record.
  ///
  /// - Parameters:
  ///   - fields: one for each column
  ///   - text: the same for a person; may have several lines
  mutating func print(_ fields: [Field], text: @autoclosure () -> String) {
    switch format {
    case .text: output.write(text() + "\n")
    case .csv: output.write(fields.map(\.csv).joined(separator: ",") + "\n")
    case .jsonl:
      let pairs = zip(columns, fields).map { "\"\($0.name)\":\($1.json)" }
      output.write("{" + pairs.joined(separator: ",") + "}\n")
    }
    output.flush()
  }
}
