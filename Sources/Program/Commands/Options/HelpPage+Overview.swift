import HaloCommandLine

extension HelpPage {
  /// The program: all commands.
  static func overview(_ groups: [(title: String, commands: [CommandSpec])]) -> HelpPage {
    let commands = groups.map { List($0.title, $0.commands.map { ($0.name, $0.summary) }) }
    let topics = List(
      "Topics (halo-raw help TOPIC)", HelpTopic.allCases.map { ($0.rawValue, $0.page.summary) },
      note: "halo-raw COMMAND --help describes one command, with examples.")
    var page = HelpPage(
      name: "halo-raw", summary: "raw photoplethysmogram from a smart ring, with its own Bluetooth LE stack",
      synopsis: "halo-raw COMMAND [RING] [options]", lists: [options] + commands + [topics],
      examples: [("halo-raw stream --ppg --adapter virtual", "without a radio")],
      description: [
        """
        RING is a name (R02_341C) or an address (C0:11:22:33:A1:B2). It may be left out if only one ring is near.
        """,
        """
        Options may stand before the command, too. Results go to standard output, and everything else to standard error. \
        What is a record of its own, such as a sample or a value, is text on a terminal and csv in a pipe; a page or a tree \
        is always text. --format chooses another form.
        """,
      ])
    page.environment = Environment.all
    page.files = usedFiles
    page.exitCodes = ExitCode.meanings.map { ("\($0.rawValue)", $1) }
    return page
  }

  private static let options = List(
    "Options",
    [("-h, --help", "show this text"), ("-V, --version", "print the version")] + rows([CommonOptions.color]))

  private static let usedFiles: [Row] = [
    ConfigurationFile.row,
    (
      "~/.local/share/halo-raw/rings.sqlite",
      "the store of sync; with XDG_DATA_HOME, halo-raw/rings.sqlite in it"
    ),
    (
      "~/.local/state/halo-raw/",
      "known rings and what waits for brokers; with XDG_STATE_HOME, halo-raw in it"
    ),
  ]
}
