import EventLoop
import LineOutput
import RingLink

let settingsCommand = CommandSpec(
  name: "settings", arguments: "[RING] [NAME [FIELD=VALUE ...]]",
  summary: "shows and changes what the ring is set to, and keeps it in files",
  positionals: 0...20,
  options: [
    OptionSpec("--export", value: "FILE", help: "writes all settings to a JSON file, - for standard output"),
    OptionSpec("--import", value: "FILE", help: "writes the settings of such a file to the ring"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw settings --adapter virtual", "all settings of the built-in ring"),
    (
      "halo-raw settings heart-rate enabled=on interval=10 --adapter virtual",
      "it measures heart rate every ten minutes from now on"
    ),
    ("halo-raw settings R02_BEEF display --adapter virtual", "one setting of the ring with that name"),
    (
      "halo-raw settings profile age=34 height=172 weight=65 gender=female --adapter virtual",
      "who wears the ring: distances and calories hang on it"
    ),
    (
      "halo-raw settings --export ring.json --adapter virtual", "a file to keep, to edit, and to import again"
    ),
  ],
  details: """
    NAME is one of \(names(in: CommandTable.settings)).

    To change a setting, its whole is read, changed, written and read back; fields that are not named stay as they are.
    A switch is on or off. halo-raw settings NAME shows the fields. Rings do not give the profile back: it is only
    written if age, height and weight are given together. A file that is imported is checked as a whole before anything
    is written, fields that it leaves out stay as they are, and a profile without age, height and weight is left alone.
    """
) { invocation throws(Failure) in
  let format = try OutputFormat(invocation)
  let task = try SettingsTask(invocation)
  var target = invocation
  target.positionals = task.ring.map { [$0] } ?? []
  try await Session.run(target) { session throws(Failure) in
    let ring = try await session.openRing()
    try await task.perform(on: ring, format)
  }
}

private func names(in settings: [any RingSetting]) -> String {
  settings.map(\.entry.name).joined(separator: ", ")
}

/// What is to be done with settings.
private struct SettingsTask: Sendable {
  enum Purpose: Sendable {
    case showAll
    case show(any RingSetting)
    case change(any RingSetting, [String: Int])
    case export(path: String)
    case load(SettingsFile)
  }

  var ring: String?
  var purpose = Purpose.showAll

  /// The first word is the ring's, unless it is a setting's name.
  init(_ invocation: Invocation) throws(Failure) {
    var words = invocation.positionals[...]
    let all = CommandTable.settings
    func setting(_ word: String?) -> (any RingSetting)? { all.first { $0.entry.name == word } }
    if let first = words.first, setting(first) == nil {
      let suggestion = Invocation.suggestion(for: first, among: all.map(\.entry.name))
      guard suggestion.isEmpty, !first.contains("=") else {
        throw .usage("there is no setting \"\(first.printable)\"\(suggestion); there are \(names(in: all))")
      }
      ring = words.removeFirst()
    }
    let file = (invocation.text("--export"), invocation.text("--import"))
    guard let name = words.popFirst() else {
      switch file {
      case (let path?, nil): purpose = .export(path: path)
      case (nil, let path?): purpose = .load(try SettingsFile(path: path))
      case (nil, nil): break
      default: throw .usage("--export and --import together are one too many")
      }
      return
    }
    guard file == (nil, nil) else {
      throw .usage("--export and --import are for all settings; leave \"\(name.printable)\" out")
    }
    guard let setting = setting(name) else {
      throw .usage(
        "there is no setting \"\(name.printable)\"\(Invocation.suggestion(for: name, among: all.map(\.entry.name))); "
          + "there are \(names(in: all))")
    }
    let changes = try Self.changes(Array(words), of: setting)
    purpose = changes.isEmpty ? .show(setting) : .change(setting, changes)
  }

  private static func changes(
    _ words: [String], of setting: any RingSetting
  ) throws(Failure) -> [String: Int] {
    var changes: [String: Int] = [:]
    for word in words {
      guard let sign = word.firstIndex(of: "=") else {
        throw .usage(
          "\"\(word.printable)\" is no change; write FIELD=VALUE, such as \(setting.fields[0].name)=VALUE")
      }
      let name = String(word[..<sign])
      guard changes[name] == nil else { throw .usage("\(name) is given twice") }
      do throws(SettingError) {
        changes[name] = try setting.field(name).number(from: String(word[word.index(after: sign)...]))
      } catch {
        throw .usage(error.description)
      }
    }
    return changes
  }

  @BluetoothActor
  func perform(on ring: Ring, _ format: OutputFormat) async throws(Failure) {
    switch purpose {
    case .showAll:
      let (known, unsupported) = try await ringFailure { () async throws(RingError) in
        try await ring.allSettings()
      }
      var printer = SettingsPrinter(format)
      for (setting, numbers) in known { printer.print(setting, numbers) }
      printer.printUnsupported(unsupported)
    case .show(let setting):
      let numbers = try await ringFailure { () async throws(RingError) in try await ring.numbers(of: setting)
      }
      var printer = SettingsPrinter(format)
      printer.print(setting, numbers)
    case .change(let setting, let changes):
      let numbers = try await ringFailure { () async throws(RingError) in
        try await ring.change(setting, changes)
      }
      var printer = SettingsPrinter(format)
      printer.print(setting, numbers)
    case .export(let path):
      let (known, unsupported) = try await ringFailure { () async throws(RingError) in
        try await ring.allSettings()
      }
      try await SettingsFile(known, of: ring.firmware).write(to: path)
      if !unsupported.isEmpty { Console.error("not supported by this ring: \(names(in: unsupported))") }
    case .load(let file): try await file.load(into: ring)
    }
  }
}

extension Ring {
  /// All settings that the ring tells, and those that it does not have.
  func allSettings() async throws(RingError) -> (
    known: [(setting: any RingSetting, numbers: [String: Int])], unsupported: [any RingSetting]
  ) {
    var known: [(setting: any RingSetting, numbers: [String: Int])] = []
    var unsupported: [any RingSetting] = []
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
