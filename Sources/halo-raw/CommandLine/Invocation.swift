import ATT
import BluetoothCore
import EventLoop

/// What a command was called with.
struct Invocation: Sendable {
  var positionals: [String] = []
  private var values: [String: String] = [:]
  private var switches: Set<String> = []

  /// Reads a command line.
  /// - Throws: a usage failure with one helpful line
  init(parsing words: [String], for command: CommandSpec) throws(Failure) {
    let options =
      command.options + (command.usesAdapter ? CommonOptions.adapter : []) + CommonOptions.always
    var rest = words[...]
    var onlyPositionals = false
    while let word = rest.popFirst() {
      if onlyPositionals || !word.hasPrefix("-") || word == "-" {
        positionals.append(word)
        if command.wrapsCommand {
          positionals += rest
          break
        }
        continue
      }
      if word == "--" {
        onlyPositionals = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard let option = options.first(where: { $0.names.contains(name) }) else {
        throw .usage(
          "\(command.name) has no option \(name.printable)"
            + Self.suggestion(for: name, among: options.flatMap(\.names))
            + "; see halo-raw \(command.name) --help")
      }
      guard let valueName = option.value else {
        guard parts.count == 1 else { throw .usage("\(name) takes no value") }
        switches.insert(option.key)
        continue
      }
      if option.isValueOptional, parts.count == 1 {
        switches.insert(option.key)
        continue
      }
      guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
        throw .usage("\(name) wants a value: \(name) \(valueName)")
      }
      values[option.key] = value
    }
    guard !has("--help") else { return }
    if positionals.count > command.positionals.upperBound, !command.wrapsCommand {
      throw .usage(
        "\(command.name) does not know what to do with \"\(positionals[command.positionals.upperBound].printable)\"; usage: halo-raw \(command.name) \(command.arguments)"
      )
    }
    if positionals.count < command.positionals.lowerBound {
      throw .usage("usage: halo-raw \(command.name) \(command.arguments) [options]")
    }
  }

  /// `; did you mean --count?`, if one of the names is near.
  static func suggestion(for word: String, among names: [String]) -> String {
    let near = names.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    guard let near, near.1 <= 2, near.1 < word.count - 1 else { return "" }
    return "; did you mean \(near.0)?"
  }

  /// How many letters have to be changed, added or removed to make one word of the other.
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

  // MARK: Values

  func has(_ key: String) -> Bool { switches.contains(key) }

  func text(_ key: String) -> String? { values[key] }

  /// Whether it is there, with a value or without.
  func isGiven(_ key: String) -> Bool { has(key) || text(key) != nil }

  /// Takes a value of the option as if it had not been given.
  mutating func setDefault(_ key: String, _ value: String) {
    if values[key] == nil { values[key] = value }
  }

  private func wrong(_ key: String, _ wanted: String, _ text: String) -> Failure {
    .usage("\(key) wants \(wanted), not \"\(text.printable)\"")
  }

  /// A whole number.
  func integer(_ key: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
    guard let text = values[key] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let limits =
        range.upperBound == .max
        ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
      throw wrong(key, "a whole number, \(limits)", text)
    }
    return number
  }

  /// A time: `30s`, `500ms`, `2m`, `1h`, or seconds without a unit.
  func duration(_ key: String) throws(Failure) -> Duration? {
    guard let text = values[key] else { return nil }
    let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
    guard let unit = units.first(where: { text.hasSuffix($0.0) }),
      let number = Double(text.dropLast(unit.0.count)), (0...1e7).contains(number * unit.1)
    else { throw wrong(key, "a time such as 30s, 500ms or 2m", text) }
    return .nanoseconds(Int64(number * unit.1 * 1e9))
  }

  func uuid(_ key: String) throws(Failure) -> BluetoothUUID? {
    guard let text = values[key] else { return nil }
    guard let uuid = BluetoothUUID(text) else {
      throw wrong(
        key, "a UUID of 4, 8 or 32 digits such as 180A or 6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E", text)
    }
    return uuid
  }

  /// An attribute handle, decimal or hexadecimal (`0x0012`).
  func handle(_ key: String) throws(Failure) -> AttributeHandle? {
    guard let text = values[key] else { return nil }
    let number = text.lowercased().hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
    guard let number, number > 0 else { throw wrong(key, "a handle from 1 to 65535 (0xffff)", text) }
    return AttributeHandle(number)
  }

  /// One of several words.
  func choice<Value>(_ key: String, _ choices: [(String, Value)]) throws(Failure) -> Value? {
    guard let text = values[key] else { return nil }
    guard let choice = choices.first(where: { $0.0 == text }) else {
      throw wrong(key, choices.map(\.0).joined(separator: ", "), text)
    }
    return choice.1
  }
}
