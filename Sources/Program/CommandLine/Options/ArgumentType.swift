/// A type of values on the command line: how the help names them, which ones are valid, and how they are read.
package struct ArgumentType<Value: Sendable>: Sendable {
  /// The name of the value in the help.
  package var placeholder: String
  /// The description of a valid value, for the message about another one: "a whole number".
  package var expected: String
  /// How the command uses the file that the value names; nil if the value is not a path.
  package var file: FileUse?
  /// The valid values, if they are names; empty for any other type.
  package var choices: [String] = []
  /// Whether it is a secret, which is not repeated in messages.
  package var isSecret = false
  /// Reads a value.
  ///
  /// - Returns: nil if the text is not a value
  /// - Throws: why it is none, where `expected` does not say enough: a failure, or an error whose text is the message
  package var parse: @Sendable (String) throws -> Value?

  package init(
    placeholder: String, expected: String, file: FileUse? = nil, choices: [String] = [],
    isSecret: Bool = false,
    parse: @escaping @Sendable (String) throws -> Value?
  ) {
    self.placeholder = placeholder
    self.expected = expected
    self.file = file
    self.choices = choices
    self.isSecret = isSecret
    self.parse = parse
  }

  /// Reads the value of the option with this name.
  package func value(_ text: String, of name: String) throws(Failure) -> Value {
    do {
      if let value = try parse(text) { return value }
    } catch {
      throw error as? Failure ?? .usage("\(error)")
    }
    throw .usage("\(name) wants \(expected)" + (isSecret ? "" : ", not \"\(text.printable)\""))
  }

  /// One of several names.
  package static func choice(_ placeholder: String, _ choices: [(name: String, value: Value)]) -> Self {
    let names = choices.map(\.name)
    return ArgumentType(placeholder: placeholder, expected: names.joined(separator: ", "), choices: names) {
      text in
      choices.first { $0.name == text }?.value
    }
  }
}

extension ArgumentType where Value == Int {
  package static func integer(_ range: ClosedRange<Int>, unit: String = "N") -> Self {
    let limits =
      range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
    return ArgumentType(placeholder: unit, expected: "a whole number, \(limits)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// How many of something: 1 or more.
  package static var count: Self { integer(1 ... .max) }
}

extension ArgumentType where Value == Duration {
  /// The longest time, in seconds: 30 years.
  private static var longestTime: Double { 30 * 365 * 86_400 }

  /// `30s`, `500ms`, `2m`, `1h`, `30d`, or seconds without a unit.
  package static var time: Self {
    ArgumentType(placeholder: "TIME", expected: "a time such as 30s, 500ms, 2m or 30d") { text in
      let units: [(String, Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
      ]
      guard let unit = units.first(where: { text.hasSuffix($0.0) }),
        let number = Double(text.dropLast(unit.0.count)), (0...longestTime).contains(number * unit.1)
      else { return nil }
      return .nanoseconds(Int64(number * unit.1 * 1e9))
    }
  }

  /// A duration; 0 is no limit, which is ``Duration/forever``.
  package static var timeLimit: Self {
    ArgumentType(placeholder: "TIME", expected: time.expected + "; 0 is no limit") { text in
      try time.parse(text).map { $0 == .zero ? .forever : $0 }
    }
  }

  /// A time, or `forever`.
  package static var timeOrForever: Self {
    ArgumentType(placeholder: "TIME", expected: time.expected + ", or forever") { text in
      text == "forever" ? .forever : try time.parse(text)
    }
  }
}

extension Duration {
  /// The time of a limit; nil for none.
  package var ifLimited: Duration? { self < .forever ? self : nil }

  /// `for 60 s`, or `until Ctrl-C`.
  package var asLimit: String { self > .forever / 2 ? "until Ctrl-C" : "for \(Int(inSeconds)) s" }
}

extension ArgumentType where Value == String {
  package static var text: Self {
    ArgumentType(placeholder: "TEXT", expected: "text") { $0 }
  }

  /// The path of a file, or `-` for a standard stream.
  package static func file(_ use: FileUse) -> Self {
    ArgumentType(placeholder: "FILE", expected: "a path", file: use) { $0 }
  }
}

extension ArgumentType {
  /// Values with commas between them.
  package static func list<Element: Sendable>(of type: ArgumentType<Element>) -> Self
  where Value == [Element] {
    ArgumentType(
      placeholder: "\(type.placeholder),...", expected: "\(type.expected), or a list of them",
      isSecret: type.isSecret
    ) { text in
      var values: [Element] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let value = try type.parse(String(part)) else { return nil }
        values.append(value)
      }
      return values
    }
  }
}
