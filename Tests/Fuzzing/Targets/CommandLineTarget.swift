import HaloCommandLine
import HaloCommands

extension FuzzTarget {
  /// A command line: arguments, a line each. Options are parsed to their values, and nothing is done.
  static let commandLine = FuzzTarget("command-line", largestInput: 512) { bytes in
    let arguments = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard let name = arguments.first, let command = try? Commands.named(name) else { return }
    guard let invocation = try? Invocation(parsing: Array(arguments.dropFirst()), for: command) else {
      return
    }
    if invocation[CommonOptions.help] { _ = HelpPage(command).text }
  }
}
