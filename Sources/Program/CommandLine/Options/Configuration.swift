import Glibc
import HaloSystem

/// The user's configuration file: names for rings, and options that commands have unless the command line says otherwise.
package struct Configuration: Sendable {
  /// A line with a value.
  package struct Entry: Sendable {
    /// `defaults`, or the name of a command.
    package var section: String
    /// The name of the option without dashes, or `ring`.
    package var name: String
    /// nil for a name without an equals sign.
    package var text: String?
    package var line: Int
  }

  /// The file, for messages.
  package let path: String
  /// The rings that other names stand for.
  package private(set) var rings: [String: String] = [:]
  package private(set) var entries: [Entry] = []

  private static let ringSection = "rings"
  private static let defaultSection = "defaults"
  private static let ringName = "ring"
  /// In bytes.
  private static let limit = 1 << 16

  /// Reads the one of the user: of the file in `HALO_CONFIG`, else of `$XDG_CONFIG_HOME/halo-raw/config`, else of
  /// `~/.config/halo-raw/config`; with sudo, of the user who called it.
  ///
  /// - Parameter commands: all that the file may have sections and options for
  package static func read(for commands: @autoclosure () -> [CommandSpec]) throws(Failure) -> Configuration {
    let chosen = getenv("HALO_CONFIG").map { String(cString: $0) }
    let invoking = InvokingUser.current()
    let folder = invoking.map { $0.home.map { $0 + "/.config/halo-raw" } } ?? UserFolders.configuration
    guard let path = chosen ?? folder.map({ $0 + "/config" }), !path.isEmpty else {
      return Configuration(path: "")
    }
    let text: String
    do throws(FileError) {
      // With sudo: messages must not show the contents of a file that the user may not read.
      let bytes = try InputFile.read(path, limit: limit, owner: invoking?.user)
      text = String(decoding: bytes, as: UTF8.self)
    } catch {
      switch error.reason {
      case .system(ENOENT) where chosen == nil, .system(ENOTDIR) where chosen == nil:
        return Configuration(path: path)
      // The home of another user, as of root before setpriv.
      case .system(EACCES) where chosen == nil && access(path, F_OK) != 0: return Configuration(path: path)
      default: throw Failure(.cannotOpenFile, "cannot read the configuration file \(error)")
      }
    }
    return try Configuration(path: path, text: text, for: commands())
  }

  private init(path: String) {
    self.path = path
  }

  /// Reads the text of a file.
  ///
  /// - Throws: a failure with the number of the first line that is wrong
  package init(path: String, text: String, for commands: [CommandSpec]) throws(Failure) {
    self.init(path: path)
    var section: String?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let number = index + 1
      let line = Self.trimmed(line)
      guard let first = line.first, first != "#" else { continue }
      if first == "[" {
        guard line.last == "]" else { throw failure(number, "the ] at the end of the line is missing") }
        section = Self.trimmed(line.dropFirst().dropLast())
        try check(section: section ?? "", commands, number)
        continue
      }
      guard let section else {
        throw failure(number, "a section such as [defaults] has to come first")
      }
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = Self.trimmed(parts[0])
      let value = parts.count > 1 ? Self.trimmed(parts[1]) : nil
      try add(Entry(section: section, name: name, text: value, line: number), commands)
    }
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let start = text.drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }

  private func failure(_ line: Int, _ message: String) -> Failure {
    Failure(.badData, "\(path.printable), line \(line): \(message)")
  }

  private func check(section: String, _ commands: [CommandSpec], _ line: Int) throws(Failure) {
    let names = [Self.ringSection, Self.defaultSection] + commands.map(\.name)
    guard names.contains(section) else {
      throw failure(
        line, "there is no section [\(section.printable)]\(Invocation.suggestion(for: section, among: names))"
      )
    }
  }

  private mutating func add(_ entry: Entry, _ commands: [CommandSpec]) throws(Failure) {
    guard entry.section != Self.ringSection else {
      guard let ring = entry.text, !ring.isEmpty, !entry.name.isEmpty else {
        throw failure(entry.line, "write NAME = RING, with the name or the address of the ring")
      }
      rings[entry.name] = ring
      return
    }
    let commands = commands.filter { entry.section == Self.defaultSection || $0.name == entry.section }
    let options = commands.flatMap { $0.allOptions.map(\.spec) }
    let names = options.map { Self.name(of: $0) } + [Self.ringName]
    guard names.contains(entry.name), entry.name != Self.name(of: CommonOptions.help.spec) else {
      let owner = entry.section == Self.defaultSection ? "no command has the" : "\(entry.section) has no"
      throw failure(
        entry.line,
        "\(owner) option \(entry.name.printable)\(Invocation.suggestion(for: entry.name, among: names))")
    }
    if let option = options.first(where: { Self.name(of: $0) == entry.name }) {
      guard option.placeholder != nil || Self.flag(entry.text) != nil else {
        throw failure(entry.line, "\(entry.name) is yes or no")
      }
    }
    entries.append(entry)
  }

  /// `count` of `--count`.
  private static func name(of option: OptionSpec) -> String { String(option.name.drop { $0 == "-" }) }

  /// The value of a flag's text; nil if it is neither yes nor no.
  private static func flag(_ text: String?) -> Bool? {
    switch text?.lowercased() {
    case nil, "yes", "on", "true": true
    case "no", "off", "false": false
    default: nil
    }
  }

  // MARK: Values

  /// The entry for a command with a name: the last one in its own section, else the last one in that for all.
  private func entry(_ name: String, for command: CommandSpec) -> Entry? {
    entries.last { $0.name == name && $0.section == command.name }
      ?? entries.last { $0.name == name && $0.section == Self.defaultSection }
  }

  /// The ring that a command uses; nil if the file names none.
  package func ring(for command: CommandSpec) -> String? { entry(Self.ringName, for: command)?.text }

  /// The value of an option of a command, as on the command line.
  ///
  /// - Parameter parse: makes a value of the text, which is nil for a flag
  /// - Returns: nil if the file has none
  package func value<Value>(
    of option: OptionSpec, for command: CommandSpec, _ parse: (String?) throws(Failure) -> Value
  ) throws(Failure) -> (argument: String, value: Value)? {
    guard let entry = entry(Self.name(of: option), for: command) else { return nil }
    let isFlag = option.placeholder == nil
    if isFlag, Self.flag(entry.text) != true { return nil }
    let text = isFlag ? nil : entry.text
    do throws(Failure) {
      return (option.name + (text.map { "=\($0)" } ?? ""), try parse(text))
    } catch {
      throw failure(entry.line, error.message)
    }
  }
}
