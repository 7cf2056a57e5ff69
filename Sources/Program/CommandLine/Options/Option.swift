/// How a command uses a file that its command line names.
package enum FileUse: Sendable {
  case reads
  case writes
}

/// The parts of an option that the parser and the help need; ``Option`` adds the type of its value.
package struct OptionSpec: Sendable {
  /// All spellings. The last one is the long name.
  package var names: [String]
  /// The name of the value in the help; nil for a flag.
  package var placeholder: String?
  /// Whether the value may be left out. If given, it follows an equals sign: `--explain=full`.
  package var isValueOptional = false
  /// Whether an optional value may also be the next argument: only if it is one.
  var mayFollow = false
  package var help: String
  /// How the command uses the file that the value names; nil if the value is not a path.
  package var file: FileUse?
  /// Whether it may be given several times; the values are joined with commas.
  var isRepeatable = false
  /// The valid values, if they are names.
  package var choices: [String] = []
  /// The variable of the environment that stands for it, and counts more than the configuration file; nil if there is none.
  var variable: String?
  /// Makes the option's value of its text; the text is nil for a flag and for a value that is left out.
  package fileprivate(set) var parse: @Sendable (String?) throws(Failure) -> any Sendable

  package var name: String { names.last ?? "" }
}

/// An option of any type.
package protocol CommandOption: Sendable {
  var spec: OptionSpec { get }
}

/// An option of a command, and the type of its value. A command lists its options and reads their values with
/// ``Invocation/subscript(_:)``; both use the same constant, so that a misspelled option does not compile.
///
///     static let count = Option("--count", as: .count, help: "stop after N samples")
///     let count = invocation[Self.count]  // Int?
package struct Option<Value: Sendable>: CommandOption {
  package private(set) var spec: OptionSpec
  /// The value if the option is not given.
  let absent: Value
}

/// An option without a value.
package typealias Flag = Option<Bool>

extension Flag {
  package init(_ names: String..., help: String) {
    self.init(spec: OptionSpec(names: names, help: help) { _ in true }, absent: false)
  }
}

extension Option {
  /// The same option, for which a variable of the environment stands.
  package func inEnvironment(_ variable: String) -> Self {
    var option = self
    option.spec.variable = variable
    return option
  }

  /// The same option with another help, for a command for which it means less.
  package func described(_ help: String) -> Self {
    var option = self
    option.spec.help = help
    return option
  }

  /// An option with a value, nil if it is not given.
  ///
  /// - Parameters:
  ///   - bare: the value of the option if it is given without one; nil if it needs one
  ///   - following: whether the optional value may also be the next argument, if that can't be anything else
  ///   - repeatable: whether it may be given several times
  package init<Wrapped: Sendable>(
    _ names: String..., as type: ArgumentType<Wrapped>, placeholder: String? = nil, bare: Wrapped? = nil,
    following: Bool = false, repeatable: Bool = false, help: String
  ) where Value == Wrapped? {
    var spec = Self.spec(names, type, placeholder, help) { text throws(Failure) -> Value in text }
    spec.isRepeatable = repeatable
    if let bare {
      let parse = spec.parse
      spec.isValueOptional = true
      spec.mayFollow = following
      spec.parse = { text throws(Failure) in
        if text == nil { return Value(bare) }
        return try parse(text)
      }
    }
    self.init(spec: spec, absent: nil)
  }

  /// An option with a default, which the help shows.
  ///
  /// - Parameter default: the default as it is written on the command line; it must be a valid value
  package init(
    _ names: String..., as type: ArgumentType<Value>, placeholder: String? = nil, default: String,
    help: String
  ) {
    guard let value = try? type.value(`default`, of: names.last ?? "") else {
      preconditionFailure("\(names): the default \(`default`) is not a value of the option")
    }
    self.init(
      spec: Self.spec(names, type, placeholder, "\(help) (default: \(`default`))") { $0 }, absent: value)
  }

  private static func spec<Parsed: Sendable>(
    _ names: [String], _ type: ArgumentType<Parsed>, _ placeholder: String?, _ help: String,
    _ convert: @escaping @Sendable (Parsed) throws(Failure) -> Value
  ) -> OptionSpec {
    OptionSpec(
      names: names, placeholder: placeholder ?? type.placeholder, help: help, file: type.file,
      choices: type.choices
    ) { text throws(Failure) in
      try convert(try type.value(text ?? "", of: names.last ?? ""))
    }
  }
}

/// A rule on which options go together.
package enum OptionRule: Sendable {
  /// At most one of them.
  case exclusive([any CommandOption])
  /// Exactly one of them.
  case one([any CommandOption])
  /// The first is not used with any of the others.
  case excludes(any CommandOption, [any CommandOption])
  /// The first needs the second.
  case needs(any CommandOption, any CommandOption)
  /// The first needs one of the others.
  case needsOne(any CommandOption, [any CommandOption])

  /// - Parameter isGiven: whether an option is on the command line
  package func check(_ isGiven: (any CommandOption) -> Bool) throws(Failure) {
    switch self {
    case .exclusive(let options), .one(let options):
      let given = options.filter(isGiven).map(\.spec.name)
      if given.count > 1 { throw .usage("\(given[0]) and \(given[1]) exclude each other") }
      guard case .one = self, given.isEmpty else { return }
      throw .usage(
        "give "
          + options.map { $0.spec.name + ($0.spec.placeholder.map { " \($0)" } ?? "") }.joined(
            separator: " or "))
    case .excludes(let option, let others):
      guard isGiven(option), let other = others.first(where: isGiven) else { return }
      throw .usage("\(option.spec.name) and \(other.spec.name) exclude each other")
    case .needs(let option, let other):
      if isGiven(option), !isGiven(other) { throw .usage("\(option.spec.name) needs \(other.spec.name)") }
    case .needsOne(let option, let others):
      guard isGiven(option), !others.contains(where: isGiven) else { return }
      throw .usage("\(option.spec.name) needs " + others.map(\.spec.name).joined(separator: " or "))
    }
  }
}
