/// A setting: one command with a form that reads and one that writes.
public struct Setting<Value: FrameRecord>: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry
  /// What follows the command's byte when it is read, and in the answer to that.
  let readPrefix: [UInt8]
  /// What follows it when it is written, and in the acknowledgement.
  let writePrefix: [UInt8]
  public let isToldBack: Bool

  /// - Parameter isToldBack: see ``RingSetting/isToldBack``
  init(
    _ command: RingCommand, read: [UInt8] = [1], write: [UInt8] = [2], _ name: String, _ purpose: String,
    isToldBack: Bool = true, families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    readPrefix = read
    writePrefix = write
    self.isToldBack = isToldBack
    let fields = Value.fields.map(\.field)
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .settings, shape: .single,
      requests: [
        FrameForm("read", startingWith: read), FrameForm("write", startingWith: write, fields),
      ],
      replies: [
        FrameForm("value", startingWith: read, fields), FrameForm("written", startingWith: write),
      ],
      families: families, source: source)
  }

  public var readRequest: RingFrame { RingFrame(command) { $0.store(readPrefix, at: 1) } }

  public func writeRequest(_ value: Value) -> RingFrame { frame(writePrefix, value) }

  /// Reads the answer to ``readRequest``.
  public func value(_ frame: RingFrame) throws(RingFrameError) -> Value {
    guard isReadReply(frame) else { throw .unexpected(frame.command) }
    return try Value(parsing: frame)
  }

  /// What a ring answers to ``readRequest``.
  public func reply(_ value: Value) -> RingFrame { frame(readPrefix, value) }

  public func isReadReply(_ frame: RingFrame) -> Bool {
    frame.command == command && starts(frame, readPrefix)
  }

  public func isWriteReply(_ frame: RingFrame) -> Bool {
    frame.command == command && starts(frame, writePrefix)
  }

  private func starts(_ frame: RingFrame, _ prefix: [UInt8]) -> Bool {
    prefix.enumerated().allSatisfy { frame.byte(at: $0.offset + 1) == $0.element }
  }

  private func frame(_ prefix: [UInt8], _ value: Value) -> RingFrame {
    RingFrame(command) {
      $0.store(prefix, at: 1)
      value.store(in: &$0)
    }
  }
}
