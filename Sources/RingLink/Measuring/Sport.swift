import HaloBluetoothCore

/// Begins, pauses or ends a sport session (ring reference, 4.14).
package struct SportControl: FrameRecord {
  /// 1 start, 2 pause, 3 resume, 4 end.
  package var action: UInt8 = 1
  public var sport = Sport.walk

  package init(_ action: UInt8, _ sport: Sport) {
    self.action = action
    self.sport = sport
  }

  /// The values of ``action``.
  package static let startAction: UInt8 = 1
  package static let pauseAction: UInt8 = 2
  package static let resumeAction: UInt8 = 3
  package static let endAction: UInt8 = 4

  package static let fields: Fields = Fields(Self(startAction, .walk)) {
    RecordField("action", \.action, at: 1, words: [1: "start", 2: "pause", 3: "resume", 4: "end"])
    RecordField("sport", \.sport, at: 2, words: Sport.names).only(.sdk, words: Sport.uncaptured)
  }
}

/// The ring's answer: it says whether a session runs, and when it began. Other firmware repeats the request.
package struct SportReply: FrameRecord {
  /// 1 if a session has begun, 0 if it is paused or over; with 6, the answer has the start, too.
  package var action: UInt8 = 0
  /// When the session began, in the ring's wall clock, since 1970 as if that were UTC; 0 if the answer does not say it.
  package var seconds: UInt32 = 0

  package static let fields: Fields = Fields(Self()) {
    action
    start
  }

  private static let action = RecordField<Self>(
    "action", \.action, at: 1, words: [0: "paused or over", 1: "begun"])
  private static let start = RecordField<Self>("start", \.seconds, at: 3, .uint32LittleEndian, .seconds)

  /// The forms of the answer, by their first bytes.
  static let forms = [
    FrameForm("reply", startingWith: [1, 0], Self.self),
    FrameForm("reply", startingWith: [0], [action.field]),
    FrameForm("start time", startingWith: [6], [start.field]), FrameForm("echo", SportControl.self),
  ]
}

/// The data that a ring sends each second of a sport session (ring reference, 4.14).
public struct SportUpdate: FrameRecord {
  public var sport = Sport(rawValue: 0)
  /// 1 running, 2 paused, 3 not worn; other values are not known.
  public var status: UInt8 = 1
  /// The duration of the session, in seconds.
  public var seconds: UInt16 = 0
  /// The heart rate, in beats per minute.
  public var beatsPerMinute: UInt8 = 0
  /// The steps of the session.
  public var steps: UInt32 = 0
  /// The distance of the session, in meters.
  public var meters: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0

  public init() {}

  /// Values of ``status``.
  public static let running: UInt8 = 1
  public static let paused: UInt8 = 2

  private static let statuses = [Int(running): "running", Int(paused): "paused", 3: "not worn"]

  /// The ``status`` in words: `paused`; nil while the session runs.
  public var interruption: String? {
    status == Self.running ? nil : Self.statuses[Int(status)] ?? "status \(status)"
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("sport", \.sport, at: 1, words: Sport.names).only(.sdk, words: Sport.uncaptured)
    RecordField("status", \.status, at: 2, words: statuses).only(.sdk, words: [3])
    RecordField("duration", \.seconds, at: 3, .uint16BigEndian, .seconds)
    RecordField("heart-rate", \.beatsPerMinute, at: 5, .uint8, .beatsPerMinute)
    RecordField("steps", \.steps, at: 6, .uint24BigEndian, .steps)
    RecordField("distance", \.meters, at: 9, .uint24BigEndian, .meters)
    RecordField("calories", \.calories, at: 12, .uint24BigEndian, .calories)
  }
}
