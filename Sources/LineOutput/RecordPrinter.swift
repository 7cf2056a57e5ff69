/// Prints records with the same columns, for commands that print few. The csv header has the name and unit of each.
public struct RecordPrinter: ~Copyable {
  private let format: OutputFormat
  private let columns: [(name: String, unit: String?)]
  public private(set) var output: LineWriter

  /// - Parameter columns: the names of the fields, and their units where they have one
  public init(
    _ format: OutputFormat, _ columns: [(name: String, unit: String?)],
    output: consuming LineWriter = LineWriter()
  ) {
    self.output = output
    self.format = format
    self.columns = columns
    if format == .csv {
      self.output.write(
        columns.map { $0.name + ($0.unit.map { "_\($0)" } ?? "") }.joined(separator: ",") + "\n")
      self.output.flush()
    }
  }

  /// Prints a record.
  ///
  /// - Parameters:
  ///   - fields: one for each column
  ///   - text: the same as text; may have several lines
  public mutating func print(_ fields: [Field], text: @autoclosure () -> String) {
    if output.droppedLines > 0 { printDropped() }
    switch format {
    case .text: output.write(text() + "\n")
    case .csv: output.write(fields.map(\.csv).joined(separator: ",") + "\n")
    case .jsonl:
      let pairs = zip(columns, fields).map { "\"\($0.name)\":\($1.json)" }
      output.write("{" + pairs.joined(separator: ",") + "}\n")
    }
    output.flush()
  }

  /// Prints the number of records that are missing here.
  private mutating func printDropped() {
    let count = output.droppedLines
    switch format {
    case .text: output.write("(\(count) lines dropped: the output was not read in time)\n")
    case .csv:
      output.write("dropped=\(count)" + String(repeating: ",", count: max(0, columns.count - 1)) + "\n")
    case .jsonl: output.write("{\"dropped\":\(count)}\n")
    }
    output.endDropCount()
  }
}
