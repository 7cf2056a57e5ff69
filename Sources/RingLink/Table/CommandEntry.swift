/// A row of the command table: all that is known of one command, whatever its types.
public struct CommandEntry: Hashable, Sendable {
  /// Where it travels: in frames of 16 bytes, or in bulk frames.
  public enum Subject: Hashable, Sendable {
    case frame(RingCommand)
    case bulk(BulkID)
  }

  /// How it is answered.
  public enum ReplyShape: String, Hashable, Sendable {
    case none
    case single
    case multiFrame = "multi-frame"
    /// Frames come until it is ended.
    case stream
    case bulk
    /// Nobody asks: the ring tells of its own accord.
    case event
  }

  public enum Group: String, Hashable, Sendable, CaseIterable {
    case device = "Device"
    case measurements = "Measurements"
    case history = "History"
    case settings = "Settings"
    case actions = "Actions"
    case rawStream = "Raw stream"
    case events = "What the ring tells by itself"
    case blocked = "Never sent"
  }

  public var subject: Subject
  /// What follows the command's byte, where several entries share it.
  public var prefix: [UInt8] = []
  /// `battery`
  public var name: String
  /// What it is for, as a sentence.
  public var purpose: String
  public var group: Group
  public var shape: ReplyShape
  public var requests: [FrameForm] = []
  public var replies: [FrameForm] = []
  /// Rings that are known to answer; others refuse, or stay silent.
  public var families: Set<RingFamily> = .every
  /// Where this is known from: a section of the ring reference.
  public var source: String
  /// Why it is never sent, whoever asks; nil if it may be.
  public var danger: String?
}

extension Set<RingFamily> {
  public static var every: Self { Set(RingFamily.allCases) }
  /// The old ones lack it.
  public static var newer: Self { [.ry, .rt, .rt11cr] }
}

extension CommandEntry.Subject: CustomStringConvertible {
  public var description: String {
    switch self {
    case .frame(let command): command.description
    case .bulk(let id): id.description
    }
  }
}
