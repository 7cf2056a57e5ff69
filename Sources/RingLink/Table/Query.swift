/// A command that is answered with one frame.
public struct Query<Request: FrameRecord, Reply: FrameRecord>: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry

  init(
    _ command: RingCommand, _ name: String, _ purpose: String, _ group: CommandEntry.Group,
    families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: group, shape: .single,
      requests: [FrameForm("request", Request.fields.map(\.field))],
      replies: [FrameForm("reply", Reply.fields.map(\.field))], families: families, source: source)
  }

  public func request(_ request: Request = .init()) -> RingFrame {
    RingFrame(command) { request.store(in: &$0) }
  }

  /// Reads what a ring answered.
  public func reply(_ frame: RingFrame) throws(RingFrameError) -> Reply {
    guard frame.command == command else { throw .unexpected(frame.command) }
    return try Reply(parsing: frame)
  }

  /// What a ring answers.
  public func frame(of reply: Reply) -> RingFrame {
    RingFrame(command) { reply.store(in: &$0) }
  }
}
