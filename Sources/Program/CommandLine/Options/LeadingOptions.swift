/// Options that stand before the command: `halo-raw --adapter virtual battery`.
package enum LeadingOptions {
  /// Puts the command first, and the options that stand before it behind it.
  ///
  /// - Returns: the arguments as they are if one before the command is no option of any; those from `--help` or
  ///   `--version` on; none if there are options only
  package static func moved(_ arguments: [String], for commands: @autoclosure () -> [CommandSpec]) -> [String]
  {
    // Most command lines begin with the command: the others are not made for these.
    guard arguments.first?.hasPrefix("-") == true else { return arguments }
    let commands = commands()
    let options = commands.flatMap { $0.allOptions.map(\.spec) }
    /// Each with its value.
    var leading: [[String]] = []
    var rest = arguments[...]
    while let argument = rest.first, argument.hasPrefix("-"), argument != "-" {
      if ProgramOption.named(argument) != nil { return Array(rest) }
      rest = rest.dropFirst()
      if argument == "--" { break }
      let name = String(argument.prefix { $0 != "=" })
      guard let option = options.first(where: { $0.names.contains(name) }) else { return arguments }
      var unit = [argument]
      if option.placeholder != nil, !option.isValueOptional, name == argument, let value = rest.popFirst() {
        unit.append(value)
      }
      leading.append(unit)
    }
    guard let name = rest.popFirst() else { return [] }
    guard let command = commands.first(where: { $0.name == name }), command.wrapsCommand else {
      return [name] + leading.joined() + rest
    }
    // Options that are not its own belong to the wrapped command.
    let names = command.allOptions.flatMap(\.spec.names)
    func isOwn(_ unit: [String]) -> Bool { names.contains(String(unit[0].prefix { $0 != "=" })) }
    return [name] + leading.filter(isOwn).joined() + rest + leading.filter { !isOwn($0) }.joined()
  }
}

/// The options of the program without a command.
package enum ProgramOption: CaseIterable, Sendable {
  case help
  case version

  /// All spellings.
  package var names: [String] {
    switch self {
    case .help: ["-h", "--help", "help"]
    case .version: ["-V", "--version", "version"]
    }
  }

  package static func named(_ name: String) -> ProgramOption? { allCases.first { $0.names.contains(name) } }
}
