import HaloBluetoothCore
import HaloCommandLine
import RingLink

private enum SettingsOption {
  static let export = Option(
    "--export", as: .file(.writes), help: "write all settings to a JSON file; - for standard output")
  static let load = Option(
    "--import", as: .file(.reads), help: "write the settings in such a file to the ring")
}

let settingsCommand = CommandSpec(
  name: "settings", arguments: "[RING] [NAME [FIELD=VALUE ...]]",
  summary: "show, change, export and import the settings of the ring",
  positionals: 0...20,
  options: [SettingsOption.export, SettingsOption.load, CommonOptions.format],
  rules: [.exclusive([SettingsOption.export, SettingsOption.load])],
  examples: [
    ("halo-raw settings --adapter virtual", "show all settings of the built-in ring"),
    (
      "halo-raw settings heart-rate enabled=on interval=10 --adapter virtual",
      "measure heart rate every ten minutes from now on"
    ),
    ("halo-raw settings R02_BEEF display --adapter virtual", "show one setting of the ring with that name"),
    (
      "halo-raw settings profile age=34 height=172 weight=65 gender=female --adapter virtual",
      "set the wearer's profile; used for distance and calories"
    ),
    (
      "halo-raw settings --export ring.json --adapter virtual", "write a file to keep, edit and import again"
    ),
  ],
  details: """
    NAME is one of \(names(in: CommandTable.settings)).

    To change a setting, halo-raw reads it, changes the given fields, writes it and reads it back. Other fields keep
    their values. Flags are on or off. halo-raw settings NAME shows the fields.

    Most rings do not report the profile, and those that do leave out systolic, diastolic and heart-rate-warning: what the
    ring does not report has to be given, too, or the profile is not written.

    An imported file is checked completely before anything is written. Fields that it leaves out keep their values; a
    profile without age, height and weight is ignored.
    """
) { invocation in
  let format = OutputFormat(invocation)
  let choice = try SettingsChoice(invocation)
  let (exported, imported) = (invocation[SettingsOption.export], invocation[SettingsOption.load])
  var target = invocation
  target.positionals = choice.ring.map { [$0] } ?? []
  try await Session.run(target) { session in
    // Not before: it is read with the rights of the user, and not with those that the adapter needs.
    let file: SettingsFile? =
      if let imported {
        try await offTheLoop(orInterrupted: "interrupted before \(imported.printable) was read") {
          try SettingsFile(path: imported)
        }
      } else { nil }
    try await session.withRing { ring, _ in
      if let file { return try await file.load(into: ring) }
      guard let setting = choice.setting else {
        let (known, unsupported) = try await ring.allSettings()
        guard let exported else { return show(known, format, unsupported: unsupported) }
        try await SettingsFile(known, of: ring.firmware).write(to: exported)
        if !unsupported.isEmpty { Console.error("not supported by this ring: \(names(in: unsupported))") }
        return
      }
      let read = try await ring.numbers(of: setting)
      guard !choice.changes.isEmpty else { return show([(setting, read)], format) }
      show([(setting, try await ring.write(choice.changes, over: read, to: setting))], format)
      SettingsPrinter.tellReset(setting, read, choice.changes)
    }
  }
}

private func show(
  _ known: [(setting: RingSetting, numbers: [String: Int])], _ format: OutputFormat,
  unsupported: [RingSetting] = []
) {
  var printer = SettingsPrinter(format)
  for (setting, numbers) in known { printer.print(setting, numbers) }
  printer.printUnsupported(unsupported)
}

private func names(in settings: [RingSetting]) -> String {
  settings.map(\.entry.name).joined(separator: ", ")
}

/// The settings that the arguments name.
private struct SettingsChoice: Sendable {
  private(set) var ring: String?
  /// Nil for all settings.
  private(set) var setting: RingSetting?
  private(set) var changes: [String: Int] = [:]

  /// The first argument is the ring, unless it is the name of a setting.
  init(_ invocation: Invocation) throws(Failure) {
    var arguments = invocation.positionals[...]
    let all = CommandTable.settings
    func named(_ name: String) -> RingSetting? { all.first { $0.entry.name == name } }
    func unknown(_ name: String) -> Failure { .unknown("setting", name, among: all.map(\.entry.name)) }
    if let first = arguments.first, named(first) == nil {
      let isSimilar = !Invocation.suggestion(for: first, among: all.map(\.entry.name)).isEmpty
      // Rings have digits or capitals in their names.
      let isWord = first.allSatisfy { $0.isLowercase || $0 == "-" }
      guard !isSimilar, !isWord, !first.contains("=") else { throw unknown(first) }
      ring = arguments.removeFirst()
    }
    guard let name = arguments.popFirst() else { return }
    guard invocation[SettingsOption.export] == nil, invocation[SettingsOption.load] == nil else {
      throw .usage("--export and --import are for all settings; leave \"\(name.printable)\" out")
    }
    setting = named(name)
    guard let setting else { throw unknown(name) }
    changes = try Self.changes(Array(arguments), of: setting)
  }

