/// What `--help` prints.
enum Help {
  static func overview(_ groups: [(title: String, commands: [CommandSpec])]) -> String {
    var text = """
      halo-raw: raw photoplethysmogram from a smart ring, over a Bluetooth LE stack of its own

      usage: halo-raw COMMAND [RING] [options]

      RING is a name (R02_341C) or an address (C0:11:22:33:A1:B2); it may be left out when one ring is near.

      """
    for group in groups {
      text += "\n\(group.title)\n"
      for command in group.commands { text += row(command.name, command.summary) }
    }
    text += "\nadapters (--adapter SPEC, or HALO_ADAPTER)\n"
    for (spec, meaning) in adapters { text += row(spec, meaning) }
    text += "\nexit codes\n"
    for (code, meaning) in ExitCode.meanings { text += row("\(code.rawValue)", meaning) }
    text += "\nexample, without any radio\n  halo-raw stream --ppg --adapter virtual\n"
    text += "\nhalo-raw COMMAND --help tells more of each.\n"
    return text
  }

  private static let adapters = [
    ("hciN", "an adapter of this machine, shared with the kernel; needs CAP_NET_RAW, has to be up"),
    (
      "user:hciN",
      "the same for this program alone, whole stack included; needs CAP_NET_ADMIN, has to be down, or --take"
    ),
    ("virtual[:OPTIONS]", "the built-in ring; OPTIONS such as rate=4,seed=7,name=R02_BEEF,fast"),
    ("tcp:HOST:PORT", "a controller offered on TCP (H4), real or emulated"),
    ("unix:PATH", "the same on a Unix domain socket"),
    ("serial:PATH[@BAUD]", "a controller on a serial line with RTS/CTS; 115200 baud"),
    ("replay:FILE", "a recorded session plays the controller; see halo-raw replay --help"),
  ]

  static func of(_ command: CommandSpec) -> String {
    var text = "halo-raw \(command.name): \(command.summary)\n\n"
    text +=
      "usage: halo-raw \(command.name)\(command.arguments.isEmpty ? "" : " " + command.arguments) [options]\n"
    if !command.details.isEmpty { text += "\n\(command.details)\n" }
    if !command.options.isEmpty { text += "\noptions\n" + rows(command.options) }
    let common = (command.usesAdapter ? CommonOptions.adapter : []) + CommonOptions.always
    text += "\ncommon options\n" + rows(common)
    text += "\nexamples\n"
    for example in command.examples { text += "  \(example.line)\n      \(example.does)\n" }
    return text
  }

  private static func rows(_ options: [OptionSpec]) -> String {
    options.map { option in
      let value = option.value.map { option.isValueOptional ? "[=\($0)]" : " \($0)" } ?? ""
      return row(option.names.joined(separator: ", ") + value, option.help)
    }.joined()
  }

  /// A term and its meaning, in two columns, wrapped to a terminal's width.
  private static func row(_ term: String, _ meaning: String) -> String {
    let indent = 26
    var lines = ["  " + term]
    if lines[0].count >= indent - 1 {
      lines.append(String(repeating: " ", count: indent))
    } else {
      lines[0] += String(repeating: " ", count: indent - lines[0].count)
    }
    for word in meaning.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.count + word.count > 98 {
        lines.append(String(repeating: " ", count: indent) + word)
      } else {
        lines[lines.count - 1] = line + (line.count > indent ? " " : "") + word
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
