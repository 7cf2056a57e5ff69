/// A command that starts something which goes on: frames of the same command come until it is stopped.
public struct Stream<Request: FrameRecord, Update: FrameRecord>: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry

  init(
    _ command: RingCommand, _ name: String, _ purpose: String, families: Set<RingFamily> = .every,
    source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .measurements, shape: .stream,
      requests: [FrameForm("request", Request.fields.map(\.field))],
      replies: [FrameForm("update", Update.fields.map(\.field))], families: families, source: source)
  }

  public func request(_ request: Request) -> RingFrame {
    RingFrame(command) { request.store(in: &$0) }
  }

  /// Reads a frame of the ring.
  public func update(_ frame: RingFrame) throws(RingFrameError) -> Update {
    guard frame.command == command else { throw .unexpected(frame.command) }
    return try Update(parsing: frame)
  }

  /// The frame that a ring sends.
  public func frame(_ update: Update) -> RingFrame {
    RingFrame(command) { update.store(in: &$0) }
  }
}
