import HaloCommandLine

/// The topics of `halo-raw help TOPIC` besides the commands. Each is a manual page, too.
enum HelpTopic: String, CaseIterable {
  case link
  case config
  case troubleshooting

  var page: HelpPage {
    switch self {
    case .link: Self.ofLinks
    case .config: Self.ofConfiguration
    case .troubleshooting: Self.ofTroubles
    }
  }

  // MARK: The adapter and the link

  private static var ofLinks: HelpPage {
    HelpPage(
      name: "halo-raw-link", section: .overview,
      summary: "options of the adapter and of the link to a device",
      synopsis: "halo-raw COMMAND [options]",
      lists: [
        .init("Options of the adapter", HelpPage.rows(CommonOptions.ofAdapters)),
        .init("Options of the link", HelpPage.rows(CommonOptions.ofLinks)),
        .init("Adapters", adapters),
      ],
      examples: [
        ("halo-raw battery --adapter virtual --explain", "print each packet while it is sent or received"),
        (
          "halo-raw stream --interval 15..125 --count 5 --adapter virtual",
          "let the ring choose a slower link, which saves its battery"
        ),
        (
          "halo-raw battery --record battery.btsnoop --replace --adapter virtual",
          "keep the packets in a file, for decode"
        ),
      ],
      description: [
        """
        Commands that use an adapter take the options of adapters. Those that connect to a device take the options of \
        the link, too: all but \(names { $0.usesAdapter && !$0.opensLinks }).
        """,
        """
        Others, such as adapters, doctor, record and simulate, have what they need of an adapter among their own options.
        """,
        "Options may stand before the command: halo-raw --adapter virtual battery.",
      ])
  }

  private static func names(_ isMeant: (CommandSpec) -> Bool) -> String {
    let names = Commands.all.filter(isMeant).map(\.name)
    return names.count < 2
      ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
  }

  private static let adapters: [HelpPage.Row] = [
    ("hciN", "an adapter of this machine, shared with the kernel; needs CAP_NET_RAW; must be up"),
    (
      "user:hciN",
      "the same adapter with the whole stack in this program; needs CAP_NET_ADMIN; must be down, or use --take"
    ),
    ("virtual[:OPTIONS]", "the built-in ring; OPTIONS such as rate=4,seed=7,name=R02_BEEF,fast"),
    ("tcp:HOST:PORT", "an H4 controller on TCP, real or emulated"),
    ("unix:PATH", "an H4 controller on a Unix domain socket"),
    ("serial:PATH[@BAUD]", "an H4 controller on a serial line with RTS/CTS, 115200 baud by default"),
    ("replay:FILE", "a recorded session or device; see halo-raw replay --help"),
  ]

  // MARK: The configuration file

  private static var ofConfiguration: HelpPage {
    var page = HelpPage(
      name: "halo-raw-config", section: .file, summary: "the configuration file of halo-raw",
      synopsis: ConfigurationFile.path,
      lists: [
        .init(
          "Sections",
          [
            (
              "[rings]",
              "NAME = RING: another name for a ring, which is a name such as R02_341C, or an address"
            ),
            ("[defaults]", "options of all commands that have them"),
            ("[COMMAND]", "options of one command; they count more than those of [defaults]"),
          ]),
        .init(
          "Keys",
          [
            (
              "OPTION = VALUE",
              "an option by its long name without dashes, and its value as on the command line"
            ),
            (
              "OPTION = yes",
              "an option without a value; also on or true. With no, off or false it is not set"
            ),
            ("ring = RING", "the ring of commands that name none"),
          ]),
      ],
      examples: [
        (
          """
          [rings]
          left = C0:11:22:33:A1:B2

          # for each command that has the option
          [defaults]
          adapter = hci1
          color = never

          # for one command
          [stream]
          ring = left
          ppg = yes
          retry-for = forever
          """, ""
        )
      ],
      description: [
        """
        The file gives rings names of your own, and commands the options that you always want. A line is a section in \
        brackets, a key and its value, or a comment, which begins with #. Spaces around names and values do not count.
        """,
        """
        An option of the command line counts more than the environment, which counts more than the file. An option that \
        does not go with one of the command line is left out. A line that is wrong is an error, with its number.
        """,
      ])
    page.files = [ConfigurationFile.row]
    page.environment = Environment.ofConfiguration
    return page
  }
}

/// Where the configuration file is.
enum ConfigurationFile {
  static let path = "~/.config/halo-raw/config"
  static let row: HelpPage.Row = (
    path,
    "the configuration file; with sudo, that of the user who called it; with XDG_CONFIG_HOME, halo-raw/config in it"
  )
}

/// The variables of the environment that the program reads.
enum Environment {
  /// The variables that stand beside the configuration file.
  static let ofConfiguration: [HelpPage.Row] = [
    ("HALO_CONFIG", "another configuration file, or none if it is empty"),
    ("HALO_ADAPTER", "the adapter of commands without --adapter"),
    ("HALO_RING", "the ring of commands that name none"),
    ("HALO_STORE", "the store of commands without --store"),
  ]

  static let all: [HelpPage.Row] =
    ofConfiguration + [
      ("HALO_MQTT_PASSWORD", "the password for --mqtt"),
      ("NO_COLOR", "if it is set, nothing is colored, unless --color says otherwise"),
      ("CLICOLOR_FORCE", "if it is set, and not 0, output is colored also where it is not to a terminal"),
      ("CLICOLOR", "if it is 0, nothing is colored"),
      ("TERM", "if it is dumb or not set, nothing is colored or updated in place"),
    ]
}
