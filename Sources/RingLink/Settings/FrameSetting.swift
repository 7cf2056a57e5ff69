/// A setting of any type: for code that shows, saves and restores all settings alike.
package protocol RingSetting: CommandRow {
  var command: RingCommand { get }
  var readRequest: RingFrame { get }
  /// The fields that can be set.
  var fields: [FrameField] { get }
  /// False for settings that most rings accept but do not report: if all fields read as zero, the answer has no
  /// information.
  var isToldBack: Bool { get }
  /// The default values of its fields.
  var defaults: [String: Int] { get }
  func isReadReply(_ frame: RingFrame) -> Bool
  func isWriteReply(_ frame: RingFrame) -> Bool
  /// The values of the fields in a frame that reports or writes the setting; flags are 0 and 1.
  func numbers(in frame: RingFrame) throws(RingFrameError) -> [String: Int]
  /// - Parameter numbers: by the fields' names; those that are missing are zero
  func writeRequest(_ numbers: [String: Int]) throws(RingFrameError) -> RingFrame
  /// The frame that a ring reports after this write.
  func reply(afterWrite frame: RingFrame) throws(RingFrameError) -> RingFrame
  /// The ring's acknowledgement of a write.
  var acknowledgement: RingFrame { get }
}

extension FrameSetting: RingSetting {
  package var fields: [FrameField] { Value.fields.map(\.field) }

  package var defaults: [String: Int] { numbers(of: Value()) }

  package func numbers(in frame: RingFrame) throws(RingFrameError) -> [String: Int] {
    guard frame.command == command else { throw .unexpected(frame.command) }
    return numbers(of: try Value(parsing: frame))
  }

  func numbers(of value: Value) -> [String: Int] {
    var numbers: [String: Int] = [:]
    for field in Value.fields {
      if case .number(let get, _) = field.access { numbers[field.field.name] = get(value) }
    }
    return numbers
  }

  func value(of numbers: [String: Int]) throws(RingFrameError) -> Value {
    var value = Value()
    for field in Value.fields {
      if case .number(_, let set) = field.access { try set(&value, numbers[field.field.name] ?? 0) }
    }
    return value
  }

  package func writeRequest(_ numbers: [String: Int]) throws(RingFrameError) -> RingFrame {
    writeRequest(try value(of: numbers))
  }

  package func reply(afterWrite frame: RingFrame) throws(RingFrameError) -> RingFrame {
    guard isWriteReply(frame) else { throw .unexpected(frame.command) }
    return reply(try Value(parsing: frame))
  }
}

/// A setting whose value is in one frame: a command with a form that reads and one that writes.
package struct FrameSetting<Value: FrameRecord>: Sendable {
  package let command: RingCommand
  package let entry: CommandEntry
  package let isToldBack: Bool
  private let readForm: FrameForm
  private let writeForm: FrameForm
  private let valueForm: FrameForm
  private let writtenForm: FrameForm

  /// - Parameters:
  ///   - read: what follows the command's byte when it is read, and in the answer to that
  ///   - write: what follows it when it is written, and in the acknowledgement
  ///   - isToldBack: see ``RingSetting/isToldBack``
  init(
    _ command: RingCommand, read: [UInt8] = [1], write: [UInt8] = [2], _ name: String, _ purpose: String,
    isToldBack: Bool = true, families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    self.isToldBack = isToldBack
    readForm = FrameForm("read", startingWith: read)
    writeForm = FrameForm("write", startingWith: write, Value.self)
    valueForm = FrameForm("value", startingWith: read, Value.self)
    writtenForm = FrameForm("written", startingWith: write)
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .settings, shape: .single,
      requests: [readForm, writeForm], replies: [valueForm, writtenForm], families: families, source: source)
  }

  package var readRequest: RingFrame { RingFrame(command, NoFields(), form: readForm) }

  package var acknowledgement: RingFrame { RingFrame(command, NoFields(), form: writtenForm) }

  package func writeRequest(_ value: Value) -> RingFrame { RingFrame(command, value, form: writeForm) }

  /// Reads the answer to ``readRequest``.
  package func value(_ frame: RingFrame) throws(RingFrameError) -> Value {
    guard isReadReply(frame) else { throw .unexpected(frame.command) }
    return try Value(parsing: frame)
  }

  /// The ring's answer to ``readRequest``.
  package func reply(_ value: Value) -> RingFrame { RingFrame(command, value, form: valueForm) }

  package func isReadReply(_ frame: RingFrame) -> Bool {
    frame.command == command && valueForm.matches(frame)
  }

  package func isWriteReply(_ frame: RingFrame) -> Bool {
    frame.command == command && writtenForm.matches(frame)
  }
}
