/// All commands, in the order in which the help shows them.
enum Commands {
  static var groups: [(title: String, commands: [CommandSpec])] {
    [
      ("Rings", [streamCommand, infoCommand, batteryCommand, settingsCommand, timeCommand, forgetCommand]),
      ("Measurements", [measureCommand, eventsCommand, sportCommand]),
      ("Stored data", [todayCommand, historyCommand, syncCommand, exportCommand]),
      (
        "Actions",
        [findCommand, blinkCommand, rebootCommand, powerOffCommand, factoryResetCommand, rawCommand]
      ),
      (
        "Any Bluetooth LE peripheral",
        [scanCommand, inspectCommand, readCommand, writeCommand, subscribeCommand]
      ),
      ("This machine", [adaptersCommand, doctorCommand]),
      ("Captures", [decodeCommand, recordCommand]),
      ("Reference", [ringCommandsCommand]),
      ("Without a radio", [replayCommand, simulateCommand]),
    ]
  }

  static func named(_ name: String) throws(Failure) -> CommandSpec {
    let all = groups.flatMap(\.commands)
    if let command = all.first(where: { $0.name == name }) { return command }
    throw .usage(
      "unknown command \"\(name.printable)\""
        + Invocation.suggestion(for: name, among: all.map(\.name)) + "; see halo-raw --help")
  }
}
