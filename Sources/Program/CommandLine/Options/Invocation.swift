import Glibc

/// A command line: the positional arguments and the values of the options, checked.
package struct Invocation: Sendable {
  package var positionals: [String] = []
  package let command: CommandSpec
  /// Names rings.
  package private(set) var configuration: Configuration?
  private let arguments: [String]
  private var values: [String: any Sendable] = [:]
  /// The options of the configuration file, as they would be on the command line.
  private var defaults: [String] = []

  /// Reads a command line.
  ///
  /// - Throws: a usage failure with one helpful line
  package init(parsing arguments: [String], for command: CommandSpec) throws(Failure) {
    self.command = command
    self.arguments = arguments
    let options = command.allOptions.map(\.spec)
    var given: [(option: OptionSpec, spelling: String, text: String?)] = []
    var rest = arguments[...]
    var onlyPositionals = false
    while let argument = rest.popFirst() {
      let isOption = !onlyPositionals && argument.hasPrefix("-") && argument != "-"
      // Behind its own arguments and options, everything belongs to the wrapped command.
      if command.wrapsCommand, !positionals.isEmpty,
        !isOption || !options.contains(where: { $0.names.contains(Self.name(of: argument)) })
      {
        positionals.append(argument)
        positionals += rest
        break
      }
      guard isOption else {
        positionals.append(argument)
        continue
      }
      if argument == "--" {
        onlyPositionals = true
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = Self.name(of: argument)
      guard let option = options.first(where: { $0.names.contains(name) }) else {
        throw .usage(
          "\(command.name) has no option \(name.printable)"
            + Self.suggestion(for: name, among: options.flatMap(\.names))
            + "; see halo-raw \(command.name) --help")
      }
      var text = parts.count > 1 ? String(parts[1]) : nil
      if let placeholder = option.placeholder {
        if text == nil, !option.isValueOptional || option.mayFollow && Self.isValue(rest.first, of: option) {
          text = rest.popFirst()
        }
        guard text != nil || option.isValueOptional else {
          throw .usage("\(name) wants a value: \(name) \(placeholder)")
        }
      } else if text != nil {
        throw .usage("\(name) takes no value")
      }
      given.append((option, name, text))
    }
    // Help needs nothing else to be right.
    guard !given.contains(where: { $0.option.name == CommonOptions.help.spec.name }) else {
      values[CommonOptions.help.spec.name] = true
      return
    }
    var texts: [String: String] = [:]
    for (option, _, text) in given {
      var text = text
      if option.isRepeatable, let last = texts[option.name] { text = last + "," + (text ?? "") }
      texts[option.name] = text
      values[option.name] = try option.parse(text)
    }
    try checkPositionals()
    for rule in command.rules { try rule.check { values[$0.spec.name] != nil } }
  }

  /// Gives the options that are not on the command line the values of a configuration file. Those that do not go with an option
  /// that is there are left out.
  package mutating func add(_ configuration: Configuration) throws(Failure) {
    self.configuration = configuration
    guard !configuration.entries.isEmpty else { return }
    for option in command.allOptions.map(\.spec) where values[option.name] == nil {
      // The environment counts more than the file.
      if let variable = option.variable, getenv(variable) != nil { continue }
      guard let (argument, value) = try configuration.value(of: option, for: command, option.parse) else {
        continue
      }
      values[option.name] = value
      do throws(Failure) {
        for rule in command.rules { try rule.check { values[$0.spec.name] != nil } }
        defaults.append(argument)
      } catch {
        values[option.name] = nil
      }
    }
  }

  /// `--count` of `--count=3`
  private static func name(of argument: String) -> String {
    String(argument.prefix { $0 != "=" })
  }

  private static func isValue(_ text: String?, of option: OptionSpec) -> Bool {
    text.map { (try? option.parse($0)) != nil } ?? false
  }

  private func checkPositionals() throws(Failure) {
    let usage = "usage: halo-raw \(command.name) \(command.arguments)"
    if positionals.count > command.positionals.upperBound, !command.wrapsCommand {
      let extra = positionals[command.positionals.upperBound].printable
      throw .usage("unexpected argument \"\(extra)\"; \(usage)")
    }
    if positionals.count < command.positionals.lowerBound { throw .usage("\(usage) [options]") }
  }

  /// The names of all options of the command.
  package var optionNames: [String] { command.allOptions.flatMap(\.spec.names) }

  /// The command, the options of the configuration file, and the arguments as they were given, without passwords.
  package var commandLine: String {
    ([command.name] + (defaults + arguments).map(Self.withoutPassword)).joined(separator: " ")
  }

  /// A text without the password of the URL that it may be.
  private static func withoutPassword(_ text: String) -> String {
    guard let start = text.firstRange(of: "://"), let end = text[start.upperBound...].lastIndex(of: "@"),
      let colon = text[start.upperBound..<end].firstIndex(of: ":")
    else { return text }
    return text[...colon] + "***" + text[end...]
  }

  // MARK: Values

  /// The value of an option of the command; its default if it is not given.
  package subscript<Value>(option: Option<Value>) -> Value {
    assert(declares(option), "\(command.name) does not declare \(option.spec.name)")
    guard let value = values[option.spec.name] else { return option.absent }
    return value as? Value ?? option.absent
  }

  package func declares(_ option: some CommandOption) -> Bool {
    command.allOptions.contains { $0.spec.name == option.spec.name }
  }

  package func isGiven(_ option: some CommandOption) -> Bool { values[option.spec.name] != nil }

  /// Gives the option a value, as if it were on the command line.
  package mutating func set<Value>(_ option: Option<Value>, to value: Value) {
    values[option.spec.name] = value
  }

  /// The files that options of the command line name, each with its option.
  package var files: [(option: String, path: String, use: FileUse)] {
    command.allOptions.map(\.spec).compactMap { option in
      guard let use = option.file, let path = values[option.name] as? String else { return nil }
      return (option.name, path, use)
    }
  }

  // MARK: Suggestions

  /// ` (did you mean --count?)`, if one of the names is similar.
  package static func suggestion(for text: String, among names: [String]) -> String {
    let nearest = names.map { ($0, distance(text, $0)) }.min { $0.1 < $1.1 }
    guard let nearest, nearest.1 <= 2, nearest.1 < text.count - 1 else { return "" }
    return " (did you mean \(nearest.0)?)"
  }

  /// The Levenshtein distance: how many letters must be changed, added or removed to make one text of the other.
  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let cost = min(row[j] + 1, row[j + 1] + 1, diagonal + (letter == b[j] ? 0 : 1))
        diagonal = row[j + 1]
        row[j + 1] = cost
      }
    }
    return row[b.count]
  }
}
