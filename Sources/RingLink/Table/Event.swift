/// What a ring tells of its own accord.
public struct Event<Value: FrameRecord>: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry
  private let form: FrameForm

  /// - Parameter prefix: what follows the command's byte, where several events share it
  init(
    _ command: RingCommand, startingWith prefix: [UInt8] = [], _ name: String, _ purpose: String,
    families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    form = FrameForm("event", startingWith: prefix, Value.fields.map(\.field))
    entry = CommandEntry(
      subject: .frame(command), prefix: prefix, name: name, purpose: purpose, group: .events, shape: .event,
      replies: [form], families: families, source: source)
  }

  /// Reads a frame of the ring.
  public func value(_ frame: RingFrame) throws(RingFrameError) -> Value {
    guard frame.command == command, form.matches(frame) else { throw .unexpected(frame.command) }
    return try Value(parsing: frame)
  }

  /// The frame that a ring sends.
  public func frame(_ value: Value) -> RingFrame {
    RingFrame(command) {
      $0.store(entry.prefix, at: 1)
      value.store(in: &$0)
    }
  }
}
