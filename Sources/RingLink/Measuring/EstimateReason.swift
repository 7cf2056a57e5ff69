/// Why a value is no measurement, though a ring tells it as one (ring reference, 4.9).
public enum EstimateReason: String, Hashable, Sendable {
  /// No ring has a sensor for it: it is computed from heart rate and profile.
  case fabricated = "no ring can measure it: the firmware makes it up"
  /// Firmware is known to replace what it finds implausible by a random number; the two can't be told apart.
  case replaced = "firmware replaces what it finds implausible by random numbers"
  /// A check that fails ends with a random number from 95 to 98.
  case suspicious = "firmware ends a failed check with a random number from 95 to 98, and this may be one"
  /// Nobody has found out what it is.
  case unexplained = "nobody knows what this number stands for"
}

extension MeasurementKind {
  /// Why no value of this kind is a measurement; nil if values have to be judged one by one.
  public var estimate: EstimateReason? {
    switch self {
    case .heartRate, .continuousHeartRate, .oxygen: nil
    case .variability, .stress: .replaced
    case .bloodPressure, .bloodSugar: .fabricated
    default: .unexplained
    }
  }

  /// Whether there is nothing in it that a sensor has seen, as far as anybody knows.
  public var isFabricated: Bool { estimate == .fabricated || estimate == .unexplained }
}

/// Collects what speaks for and against the value with which a spot measurement of heart rate or SpO2 ends.
struct MeasurementJudge {
  /// A good check has its first value after about 25 seconds; a failed one gets its number when it ends, after 30.
  static let lateValue = Duration.seconds(29)
  /// Beat-to-beat intervals that mean so many beats a minute more or less contradict a heart rate.
  static let disagreement = 12

  private var first: (value: Int, after: Duration)?
  private var last: Int?

  mutating func add(_ value: Int, after time: Duration) {
    if first == nil { first = (value, time) }
    last = value
  }

  /// - Parameter beatInterval: the latest, in milliseconds
  func verdict(_ kind: MeasurementKind, beatInterval: Int?) -> EstimateReason? {
    if let estimate = kind.estimate { return estimate }
    guard let first, let last, (95...98).contains(last) else { return nil }
    let jumped = !(95...98).contains(first.value) && abs(first.value - last) > Self.disagreement
    if first.after >= Self.lateValue || jumped { return .suspicious }
    guard kind == .heartRate else { return nil }
    guard let beatInterval, beatInterval > 0 else { return .suspicious }
    return abs(60_000 / beatInterval - last) > Self.disagreement ? .suspicious : nil
  }
}
