/// Prints records with the same columns, for commands that print few. A column has the same name in csv and in JSON: its
/// name, and its unit where it has one.
public struct RecordPrinter: ~Copyable {
  private let format: OutputFormat
  private let names: [String]
  public private(set) var output: LineWriter

  /// - Parameters:
  ///   - format: the form of the records
  ///   - columns: the names of the fields, and their units where they have one
  ///   - header: what is printed first, with its line breaks
  ///   - output: the destination
  public init(
    _ format: OutputFormat, _ columns: [(name: String, unit: String?)], header: String = "",
    output: consuming LineWriter = LineWriter()
  ) {
    self.output = output
    self.format = format
    names = columns.map { $0.name + ($0.unit.map { "_\($0)" } ?? "") }
    self.output.write(header)
    if format == .csv { self.output.write(names.joined(separator: ",") + "\n") }
    self.output.flush()
  }

  /// Prints a record.
  ///
  /// - Parameters:
  ///   - fields: one for each column
  ///   - text: the same as text; may have several lines
  public mutating func print(_ fields: [Field], text: @autoclosure () -> String) {
    if output.droppedLines > 0 { printDropped() }
    write(fields, text: text())
  }

  /// Prints the number of records that are missing here.
  ///
  /// - Parameter fields: that number as a record, one for each column
  public mutating func printDropped(as fields: [Field]) {
    let text = droppedText
    write(fields, text: text)
    output.endDropCount()
  }

  private mutating func write(_ fields: [Field], text: @autoclosure () -> String) {
    switch format {
    case .text: output.write(text() + "\n")
    case .csv: output.write(fields.map(\.csv).joined(separator: ",") + "\n")
    case .jsonl:
      let pairs = zip(names, fields).map { "\"\($0)\":\($1.json)" }
      output.write("{" + pairs.joined(separator: ",") + "}\n")
    }
    output.flush()
  }

  private var droppedText: String {
    "(\(output.droppedLines) lines dropped: the output was not read in time)"
  }

  private mutating func printDropped() {
    let count = output.droppedLines
    switch format {
    case .text: output.write(droppedText + "\n")
    case .csv:
      output.write("dropped=\(count)" + String(repeating: ",", count: max(0, names.count - 1)) + "\n")
    case .jsonl: output.write("{\"dropped\":\(count)}\n")
    }
    output.endDropCount()
  }
}
