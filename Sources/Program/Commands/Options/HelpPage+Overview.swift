import HaloCommandLine

extension HelpPage {
  /// The program: all commands.
  static func overview(_ groups: [(title: String, commands: [CommandSpec])]) -> HelpPage {
    var parts: [Part] = [
      .paragraph(
        """
        RING is a name (R02_341C) or an address (C0:11:22:33:A1:B2). It may be left out if only one ring is near.
        """)
    ]
    for group in groups {
      parts.append(.list(title: group.title, group.commands.map { ($0.name, $0.summary) }))
    }
    parts += [
      .list(title: "Adapters (--adapter SPEC, or HALO_ADAPTER)", adapters),
      .list(title: "Environment and files", environment),
      .list(title: "Exit codes", ExitCode.meanings.map { ("\($0.rawValue)", $1) }),
      .examples(title: "Example, without a radio", [("halo-raw stream --ppg --adapter virtual", "")]),
      .paragraph("halo-raw COMMAND --help describes one command, with examples."),
    ]
    return HelpPage(
      name: "halo-raw", summary: "raw photoplethysmogram from a smart ring, with its own Bluetooth LE stack",
      arguments: "COMMAND [RING] [options]", parts: parts)
  }

  private static let environment = [
    ("HALO_ADAPTER", "the adapter of commands without --adapter"),
    ("HALO_RING", "the ring of commands that name none"),
    ("HALO_MQTT_PASSWORD", "the password for --mqtt"),
    ("HALO_CONFIG", "another configuration file, or none if it is empty"),
    ("~/.config/halo-raw/config", "names for rings, and options: see docs/commands.md"),
  ]

  private static let adapters = [
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
}
