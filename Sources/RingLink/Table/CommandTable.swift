import BluetoothCore

/// Everything that a ring understands and says, one entry each. Encoders, decoders, the virtual ring, explanations and
/// the reference page are made of it; a new command is a new entry.
public enum CommandTable {
  /// All entries, in the order of the reference page.
  public static let all: [CommandEntry] =
    device + measurements + history + settings.map(\.entry) + actions.map(\.entry) + [rawStream] + events
    + blocked

  private static let bySubject = Dictionary(grouping: all, by: \.subject)

  /// The entries that share a first byte or a bulk id.
  public static func entries(for subject: CommandEntry.Subject) -> [CommandEntry] { bySubject[subject] ?? [] }

  /// The entry that a frame belongs to.
  ///
  /// - Parameter isFromRing: requests and answers can be the same to the byte; only the direction tells them apart
  public static func entry(of frame: RingFrame, isFromRing: Bool) -> CommandEntry? {
    let candidates = entries(for: .frame(frame.command))
    return candidates.first { entry in
      (isFromRing ? entry.replies : entry.requests).contains { $0.matches(frame) }
    } ?? candidates.first
  }
}
