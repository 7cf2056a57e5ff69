import HaloBluetoothCore

/// The result of a measurement, with its unit.
public enum MeasuredValue: Hashable, Sendable, CustomStringConvertible {
  /// Beats a minute.
  case heartRate(Int)
  /// Oxygen saturation of the blood, in percent.
  case oxygen(Int)
  /// Heart rate variability, in milliseconds.
  case variability(Int)
  /// 1 to 99, on the vendor's scale.
  case stress(Int)
  /// Millimetres of mercury.
  case bloodPressure(systolic: Int, diastolic: Int)
  /// Several values at once.
  case combined(CombinedMeasurement)
  /// A number of unknown meaning.
  case number(Int)
  /// The 12 bytes that follow the status, as sent: their layout is not known.
  case bytes([UInt8])

  /// The value: of a blood pressure the systolic one, of a combined measurement the heart rate; nil for bytes.
  public var number: Int? {
    switch self {
    case .heartRate(let value), .oxygen(let value), .variability(let value), .stress(let value),
      .number(let value):
      value
    case .bloodPressure(let systolic, _): systolic
    case .combined(let values): Int(values.beatsPerMinute)
    case .bytes: nil
    }
  }

  /// The result that the command which ends the measurement has the ring store; 0 for none. Several values have no place in
  /// that command.
  var stored: UInt8 {
    switch self {
    case .combined: 0
    default: UInt8(clamping: number ?? 0)
    }
  }

  public var unit: RingUnit? {
    switch self {
    case .heartRate: .beatsPerMinute
    case .oxygen: .percent
    case .variability: .milliseconds
    case .bloodPressure: .millimetersOfMercury
    case .combined: .beatsPerMinute
    case .stress, .number, .bytes: nil
    }
  }

  public var description: String {
    switch self {
    case .bloodPressure(let systolic, let diastolic): "\(systolic)/\(diastolic) mmHg"
    case .bytes(let bytes): Hex.string(bytes, separator: " ")
    default: [number.map { "\($0)" }, unit?.rawValue].compactMap { $0 }.joined(separator: " ")
    }
  }
}

/// One result of a measurement.
public struct MeasurementReading: Hashable, Sendable, CustomStringConvertible {
  public var kind: MeasurementKind
  public var value: MeasuredValue
  /// Why the value should not be treated as a measurement; nil if there is no reason.
  public var estimate: EstimateReason?
  /// The latest beat-to-beat interval in milliseconds, if the ring has reported one.
  public var beatInterval: Int?

  public init(
    kind: MeasurementKind, value: MeasuredValue, estimate: EstimateReason? = nil, beatInterval: Int? = nil
  ) {
    self.kind = kind
    self.value = value
    self.estimate = estimate
    self.beatInterval = beatInterval
  }

  public var description: String {
    var text = "\(kind == .continuousHeartRate ? .heartRate : kind): \(value)"
    if let beatInterval { text += ", \(beatInterval) ms from beat to beat" }
    if estimate != nil { text += " (estimate)" }
    return text
  }
}

/// An update during a measurement.
public enum MeasurementEvent: Hashable, Sendable {
  /// In progress, without a value yet. Sent with each update of the ring, about twice a second.
  case warmingUp
  /// The beat-to-beat interval has changed, in milliseconds. The ring repeats the latest; beats in between may be
  /// missing, and two intervals of the same length look like one: this is not a complete list of intervals.
  case beatInterval(Int)
  /// Only in a continuous measurement: the value of about a second.
  case reading(MeasurementReading)
  /// Only in continuous measurements: the ring does not touch the skin. The measurement continues if that changes soon.
  case contactLost
}

/// Why a value is not a measurement, though a ring reports it as one (ring reference, 4.9).
public enum EstimateReason: String, Hashable, Sendable {
  /// No ring has a sensor for it: it is computed from heart rate and profile.
  case fabricated = "no ring can measure it: the firmware makes it up"
  /// Firmware is known to replace implausible results by random numbers; the two cannot be distinguished.
  case replaced = "firmware replaces what it finds implausible by random numbers"
  /// A check that fails ends with a random number from 95 to 98.
  case suspicious = "firmware ends a failed check with a random number from 95 to 98, and this may be one"
  /// Its meaning is unknown.
  case unexplained = "the meaning of this number is unknown"
}

extension MeasurementKind {
  /// Why no value of this kind is a measurement; nil if each value has to be checked.
  public var estimate: EstimateReason? {
    switch self {
    case .heartRate, .continuousHeartRate, .oxygen, .combined, .bodyTemperature: nil
    case .variability, .stress: .replaced
    case .bloodPressure, .bloodSugar: .fabricated
    default: .unexplained
    }
  }

  /// Whether the first value is the result, but for its last digits. Of several, or of bytes whose layout is not known, the
  /// first may come long before the last: the ring reports the end.
  var hasOneValue: Bool { self != .combined && self != .bodyTemperature }

  /// Whether it contains no sensor data, as far as is known.
  public var isFabricated: Bool { estimate == .fabricated || estimate == .unexplained }
}

/// Checks whether the final value of a spot measurement of heart rate or SpO2 is plausible.
struct EstimateDetector {
  /// A successful check has its first value after about 25 seconds; a failed one gets its number when it ends, after
  /// 30.
  static let lateValue = Duration.seconds(29)
  /// Beat-to-beat intervals that differ by this many beats per minute contradict a heart rate.
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
    guard kind == .heartRate || kind == .combined else { return nil }
    guard let beatInterval, beatInterval > 0 else { return .suspicious }
    return abs(60_000 / beatInterval - last) > Self.disagreement ? .suspicious : nil
  }
}

/// Why a measurement has ended without a value.
package enum MeasurementFailure: Hashable, Sendable, CustomStringConvertible {
  case notWorn
  /// The ring has measured for this long without a result.
  case noValue(seconds: Double)
  /// The ring has sent nothing for this long.
  case fellSilent(seconds: Double)
  /// Rings measure one quantity at a time.
  case takenOver(by: MeasurementKind)
  /// A status of unknown meaning.
  case status(UInt8)

  package var description: String {
    switch self {
    case .notWorn:
      "the ring does not touch the skin; wear it with its sensor on the inner side of the finger, and keep still"
    case .noValue(let seconds):
      "the ring has measured for \(Int(seconds.rounded())) s and found no value; is it worn? Keep the hand still, and try again"
    case .fellSilent(let seconds):
      "the ring has sent nothing for \(Int(seconds.rounded())) s; another measurement may have taken the sensor, "
        + "or the ring was put on its charger"
    case .takenOver(let kind):
      "\(kind == .continuousHeartRate ? "a \(kind)" : "\(kind)") measurement has taken the sensor"
    case .status(let status): "the ring has ended it with status \(status), whose meaning is unknown"
    }
  }
}
