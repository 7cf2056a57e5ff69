/// What `--help` prints, at most 80 columns wide.
enum Help {
  private static let width = 80
  /// The column in which the meaning of a term begins.
  private static let indent = 26

  static func overview(_ groups: [(title: String, commands: [CommandSpec])]) -> String {
    var text = """
      halo-raw: raw photoplethysmogram from a smart ring, with its own Bluetooth LE
      stack

      Usage: halo-raw COMMAND [RING] [options]

      RING is a name (R02_341C) or an address (C0:11:22:33:A1:B2). It may be left out
      if only one ring is near.

      """
    for group in groups {
      text += "\n\(group.title)\n"
      for command in group.commands { text += row(command.name, command.summary) }
    }
    text += "\nAdapters (--adapter SPEC, or HALO_ADAPTER)\n"
    for (spec, meaning) in adapters { text += row(spec, meaning) }
    text += "\nExit codes\n"
    for (code, meaning) in ExitCode.meanings { text += row("\(code.rawValue)", meaning) }
    text += "\nExample, without a radio\n  halo-raw stream --ppg --adapter virtual\n"
    text += "\nhalo-raw COMMAND --help describes one command, with examples.\n"
    return text
  }

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

  static func of(_ command: CommandSpec) -> String {
    var text = paragraph("halo-raw \(command.name): \(command.summary)") + "\n"
    let arguments = command.arguments.isEmpty ? "" : " " + command.arguments
    text += "Usage: halo-raw \(command.name)\(arguments) [options]\n"
    for part in command.details().split(separator: "\n\n") { text += "\n" + paragraph(String(part)) }
    if !command.options.isEmpty { text += "\nOptions\n" + rows(command.options) }
    text += "\nCommon options\n" + rows(command.commonOptions)
    text += "\nExamples\n"
    for example in command.examples {
      text += commandLine(example.line)
      text += wrapped(example.does, first: "      ", rest: "      ")
    }
    return text
  }

  private static func rows(_ options: [any CommandOption]) -> String {
    options.map(\.spec).map { option in
      let value = option.placeholder.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
      return row(option.names.joined(separator: ", ") + value, option.help)
    }.joined()
  }

  /// A term and its meaning, in two columns.
  private static func row(_ term: String, _ meaning: String) -> String {
    let margin = String(repeating: " ", count: indent)
    let first = "  " + term
    guard first.count < indent - 1 else {
      return first + "\n" + wrapped(meaning, first: margin, rest: margin)
    }
    return wrapped(meaning, first: first + margin.dropFirst(first.count), rest: margin)
  }

  private static func paragraph(_ text: String) -> String { wrapped(text, first: "", rest: "") }

  /// An example that a shell takes as it is: a long one is continued after a backslash.
  private static func commandLine(_ line: String) -> String {
    wrapped(line, first: "  ", rest: "    ", width: width - 2)
      .dropLast().replacing("\n", with: " \\\n") + "\n"
  }

  /// Wraps text between words. Line breaks in `text` count as spaces.
  ///
  /// - Parameters:
  ///   - first: what the first line begins with
  ///   - rest: what the other lines begin with
  private static func wrapped(
    _ text: String, first: String, rest: String, width: Int = Help.width
  ) -> String {
    var lines: [String] = []
    var line = first
    var isStart = true
    for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      if !isStart, line.count + 1 + word.count > width {
        lines.append(line)
        line = rest
        isStart = true
      }
      line += (isStart ? "" : " ") + word
      isStart = false
    }
    lines.append(line)
    return lines.joined(separator: "\n") + "\n"
  }
}
