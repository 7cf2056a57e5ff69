/// All commands, in the order in which the help shows them.
enum Commands {
  static var groups: [(title: String, commands: [CommandSpec])] {
    [
      ("rings", [streamCommand, infoCommand, batteryCommand, settingsCommand, timeCommand, forgetCommand]),
      ("what a ring measures and tells", [measureCommand, eventsCommand, sportCommand]),
      ("what a ring has stored", [todayCommand, historyCommand, syncCommand, exportCommand]),
      (
        "what a ring is told to do",
        [findCommand, blinkCommand, rebootCommand, powerOffCommand, factoryResetCommand, rawCommand]
      ),
      (
        "any Bluetooth LE peripheral",
        [scanCommand, inspectCommand, readCommand, writeCommand, subscribeCommand]
      ),
      ("this machine", [adaptersCommand, doctorCommand]),
      ("captures", [decodeCommand, recordCommand]),
      ("to read", [ringCommandsCommand]),
      ("without a radio", [replayCommand, simulateCommand]),
    ]
  }

  static func named(_ name: String) throws(Failure) -> CommandSpec {
    let all = groups.flatMap(\.commands)
    if let command = all.first(where: { $0.name == name }) { return command }
    throw .usage(
      "halo-raw has no command \"\(name.printable)\""
        + Invocation.suggestion(for: name, among: all.map(\.name)) + "; see halo-raw --help")
  }
}
