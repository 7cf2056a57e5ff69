/// A command that is answered with several frames: a history of one day.
public struct Log<Assembler: LogAssembler>: Sendable {
  public let command: RingCommand
  public let entry: CommandEntry

  init(
    _ command: RingCommand, _ name: String, _ purpose: String, families: Set<RingFamily> = .every,
    source: String
  ) {
    self.command = command
    entry = CommandEntry(
      subject: .frame(command), name: name, purpose: purpose, group: .history, shape: .multiFrame,
      requests: [
        FrameForm(
          "request", startingWith: Assembler.requestPrefix, Assembler.Request.fields.map(\.field))
      ],
      replies: Assembler.forms, families: families, source: source)
  }

  public func request(_ request: Assembler.Request) -> RingFrame {
    RingFrame(command) {
      $0.store(Assembler.requestPrefix, at: 1)
      request.store(in: &$0)
    }
  }
}

/// Puts the frames of one answer together. Frames may be lost, come twice or in another order: what is missing is
/// noticed, the rest does no harm.
public protocol LogAssembler: Sendable {
  associatedtype Request: FrameRecord
  associatedtype Contents: Sendable

  /// What follows the command's byte in every request.
  static var requestPrefix: [UInt8] { get }
  /// The forms of the frames.
  static var forms: [FrameForm] { get }

  /// - Parameter request: what was asked for
  init(_ request: Request)

  /// Takes a frame of this command.
  mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<Contents>

  /// What a ring answers that has `contents` stored.
  static func frames(
    of contents: Contents, command: RingCommand, to request: Request
  ) -> [RingFrame]
}

extension LogAssembler {
  public static var requestPrefix: [UInt8] { [] }
}

/// How far a log has come.
public enum LogProgress<Contents: Sendable>: Sendable {
  /// So many frames of so many; `of` is nil while the ring has not told.
  case incomplete(received: Int, of: Int?)
  /// The last frame is here, and others are missing.
  case gaps([Int])
  case complete(Contents)
}
