import LineOutput
import RingLink

/// Prints settings: as text a line for each, else a record for each field.
struct SettingsPrinter {
  private let format: OutputFormat
  private var printer: RecordPrinter

  init(_ format: OutputFormat) {
    self.format = format
    printer = RecordPrinter(format, ["setting", "field", "value", "unit"].map { ($0, nil) })
  }

  mutating func print(_ setting: any RingSetting, _ numbers: [String: Int]) {
    let name = setting.entry.name
    if format == .text {
      let padding = String(repeating: " ", count: max(2, 18 - name.count))
      printer.print([], text: name + padding + Self.line(setting, numbers))
      return
    }
    // A setting that the ring does not report has no value.
    let isTold = setting.isTold(numbers)
    for field in setting.fields {
      let text = isTold ? numbers[field.name].map(field.text(of:)) : nil
      printer.print(
        [.text(name), .text(field.name), .text(text), .text(field.unit?.rawValue)], text: "")
    }
  }

  /// Prints the names of the settings that the ring does not support: as text with the results, else on standard error.
  mutating func printUnsupported(_ settings: [any RingSetting]) {
    guard !settings.isEmpty else { return }
    let line = "not supported by this ring: " + settings.map(\.entry.name).joined(separator: ", ")
    if format == .text { printer.print([], text: line) } else { Console.error(line) }
  }

  /// `enabled on, interval 5 min`
  static func line(_ setting: any RingSetting, _ numbers: [String: Int]) -> String {
    guard setting.isTold(numbers) else { return "(not reported by the ring)" }
    return setting.fields.compactMap { field in
      numbers[field.name].map { "\(field.name) \(text(of: $0, field))" }
    }.joined(separator: ", ")
  }

  static func text(of number: Int, _ field: FrameField) -> String {
    field.text(of: number) + (field.unit.map { " \($0.rawValue)" } ?? "")
  }
}
