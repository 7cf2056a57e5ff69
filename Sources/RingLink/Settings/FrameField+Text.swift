import BluetoothCore

/// What people write and read for a field's number.
extension FrameField {
  /// Whether it is yes or no.
  public var isFlag: Bool {
    switch form {
    case .flag, .bit: true
    default: false
    }
  }

  /// The number that a text means: `on` or `off`, a word of the field, a number with or without the field's unit.
  public func number(from text: String) throws(SettingError) -> Int {
    let number: Int?
    if isFlag {
      number = ["on": 1, "true": 1, "off": 0, "false": 0][text]
    } else if let word = words.first(where: { $0.value == text }) {
      number = word.key
    } else {
      number = Int(withoutUnit(text))
    }
    guard let number, settable.contains(number) else { throw .value(text.printable, self) }
    return number
  }

  private func withoutUnit(_ text: String) -> String {
    guard let unit, text.hasSuffix(unit.rawValue) else { return text }
    let number = text.dropLast(unit.rawValue.count)
    return String(number.hasSuffix(" ") ? number.dropLast() : number)
  }

  /// `on`, `left`, `5`: what ``number(from:)`` reads.
  public func text(of number: Int) -> String {
    isFlag ? (number == 0 ? "off" : "on") : words[number] ?? String(number)
  }

  /// What it can be, in words.
  var choices: String {
    if isFlag { return "on or off" }
    let named = words.sorted { $0.key < $1.key }.filter { settable.contains($0.key) }.map(\.value)
    if named.count == settable.count { return named.joined(separator: ", ") }
    let numbers =
      "\(settable.lowerBound) to \(settable.upperBound)\(unit.map { " " + $0.rawValue } ?? "")"
    return (named + [numbers]).joined(separator: ", ")
  }
}
