/// The measurements that a ring makes on request (ring reference, 4.9).
public struct MeasurementKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Heart rate once, in about 30 seconds.
  public static let heartRate = MeasurementKind(rawValue: 1)
  public static let bloodPressure = MeasurementKind(rawValue: 2)
  public static let oxygen = MeasurementKind(rawValue: 3)
  public static let fatigue = MeasurementKind(rawValue: 4)
  public static let oneKeyCheck = MeasurementKind(rawValue: 5)
  /// Continuous heart rate, while it is kept alive.
  public static let continuousHeartRate = MeasurementKind(rawValue: 6)
  public static let stress = MeasurementKind(rawValue: 8)
  public static let bloodSugar = MeasurementKind(rawValue: 9)
  public static let variability = MeasurementKind(rawValue: 10)
  public static let bodyTemperature = MeasurementKind(rawValue: 11)
  /// Several values at once: see ``CombinedMeasurement``.
  public static let combined = MeasurementKind(rawValue: 12)
  /// A stream of green light and acceleration, with a packet counter.
  public static let greenStream = MeasurementKind(rawValue: 13)
  /// A stream of red and infrared light and acceleration, with a packet counter.
  public static let redStream = MeasurementKind(rawValue: 14)
  public static let temperatures = MeasurementKind(rawValue: 15)

  static let words = [
    1: "heart rate", 2: "blood pressure", 3: "SpO2", 4: "fatigue", 5: "one-key check",
    6: "continuous heart rate", 7: "ECG", 8: "stress", 9: "blood sugar", 10: "HRV", 11: "body temperature",
    12: "combined values", 13: "green light", 14: "red and infrared light", 15: "temperatures",
  ]

  /// The numbers of which no capture and no firmware is known.
  static let uncaptured = [4, 5, 7, 9, 11, 13, 14, 15]

  public var description: String { Self.words[Int(rawValue)] ?? "measurement \(rawValue)" }
}

/// Starts a measurement, or keeps a continuous one going.
package struct MeasurementStart: FrameRecord {
  package var kind = MeasurementKind.heartRate
  /// Used only by the continuous measurement.
  package var action: UInt8 = 1

  package init(_ kind: MeasurementKind, action: UInt8 = 1) {
    self.kind = kind
    self.action = action
  }

  /// For the continuous measurement, to be sent every 25 seconds at the latest.
  package static let keepAliveAction: UInt8 = 3
  /// Only for the continuous measurement: the others treat it as a start.
  package static let stopAction: UInt8 = 4

  package static let fields: Fields = Fields(Self(.heartRate)) {
    RecordField("kind", \.kind, at: 1, words: MeasurementKind.words).only(
      .sdk, words: MeasurementKind.uncaptured)
    RecordField("action", \.action, at: 2, words: [1: "start", 2: "pause", 3: "continue", 4: "stop"])
  }
}

/// Ends a measurement.
package struct MeasurementStop: FrameRecord {
  package var kind = MeasurementKind.heartRate
  /// The result for the ring to store; 0 if it was cancelled.
  package var value: UInt8 = 0

  package init(_ kind: MeasurementKind, value: UInt8 = 0) {
    self.kind = kind
    self.value = value
  }

  package static let fields: Fields = Fields(Self(.heartRate)) {
    RecordField("kind", \.kind, at: 1, words: MeasurementKind.words).only(
      .sdk, words: MeasurementKind.uncaptured)
    RecordField("value", \.value, at: 2)
  }
}

/// The update that a ring sends twice a second during a measurement.
package struct MeasurementUpdate: FrameRecord {
  package var kind = MeasurementKind.heartRate
  /// 0: measuring; others: the ring is not worn, see ``MeasurementSession``.
  package var status: UInt8 = 0
  /// 0 while the measurement warms up.
  package var value: UInt8 = 0
  /// SpO2: 1 when the value is final. Blood pressure: systolic.
  package var second: UInt8 = 0
  /// Blood pressure: diastolic.
  package var third: UInt8 = 0
  /// The latest beat-to-beat interval in milliseconds; 0 if there is none. It is repeated: not a list of intervals.
  package var beatInterval: UInt16 = 0

  package init(_ kind: MeasurementKind) {
    self.kind = kind
  }

  /// The result; nil until there is a value.
  ///
  /// - Parameter frame: the whole update
  func measuredValue(_ frame: RingFrame) -> MeasuredValue? {
    switch kind {
    case .bloodPressure:
      return second > 0 && third > 0
        ? .bloodPressure(systolic: Int(second), diastolic: Int(third)) : nil
    case .combined:
      guard let values = try? CombinedMeasurement(parsing: frame), values.hasResult else { return nil }
      return .combined(values)
    case .bodyTemperature:
      let bytes = MeasurementForms.contents.map(frame.byte(at:))
      return bytes.contains { $0 != 0 } ? .bytes(bytes) : nil
    default: break
    }
    guard value > 0 else { return nil }
    return switch kind {
    case .heartRate, .continuousHeartRate: .heartRate(Int(value))
    case .oxygen: .oxygen(Int(value))
    case .variability: .variability(Int(value))
    case .stress: .stress(Int(value))
    default: .number(Int(value))
    }
  }

  static let kindField = RecordField<Self>("kind", \.kind, at: 1, words: MeasurementKind.words).only(
    .sdk, words: MeasurementKind.uncaptured)
  static let statusField = RecordField<Self>(
    "status", \.status, at: 2, words: [0: "measuring", 1: "not worn", 2: "ended: not worn"])
  static let intervalField = RecordField<Self>(
    "interval", \.beatInterval, at: 6, .uint16LittleEndian, .milliseconds)

  package static let fields: Fields = Fields(Self(.heartRate)) {
    kindField
    statusField
    RecordField("value", \.value, at: 3)
    RecordField("second", \.second, at: 4)
    RecordField("third", \.third, at: 5)
    intervalField
  }
}

package final class MeasurementCommands: CommandGroup {
  static let shared = MeasurementCommands()

  package let measurementStart = RingQuery<MeasurementStart, MeasurementUpdate>(
    MeasurementForms.command, "measurement",
    "Starts a measurement, or continues a continuous one.",
    .measurements, isStream: true, requests: MeasurementForms.requests, replies: MeasurementForms.all,
    source: "4.9 [F][C][S]", MeasurementStart.fields, MeasurementUpdate.fields)
  package let measurementStop = RingQuery<MeasurementStop, MeasurementStop>(
    0x6A, "measurement stop", "Ends a measurement, with the value that the ring is to store.", .measurements,
    source: "4.9 [C]", MeasurementStop.fields, MeasurementStop.fields)
  /// Newer rings refuse it. It is requested by its action.
  package let liveHeartRate = RingQuery<UInt8, UInt8>(
    0x1E, "live heart rate", "The older way to a continuous heart rate.", .measurements, isStream: true,
    families: [.rf03, .unknown], source: "4.9 [A]", liveControl,
    .number("heart-rate", at: 1, .uint8, .beatsPerMinute))
  package let sport = RingQuery<SportControl, SportReply>(
    0x77, "sport session", "Begins, pauses or ends a sport session.", .measurements,
    replies: SportReply.forms, families: .newer, source: "4.14 [C]", SportControl.fields, SportReply.fields)

  static let stopLive: UInt8 = 2
  private static let liveControl = FrameFields<UInt8>(1) {
    RecordField("action", \.self, at: 1, words: [1: "start", Int(stopLive): "stop", 3: "continue"])
  }

  var entries: [CommandEntry] {
    [measurementStart.entry, measurementStop.entry, liveHeartRate.entry, sport.entry]
  }
}
