/// A command that is not answered, or answered with its echo, which says nothing.
public struct Action: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry
  /// The one frame that does it.
  public let frame: RingFrame

  init(
    _ command: RingCommand, startingWith bytes: [UInt8] = [], _ name: String, _ purpose: String,
    echoes: Bool = false,
    families: Set<RingFamily> = .every, source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), prefix: bytes, name: name, purpose: purpose, group: .actions,
      shape: echoes ? .single : .none, requests: [FrameForm("request", startingWith: bytes)],
      replies: echoes ? [FrameForm("echo")] : [], families: families, source: source)
    frame = RingFrame(command) { $0.store(bytes, at: 1) }
  }
}
