import HaloCommandLine

/// Prints one record, in the form that a command line asks for: the name and the value of each field.
///
/// - Parameters:
///   - format: nil for that of a record, which is csv in a pipe
///   - text: the same as text; may have several lines
func printRecord(
  _ invocation: Invocation, _ fields: [(name: String, value: Field)], as format: OutputFormat? = nil,
  text: String
) {
  var printer = RecordPrinter(format ?? OutputFormat(invocation), fields.map(\.name))
  printer.print(fields.map(\.value), text: text)
}

/// A name and a value in two columns, a line for each that has a value.
func twoColumns(_ rows: [(name: String, value: String?)], width: Int) -> String {
  rows.compactMap { name, value in value.map { name + String(repeating: " ", count: width - name.count) + $0 }
  }
  .joined(separator: "\n")
}
