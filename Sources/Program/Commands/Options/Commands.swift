import HaloCommandLine

/// All commands, in the order in which the help shows them.
package enum Commands {
  /// A command by its name. Its specification is made when it is used: to make all of them would take as long as the rest of
  /// the start.
  struct Entry: Sendable {
    let name: String
    private let make: @Sendable () -> CommandSpec

    init(_ name: String, _ spec: @autoclosure @escaping @Sendable () -> CommandSpec) {
      self.name = name
      make = spec
    }

    var spec: CommandSpec { make() }
  }

  static let entries = [
    group(
      "Rings", .init("stream", streamCommand), .init("info", infoCommand), .init("battery", batteryCommand),
      .init("settings", settingsCommand), .init("time", timeCommand), .init("forget", forgetCommand)),
    group(
      "Measurements", .init("measure", measureCommand), .init("beats", beatsCommand),
      .init("events", eventsCommand),
      .init("sport", sportCommand), .init("strap", strapCommand)),
    group(
      "Stored data", .init("today", todayCommand), .init("history", historyCommand),
      .init("sync", syncCommand), .init("export", exportCommand), .init("store", storeCommand),
      .init("report", reportCommand), .init("queues", queuesCommand)),
    group(
      "Actions", .init("find", findCommand), .init("blink", blinkCommand), .init("reboot", rebootCommand),
      .init("power-off", powerOffCommand), .init("factory-reset", factoryResetCommand),
      .init("raw", rawCommand)),
    group(
      "Any Bluetooth LE peripheral", .init("scan", scanCommand), .init("connect", connectCommand),
      .init("inspect", inspectCommand), .init("read", readCommand), .init("write", writeCommand),
      .init("subscribe", subscribeCommand), .init("serve", serveCommand),
      .init("advertise", advertiseCommand),
      .init("pair", pairCommand), .init("bonds", bondsCommand)),
    group(
      "This machine", .init("adapters", adaptersCommand), .init("status", statusCommand),
      .init("mark", markCommand),
      .init("doctor", doctorCommand), .init("bench", benchCommand)),
    group(
      "Captures", .init("decode", decodeCommand), .init("record", recordCommand)),
    group(
      "Reference", .init("ring-commands", ringCommandsCommand), .init("manual", manualCommand),
      .init("completion", completionCommand)),
    group(
      "Without a radio", .init("replay", replayCommand), .init("simulate", simulateCommand)),
  ]

  private static func group(_ title: String, _ commands: Entry...) -> (title: String, commands: [Entry]) {
    (title, commands)
  }

  static var groups: [(title: String, commands: [CommandSpec])] {
    entries.map { ($0.title, $0.commands.map(\.spec)) }
  }

  static var all: [CommandSpec] { groups.flatMap(\.commands) }

  /// - Parameter topics: further names that could be meant
  package static func named(_ name: String, orTopics topics: [String] = []) throws(Failure) -> CommandSpec {
    let entries = self.entries.flatMap(\.commands)
    if let entry = entries.first(where: { $0.name == name }) { return entry.spec }
    if name.hasPrefix("-") {
      let options = (all.flatMap(\.allOptions).map(\.spec.names) + ProgramOption.allCases.map(\.names))
        .joined()
      let suggestion = Invocation.suggestion(for: name, among: Array(options))
      throw .usage("no command has the option \(name.printable)\(suggestion); see halo-raw --help")
    }
    throw .unknown(
      topics.isEmpty ? "command" : "command or topic", name, among: entries.map(\.name) + topics,
      advice: "see halo-raw --help")
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
