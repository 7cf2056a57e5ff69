import HaloCommandLine

/// All commands, in the order in which the help shows them.
package enum Commands {
  static var groups: [(title: String, commands: [CommandSpec])] {
    // Each with its type, as the compiler would search for it.
    let rings: [CommandSpec] = [
      streamCommand, infoCommand, batteryCommand, settingsCommand, timeCommand, forgetCommand,
    ]
    let measurements: [CommandSpec] = [measureCommand, eventsCommand, sportCommand, strapCommand]
    let stored: [CommandSpec] = [
      todayCommand, historyCommand, syncCommand, exportCommand, storeCommand, reportCommand, queuesCommand,
    ]
    let actions: [CommandSpec] = [
      findCommand, blinkCommand, rebootCommand, powerOffCommand, factoryResetCommand, rawCommand,
    ]
    let peripherals: [CommandSpec] = [
      scanCommand, connectCommand, inspectCommand, readCommand, writeCommand, subscribeCommand, serveCommand,
      advertiseCommand,
    ]
    let machine: [CommandSpec] = [
      adaptersCommand, statusCommand, doctorCommand, benchCommand,
    ]
    let captures: [CommandSpec] = [decodeCommand, recordCommand]
    let reference: [CommandSpec] = [ringCommandsCommand, manualCommand, completionCommand]
    let withoutRadio: [CommandSpec] = [replayCommand, simulateCommand]
    return [
      ("Rings", rings), ("Measurements", measurements), ("Stored data", stored), ("Actions", actions),
      ("Any Bluetooth LE peripheral", peripherals), ("This machine", machine), ("Captures", captures),
      ("Reference", reference), ("Without a radio", withoutRadio),
    ]
  }

  static var all: [CommandSpec] { groups.flatMap(\.commands) }

  /// - Parameter topics: further names that could be meant
  package static func named(_ name: String, orTopics topics: [String] = []) throws(Failure) -> CommandSpec {
    let all = self.all
    if let command = all.first(where: { $0.name == name }) { return command }
    if name.hasPrefix("-") {
      let options = (all.flatMap(\.allOptions).map(\.spec.names) + ProgramOption.allCases.map(\.names))
        .joined()
      let suggestion = Invocation.suggestion(for: name, among: Array(options))
      throw .usage("no command has the option \(name.printable)\(suggestion); see halo-raw --help")
    }
    throw .unknown(
      topics.isEmpty ? "command" : "command or topic", name, among: all.map(\.name) + topics,
      advice: "see halo-raw --help")
  }

  /// The arguments of this process with the command first.
  static func inOrder(_ arguments: some Collection<String>) -> [String] {
    LeadingOptions.moved(Array(arguments), for: all)
  }
}

extension Configuration {
  /// The one of the user, read once.
  static let current = Result { () throws(Failure) in try read(for: Commands.all) }
}

extension Invocation {
  /// Reads the command line of this process: that of a command, with the user's configuration file.
  init(_ arguments: some Collection<String>, for command: CommandSpec) throws(Failure) {
    try self.init(parsing: Array(arguments), for: command)
    guard !self[CommonOptions.help] else { return }
    try add(try Configuration.current.get())
  }

  /// Reads the command line of this process, before anything is done for it.
  ///
  /// - Returns: nil for one that is wrong, or only asks for help
  init?(early arguments: [String]) {
    guard let name = arguments.first, let command = try? Commands.named(name),
      let invocation = try? Invocation(arguments.dropFirst(), for: command), !invocation[CommonOptions.help]
    else { return nil }
    self = invocation
  }

  /// - Throws: a usage failure that names two uses of one file, one of which writes
  func checkFiles() throws(Failure) {
    var recording: String?
    if command.usesAdapter, case .replay(let path, _)? = try? adapter { recording = path }
    try NamedFiles(self, recording: recording).check()
  }
}
