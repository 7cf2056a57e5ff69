/// The kinds of stored data.
public enum HistoryKind: String, Hashable, Sendable, CaseIterable {
  case steps
  case heartRate = "heart-rate"
  case oxygen = "spo2"
  /// Each value, where ``oxygen`` has hours.
  case oxygenValues = "spo2-values"
  case sleep
  case stress
  case variability = "hrv"
  case temperature
  /// Sessions of sport.
  case sport
  /// Times of sitting, as bytes.
  case sedentary

  /// Firmware is known to invent these where the sensor has no result (ring reference, 4.9).
  public var isEstimate: Bool { self == .stress || self == .variability }
}

/// The progress of reading a history.
package struct HistoryProgress: Hashable, Sendable {
  package var kind: HistoryKind
  /// The day being read; nil for data that is sent in one piece.
  package var day: RingDay?
  /// Answers that are complete.
  package var completed: Int
  /// The number of requested answers.
  package var total: Int
  /// The received part of the current answer: frames, or bytes if it is sent in one piece.
  package var received: Int
  /// The expected number; nil if the ring has not reported it.
  package var expected: Int?
}

/// The stored data of one kind, in the order of time.
public enum HistoryRecords: Hashable, Sendable {
  case steps([ActivityReading])
  case heartRate([HeartRateReading])
  case oxygen([OxygenReading])
  case oxygenValues([OxygenValue])
  case sleep([SleepSession])
  /// See ``HistoryKind/isEstimate``.
  case stress([EstimateReading])
  /// See ``HistoryKind/isEstimate``. In milliseconds.
  case variability([EstimateReading])
  case temperature([TemperatureReading])
  case sport([StoredSport])
  case sedentary([SedentaryDay])

  public var kind: HistoryKind { contents.kind }

  public var count: Int { contents.count }

  private var contents: (kind: HistoryKind, count: Int) {
    switch self {
    case .steps(let records): (.steps, records.count)
    case .heartRate(let records): (.heartRate, records.count)
    case .oxygen(let records): (.oxygen, records.count)
    case .oxygenValues(let records): (.oxygenValues, records.count)
    case .sleep(let records): (.sleep, records.count)
    case .stress(let records): (.stress, records.count)
    case .variability(let records): (.variability, records.count)
    case .temperature(let records): (.temperature, records.count)
    case .sport(let records): (.sport, records.count)
    case .sedentary(let records): (.sedentary, records.count)
    }
  }
}

/// A heart rate that the ring has stored.
public struct HeartRateReading: Hashable, Sendable {
  public var time: RingTime
  /// In beats per minute.
  public var beatsPerMinute: Int
  /// Whether it was measured on request; otherwise it is an automatic measurement.
  public var isManual: Bool

  public init(time: RingTime, beatsPerMinute: Int, isManual: Bool) {
    self.time = time
    self.beatsPerMinute = beatsPerMinute
    self.isManual = isManual
  }
}

/// The oxygen saturation of an hour, in percent.
public struct OxygenReading: Hashable, Sendable {
  /// The beginning of the hour.
  public var time: RingTime
  /// In percent.
  public var minimum: Int
  /// In percent.
  public var maximum: Int

  public init(time: RingTime, minimum: Int, maximum: Int) {
    self.time = time
    self.minimum = minimum
    self.maximum = maximum
  }
}

/// An oxygen saturation, in percent.
public struct OxygenValue: Hashable, Sendable {
  public var time: RingTime
  public var percent: Int
  /// Whether it was measured on request; otherwise it is an automatic measurement.
  public var isManual: Bool

  public init(time: RingTime, percent: Int, isManual: Bool) {
    self.time = time
    self.percent = percent
    self.isManual = isManual
  }
}

/// A value of stress, 1 to 99, or of heart rate variability, in milliseconds. Firmware is known to invent them where
/// the sensor has no result (ring reference, 4.9).
public struct EstimateReading: Hashable, Sendable {
  public var time: RingTime
  /// 1 to 99 for stress, milliseconds for heart rate variability.
  public var value: Int

  public init(time: RingTime, value: Int) {
    self.time = time
    self.value = value
  }
}

/// A temperature of the skin.
public struct TemperatureReading: Hashable, Sendable {
  public var time: RingTime
  /// Hundredths of a degree Celsius.
  public var centidegrees: Int

  public init(time: RingTime, centidegrees: Int) {
    self.time = time
    self.centidegrees = centidegrees
  }

  /// The same in degrees Celsius.
  public var degreesCelsius: Double { Double(centidegrees) / 100 }
}

/// The activity in a part of a day.
public struct ActivityReading: Hashable, Sendable {
  /// The beginning of the part. Rings report quarters of an hour, and store hours.
  public var time: RingTime
  /// The steps in this part.
  public var steps: Int
  /// The distance in this part, in meters.
  public var meters: Int
  /// Small calories: 1000 make a kilocalorie.
  public var calories: Int

  public init(time: RingTime, steps: Int, meters: Int, calories: Int) {
    self.time = time
    self.steps = steps
    self.meters = meters
    self.calories = calories
  }
}

/// The times of sitting of a day.
public struct SedentaryDay: Hashable, Sendable {
  public var day: RingDay
  /// Pairs of a kind and a duration; their meaning is not known.
  public var bytes: [UInt8]

  public init(day: RingDay, bytes: [UInt8]) {
    self.day = day
    self.bytes = bytes
  }
}

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
