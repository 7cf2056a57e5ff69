/// A setting in one frame: a command with a form that reads and one that writes. Its fields are all that is known of it:
/// its values are numbers by the names of the fields, where flags are 0 and 1.
package struct RingSetting: CommandRow {
  package let command: RingCommand
  package let entry: CommandEntry
  /// The fields that can be set.
  package let fields: [FrameField]
  /// False for settings that most rings accept but do not report: if all fields read as zero, the answer has no
  /// information.
  package let isReadable: Bool
  private let readForm: FrameForm
  private let writeForm: FrameForm
  private let valueForm: FrameForm
  private let writtenForm: FrameForm

  /// - Parameters:
  ///   - read: the bytes behind that of the command when it is read, and in the answer to that
  ///   - write: the bytes behind it when it is written, and in the acknowledgement
  ///   - isReadable: see the property
  init(
    _ command: RingCommand, read: [UInt8] = [1], write: [UInt8] = [2], _ name: String, _ purpose: String,
    isReadable: Bool = true, families: Set<RingFamily> = .every, source: String, _ fields: [FrameField]
  ) {
    self.command = command
    self.fields = fields
    self.isReadable = isReadable
    readForm = FrameForm("read", startingWith: read)
    writeForm = FrameForm("write", startingWith: write, fields)
    valueForm = FrameForm("value", startingWith: read, fields)
    writtenForm = FrameForm("written", startingWith: write)
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .settings, shape: .single,
      requests: [readForm, writeForm], replies: [valueForm, writtenForm], families: families, source: source)
  }

  /// The usual values of its fields.
  package var defaults: [String: Int] {
    Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.usual) })
  }

  package var readRequest: RingFrame { frame(readForm) }

  /// - Parameter numbers: by the fields' names; those that are missing are zero
  package func writeRequest(_ numbers: [String: Int]) throws(RingFrameError) -> RingFrame {
    for field in fields where !field.isFlag {
      let number = numbers[field.name] ?? 0
      guard field.form.numbers.contains(number) else { throw .value("\(field.name) can't be \(number)") }
    }
    return frame(writeForm, numbers)
  }

  package func isReadReply(_ frame: RingFrame) -> Bool {
    frame.command == command && valueForm.matches(frame)
  }

  package func isWriteReply(_ frame: RingFrame) -> Bool {
    frame.command == command && writtenForm.matches(frame)
  }

  /// The values of the fields in a frame that reports or writes the setting.
  package func numbers(in frame: RingFrame) throws(RingFrameError) -> [String: Int] {
    guard frame.command == command else { throw .unexpected(frame.command) }
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.form.read(frame, at: $0.offset)) })
  }

  /// The ring's acknowledgement of a write.
  package var acknowledgement: RingFrame { frame(writtenForm) }

  /// The frame that a ring reports after this write.
  package func reply(afterWrite frame: RingFrame) throws(RingFrameError) -> RingFrame {
    guard isWriteReply(frame) else { throw .unexpected(frame.command) }
    return self.frame(valueForm, try numbers(in: frame))
  }

  /// The frame that a ring reports which has the usual values but for these.
  package func reply(_ numbers: [String: Int] = [:]) -> RingFrame {
    frame(valueForm, defaults.merging(numbers) { $1 })
  }

  private func frame(_ form: FrameForm, _ numbers: [String: Int] = [:]) -> RingFrame {
    RingFrame(command, form) { frame in
      for field in form.fields { field.form.write(numbers[field.name] ?? 0, into: &frame, at: field.offset) }
    }
  }

  /// The field with a name.
  package func field(_ name: String) throws(SettingError) -> FrameField {
    guard let field = fields.first(where: { $0.name == name }) else {
      throw .unknownField(name, setting: entry.name, has: fields.map(\.name))
    }
    return field
  }

  /// Whether these numbers of a ring carry information; see ``isReadable``.
  package func isReported(_ numbers: [String: Int]) -> Bool {
    isReadable || numbers.values.contains { $0 != 0 }
  }

  /// The fields that the ring has not reported: it may have another value there.
  package func untold(_ read: [String: Int]) -> [FrameField] {
    fields.filter { field in
      guard !field.isFlag, let number = read[field.name] else { return false }
      return !isReported(read) || !field.isReported(number)
    }
  }

  /// Returns the values to write that apply `changes` and leave the other fields unchanged.
  ///
  /// Rings leave out fields that they do not support. An answer of only zeros, and a number that is not one of the ring's own
  /// for its field, mean the default; but a field that is left out of a setting that most rings do not report at all has to be
  /// given.
  ///
  /// - Parameters:
  ///   - changes: by the fields' names
  ///   - read: the values read from the ring
  /// - Throws: `.incomplete` if there is no default, `.value` or `.unknownField` if a change is invalid
  package func applying(
    _ changes: [String: Int], to read: [String: Int]
  ) throws(SettingError) -> [String: Int] {
    for (name, number) in changes.sorted(by: { $0.key < $1.key }) {
      let field = try field(name)
      guard field.settable.contains(number) else { throw .value(String(number), field) }
    }
    let isSilent = read.values.allSatisfy { $0 == 0 }
    let usual = isSilent || isReadable ? defaults : [:]
    var result: [String: Int] = [:]
    var missing: [String] = []
    for field in fields {
      let current = isSilent ? nil : read[field.name].flatMap { field.believed.contains($0) ? $0 : nil }
      guard let number = changes[field.name] ?? current ?? usual[field.name],
        field.settable.contains(number) || number == current
      else {
        missing.append(field.name)
        continue
      }
      result[field.name] = number
    }
    guard missing.isEmpty else { throw .incomplete(setting: entry.name, missing: missing) }
    return result
  }
}

