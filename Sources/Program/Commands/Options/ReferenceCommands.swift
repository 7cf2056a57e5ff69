import HaloCommandLine

let manualCommand = CommandSpec(
  name: "manual", arguments: "[PAGE]", summary: "print the source of a manual page, for man",
  options: [allOption],
  examples: [("halo-raw manual stream | man -l -", "show the page of a command")],
  details: """
    PAGE is a command, or a topic: \(HelpTopic.allCases.map(\.rawValue).joined(separator: ", ")). Without it, the page of the \
    program. `make install` and the Debian package install all pages: man halo-raw, man halo-raw-stream, \
    man halo-raw-config.
    """, usesAdapter: false
) { invocation in
  let overview = HelpPage.overview(Commands.groups)
  let topics = HelpTopic.allCases.map(\.page)
  if let name = invocation.positionals.first {
    if invocation[allOption] { throw Failure.usage("\(allOption.spec.name) and PAGE exclude each other") }
    let page = try HelpPage.named(name)
    return Console.print(page.manual(seeAlso: [overview] + topics.filter { $0.name != page.name }))
  }
  let commands = Commands.groups.flatMap(\.commands).map(HelpPage.init)
  Console.print(overview.manual(seeAlso: topics + commands))
  guard invocation[allOption] else { return }
  for page in topics + commands {
    Console.print(page.manual(seeAlso: [overview] + topics.filter { $0.name != page.name }))
  }
}

extension HelpPage {
  /// The page of a command or a topic.
  static func named(_ name: String) throws(Failure) -> HelpPage {
    if let topic = HelpTopic(rawValue: name) { return topic.page }
    return HelpPage(try Commands.named(name, orTopics: HelpTopic.allCases.map(\.rawValue)))
  }

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
      "known rings, bonds, and what waits for brokers; with XDG_STATE_HOME, halo-raw in it"
    ),
  ]
}

private let allOption = Flag("--all", help: "print all pages, one behind the other; each begins with .TH")

let completionCommand = CommandSpec(
  name: "completion", arguments: "SHELL", summary: "print the completion script for bash, zsh or fish",
  examples: [
    ("halo-raw completion bash > halo-raw.bash", "write a script, to be sourced in ~/.bashrc")
  ],
  details: """
    The script completes commands, options, the names of values, and files. `make install` and the Debian package \
    install it for all three shells.
    """, usesAdapter: false
) { invocation in
  let name = invocation.positionals.first ?? ""
  guard let shell = Completion(rawValue: name) else {
    throw Failure.usage("\(name.printable) is not a shell that can be completed for; give bash, zsh or fish")
  }
  Console.print(shell.script(Commands.groups.flatMap(\.commands)))
}
