/// An option of a command, as the parser and the help see it.
struct OptionSpec {
  /// All its spellings; the last is the one that values are looked up by.
  var names: [String]
  /// What to call its value; nil for a switch.
  var value: String?
  /// Whether the value may be missing; then it stands behind an equals sign: `--explain=full`.
  var isValueOptional = false
  var help: String

  var key: String { names.last ?? "" }

  init(_ names: String..., value: String? = nil, isValueOptional: Bool = false, help: String) {
    self.names = names
    self.value = value
    self.isValueOptional = isValueOptional
    self.help = help
  }
}

/// A command, as the parser and the help see it.
struct CommandSpec {
  var name: String
  /// Its positional arguments: `[RING]`.
  var arguments: String = ""
  var summary: String
  /// How many positional arguments it takes.
  var positionals: ClosedRange<Int>
  var options: [OptionSpec] = []
  /// Complete command lines that work, with what they do.
  var examples: [(line: String, does: String)]
  /// More for `--help`.
  var details: String = ""
  /// Whether it talks to a device, and so takes the options for adapters.
  var usesAdapter = true
  /// Whether everything behind the first positional argument belongs to another command.
  var wrapsCommand = false
  var run: @BluetoothActor (Invocation) async throws(Failure) -> Void
}

import EventLoop

/// The options that all commands share.
enum CommonOptions {
  static let always = [
    OptionSpec("-h", "--help", help: "shows this text")
  ]

  static let adapter = [
    OptionSpec(
      "-i", "--adapter", value: "SPEC",
      help:
        "the radio: hciN, user:hciN, virtual[:OPTIONS], tcp:HOST:PORT, unix:PATH, serial:PATH[@BAUD], "
        + "replay:FILE[,lenient][,index=N][,from=N]; default: $HALO_ADAPTER, else the first adapter of this machine that is up"
    ),
    OptionSpec(
      "--take",
      help: "with user:hciN: takes an adapter that is up, which ends its links; afterwards it is up again"),
    OptionSpec("--record", value: "FILE", help: "writes all HCI traffic to a btsnoop file"),
    .explain,
    OptionSpec("--wait", value: "TIME", help: "how long to look for the device and to connect; default 30s"),
    OptionSpec(
      "--interval", value: "MIN..MAX",
      help: "connection interval in ms, 7.5..4000; once given, the peer can't change it; default 7.5..15"),
    OptionSpec("--latency", value: "N", help: "connection events that the peer may skip; default 0"),
    OptionSpec("--timeout", value: "TIME", help: "supervision timeout of the link; default 4s"),
    OptionSpec(
      "--aggressive", help: "scans all the time, not an eighth of it; disturbs Wi-Fi on a Raspberry Pi"),
    OptionSpec("-v", "--verbose", help: "tells on standard error what happens on the link"),
  ]

  static let format = OptionSpec(
    "--format", value: "FORMAT", help: "text, csv or jsonl; default: text on a terminal, csv in a pipe")
}
