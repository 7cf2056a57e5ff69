/// A session of sport that a ring has stored. A number that the ring does not report is nil.
public struct StoredSport: Hashable, Sendable {
  /// When it began.
  public var time: RingTime
  public var sport: Sport
  /// The duration.
  public var seconds: Int?
  /// The distance.
  public var meters: Int?
  /// Small calories: 1000 make a kilocalorie.
  public var calories: Int?
  /// In beats per minute.
  public var averageRate: Int?
  public var minimumRate: Int?
  public var maximumRate: Int?
  public var steps: Int?
  /// From one of the ``heartRates`` to the next.
  public var sampleSeconds: Int?
  /// In beats per minute, 0 for none; empty if the ring has no course of the session.
  public var heartRates: [Int] = []
  /// The whole record, as the ring sent it: it may have more.
  public var bytes: [UInt8] = []

  public init(time: RingTime, sport: Sport) {
    self.time = time
    self.sport = sport
  }
}

/// A night or a nap.
public struct SleepSession: Hashable, Sendable {
  public var start: RingTime
  public var end: RingTime
  /// Whether it is a nap; otherwise it is a night.
  public var isNap: Bool
  /// In order; together they last from start to end, if the ring is consistent.
  public var stages: [SleepStage]

  public init(start: RingTime, end: RingTime, isNap: Bool, stages: [SleepStage]) {
    self.start = start
    self.end = end
    self.isNap = isNap
    self.stages = stages
  }

  /// Whether the stages last as long as the session.
  public var isConsistent: Bool { stages.reduce(0) { $0 + $1.minutes } * 60 == end.seconds - start.seconds }
}

/// A part of a night in which one slept the same way.
public struct SleepStage: Hashable, Sendable {
  public var kind: Kind
  /// The duration, in minutes.
  public var minutes: Int

  public init(_ kind: Kind, minutes: Int) {
    self.kind = kind
    self.minutes = minutes
  }

  /// The ring reference, 6.1.
  public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let light = Kind(rawValue: 2)
    public static let deep = Kind(rawValue: 3)
    public static let rem = Kind(rawValue: 4)
    public static let awake = Kind(rawValue: 5)

    public var description: String {
      switch self {
      case .light: "light"
      case .deep: "deep"
      case .rem: "REM"
      case .awake: "awake"
      default: "unknown \(rawValue)"
      }
    }
  }
}