/// Why a setting cannot have the requested value.
package enum SettingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The setting has no such field; the fields that it has.
  case unknownField(String, setting: String, has: [String])
  /// The value is invalid for the field.
  case value(String, FrameField)
  /// These fields are required, too: the ring does not report them, and a setting is written as a whole.
  case incomplete(setting: String, missing: [String])

  package var description: String {
    switch self {
    case .unknownField(let name, let setting, let fields):
      "\(setting) has no field \"\(name)\"; it has \(fields.joined(separator: ", "))"
    case .value(let text, let field): "\(field.name) can be \(field.choices), not \"\(text)\""
    case .incomplete(let setting, let missing):
      "to write \(setting), \(missing.joined(separator: ", ")) must be given, too: a setting is written as a whole, "
        + "and the ring does not tell what it has"
    }
  }
}

/// The text form of a field's number.
extension FrameField {
  /// Whether its values are yes and no.
  package var isFlag: Bool {
    switch form {
    case .flag, .bit: true
    default: false
    }
  }

  /// Whether a ring that reports other fields of the setting reports this one: else it leaves it out.
  package func isReported(_ number: Int) -> Bool { believed.contains(number) }

  /// The number for a text: `on` or `off`, a symbol of the field, a number with or without the field's unit.
  package func number(from text: String) throws(SettingError) -> Int {
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

  /// `on`, `left`, `5`: the text that ``number(from:)`` reads.
  package func text(of number: Int) -> String {
    isFlag ? (number == 0 ? "off" : "on") : words[number] ?? String(number)
  }

  /// A description of the valid values.
  var choices: String {
    if isFlag { return "on or off" }
    let named = words.sorted { $0.key < $1.key }.filter { settable.contains($0.key) }.map(\.value)
    if named.count == settable.count { return named.joined(separator: ", ") }
    let numbers = "\(settable.lowerBound) to \(settable.upperBound)\(unit.map { " " + $0.rawValue } ?? "")"
    return (named + [numbers]).joined(separator: ", ")
  }
}
