import BluetoothCore
import HaloEventLoop

/// A command, as the parser and the help see it.
struct CommandSpec: Sendable {
  var name: String
  /// Its positional arguments: `[RING]`.
  var arguments: String
  var summary: String
  /// How many positional arguments it takes.
  var positionals: ClosedRange<Int>
  /// How it uses the files that positional arguments name: those that are read are all, one that is written is the first.
  /// Nil if they name none.
  var file: FileUse?
  var options: [any CommandOption]
  /// Which of the options go together.
  var rules: [OptionRule]
  /// Complete command lines that work, with what they do.
  var examples: [(line: String, does: String)]
  /// More for `--help`: paragraphs with an empty line between them. Other line breaks do not count. Only the help makes
  /// this text: some of it comes from large tables.
  var details: @Sendable () -> String
  /// Whether it uses an adapter to reach a device, and so takes the options for adapters.
  var usesAdapter: Bool
  /// Whether everything after the first positional argument belongs to another command.
  var wrapsCommand: Bool
  var run: @BluetoothActor (Invocation) async throws(Failure) -> Void

  init(
    name: String, arguments: String = "", summary: String, positionals: ClosedRange<Int>,
    file: FileUse? = nil,
    options: [any CommandOption] = [], rules: [OptionRule] = [], examples: [(line: String, does: String)],
    details: @escaping @autoclosure @Sendable () -> String = "", usesAdapter: Bool = true,
    wrapsCommand: Bool = false, run: @escaping @BluetoothActor (Invocation) async throws(Failure) -> Void
  ) {
    self.name = name
    self.arguments = arguments
    self.summary = summary
    self.positionals = positionals
    self.file = file
    self.options = options
    self.rules = rules
    self.examples = examples
    self.details = details
    self.usesAdapter = usesAdapter
    self.wrapsCommand = wrapsCommand
    self.run = run
  }

  /// The options of this command and those that it shares with others.
  var allOptions: [any CommandOption] { options + commonOptions }

  var commonOptions: [any CommandOption] {
    (usesAdapter ? CommonOptions.all : []) + [CommonOptions.help]
  }
}

/// All commands, in the order in which the help shows them.
enum Commands {
  static var groups: [(title: String, commands: [CommandSpec])] {
    // Each with its type, as the compiler would search for it.
    let rings: [CommandSpec] = [
      streamCommand, infoCommand, batteryCommand, settingsCommand, timeCommand, forgetCommand,
    ]
    let measurements: [CommandSpec] = [measureCommand, eventsCommand, sportCommand]
    let stored: [CommandSpec] = [
      todayCommand, historyCommand, syncCommand, exportCommand, storeCommand, reportCommand, queuesCommand,
    ]
    let actions: [CommandSpec] = [
      findCommand, blinkCommand, rebootCommand, powerOffCommand, factoryResetCommand, rawCommand,
    ]
    let peripherals: [CommandSpec] = [
      scanCommand, inspectCommand, readCommand, writeCommand, subscribeCommand,
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

  static func named(_ name: String) throws(Failure) -> CommandSpec {
    let all = self.all
    if let command = all.first(where: { $0.name == name }) { return command }
    throw .usage(
      "unknown command \"\(name.printable)\""
        + Invocation.suggestion(for: name, among: all.map(\.name)) + "; see halo-raw --help")
  }
}