  private static func changes(
    _ arguments: [String], of setting: RingSetting
  ) throws(Failure) -> [String: Int] {
    var changes: [String: Int] = [:]
    for argument in arguments {
      guard let sign = argument.firstIndex(of: "=") else {
        throw .usage(
          "\"\(argument.printable)\" is not a change; give FIELD=VALUE, such as \(setting.fields[0].name)=VALUE"
        )
      }
      let name = String(argument[..<sign])
      guard changes[name] == nil else { throw .usage("\(name) is given twice; give it once") }
      do throws(SettingError) {
        changes[name] = try setting.field(name).number(from: String(argument[argument.index(after: sign)...]))
      } catch {
        throw .usage(error.description)
      }
    }
    return changes
  }
}

extension RingClient {
  /// All settings that the ring supports, and the others.
  fileprivate func allSettings() async throws(RingError) -> (
    known: [(setting: RingSetting, numbers: [String: Int])], unsupported: [RingSetting]
  ) {
    var known: [(setting: RingSetting, numbers: [String: Int])] = []
    var unsupported: [RingSetting] = []
    for setting in CommandTable.settings {
      if let numbers = try await numbersIfSupported(setting) {
        known.append((setting, numbers))
      } else {
        unsupported.append(setting)
      }
    }
    return (known, unsupported)
  }
}

/// Prints settings: as text a line for each, else a record for each field.
struct SettingsPrinter: ~Copyable {
  private let format: OutputFormat
  private var printer: RecordPrinter

  init(_ format: OutputFormat) {
    self.format = format
    printer = RecordPrinter(format, ["setting", "field", "value", "unit"])
  }

  mutating func print(_ setting: RingSetting, _ numbers: [String: Int]) {
    let name = setting.entry.name
    if format == .text {
      let padding = String(repeating: " ", count: max(2, 18 - name.count))
      printer.print([], text: name + padding + Self.line(setting, numbers))
      return
    }
    // A setting or a field that the ring does not report has no value.
    let isReported = setting.isReported(numbers)
    for field in setting.fields {
      let number = isReported ? numbers[field.name].flatMap { field.isReported($0) ? $0 : nil } : nil
      printer.print(
        [.text(name), .text(field.name), Self.value(number, field), .text(field.unit?.rawValue)], text: "")
    }
  }

  /// A flag, a number, or a name.
  private static func value(_ number: Int?, _ field: FrameField) -> Field {
    guard let number else { return .text(nil) }
    if field.isFlag { return .flag(number != 0) }
    let text = field.text(of: number)
    return Int(text).map { .number($0) } ?? .text(text)
  }

  /// Prints the names of the settings that the ring does not support: as text with the results, else on standard error.
  mutating func printUnsupported(_ settings: [RingSetting]) {
    guard !settings.isEmpty else { return }
    let line = "not supported by this ring: \(names(in: settings))"
    if format == .text { printer.print([], text: line) } else { Console.error(line) }
  }

  /// Reports the values written to fields that were not changed and that the ring does not report: not every ring reports all.
  static func tellReset(_ setting: RingSetting, _ read: [String: Int], _ changes: [String: Int]) {
    guard let written = try? setting.applying(changes, to: read) else { return }
    let reset = setting.untold(read).filter { changes[$0.name] == nil }.compactMap { field in
      written[field.name].map { "\(field.name) \(text(of: $0, field))" }
    }
    guard !reset.isEmpty else { return }
    Console.error(
      "\(setting.entry.name): the ring reported no value for these, and has now: \(reset.joined(separator: ", "))"
    )
  }

  /// `enabled on, interval 5 min`
  static func line(_ setting: RingSetting, _ numbers: [String: Int]) -> String {
    guard setting.isReported(numbers) else { return "(not reported by the ring)" }
    return setting.fields.compactMap { field in
      numbers[field.name].map {
        "\(field.name) \(field.isReported($0) ? text(of: $0, field) : "(not reported)")"
      }
    }.joined(separator: ", ")
  }

  static func text(of number: Int, _ field: FrameField) -> String {
    field.text(of: number) + (field.unit.map { " \($0.rawValue)" } ?? "")
  }
}
