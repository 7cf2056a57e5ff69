/// Prints records with the same columns, for commands that print few. A column has the same name in csv and in JSON, which
/// ends with the unit where it has one: `distance_m`.
package struct RecordPrinter: ~Copyable {
  private let format: OutputFormat
  private let names: [String]
  /// Whether names and other text of devices must not change how a terminal shows it.
  private let isTerminal: Bool
  package private(set) var output: LineWriter

  /// - Parameters:
  ///   - format: the form of the records
  ///   - columns: the names of the fields
  ///   - header: the first lines, with their line breaks
  ///   - output: the destination
  package init(
    _ format: OutputFormat, _ columns: [String], header: String = "",
    output: consuming LineWriter = LineWriter()
  ) {
    self.output = output
    self.format = format
    isTerminal = self.output.isTerminal
    names = columns
    self.output.write(header)
    if format == .csv { self.output.write(names.joined(separator: ",") + "\n") }
    self.output.flush()
  }

  /// Prints a record, after the number of those that were dropped before it.
  ///
  /// - Parameters:
  ///   - fields: one for each column
  ///   - mark: that number as a record; nil if no columns are for it
  ///   - text: the same as text; may have several lines
  package mutating func print(
    _ fields: [Field], droppedAs mark: [Field]? = nil, text: @autoclosure () -> String
  ) {
    writeDropped(mark)
    write(fields, text: text())
    output.flush()
  }

  /// Prints the number of records that were dropped after the last one that was printed, if there are any.
  ///
  /// - Parameter mark: that number as a record; nil if no columns are for it
  package mutating func finish(droppedAs mark: [Field]? = nil) {
    writeDropped(mark)
    output.flushEnd()
  }

  private mutating func write(_ fields: [Field], text: @autoclosure () -> String) {
    switch format {
    case .text: output.write(text() + "\n")
    case .csv: output.write(fields.map { (isTerminal ? $0.printable : $0).csv }.joined(separator: ",") + "\n")
    case .jsonl:
      let pairs = zip(names, fields).map { "\"\($0)\":\($1.json)" }
      let line = "{" + pairs.joined(separator: ",") + "}"
      output.write((isTerminal ? line.withoutFormatCharacters : line) + "\n")
    }
  }

  private mutating func writeDropped(_ mark: [Field]?) {
    let count = output.droppedLines
    guard count > 0 else { return }
    defer { output.endDropCount() }
    let text = "(\(count) lines dropped: the output was not read in time)"
    if let mark { return write(mark, text: text) }
    switch format {
    case .text: output.write(text + "\n")
    case .csv:
      output.write("dropped=\(count)" + String(repeating: ",", count: max(0, names.count - 1)) + "\n")
    case .jsonl: output.write("{\"dropped\":\(count)}\n")
    }
  }
}

/// The form of results.
package enum OutputFormat: Hashable, Sendable {
  case text, csv, jsonl
}

/// Takes records in place of an ``OutputQueue``, such as to send them to other computers.
package protocol RecordSink: AnyObject {
  /// Takes consecutive records, with their line breaks.
  ///
  /// - Parameters:
  ///   - records: one record after the other, none of them empty
  ///   - ends: where each ends
  func take(_ records: RawSpan, ends: Span<Int>)
}
