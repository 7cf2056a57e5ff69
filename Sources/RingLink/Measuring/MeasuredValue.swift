/// What a measurement has found, with its unit.
public enum MeasuredValue: Hashable, Sendable {
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
  /// A number of which nobody knows what it counts.
  case number(Int)

  /// The value; of a blood pressure, the systolic one.
  public var number: Int {
    switch self {
    case .heartRate(let value), .oxygen(let value), .variability(let value), .stress(let value),
      .number(let value):
      value
    case .bloodPressure(let systolic, _): systolic
    }
  }

  public var unit: RingUnit? {
    switch self {
    case .heartRate: .beatsPerMinute
    case .oxygen: .percent
    case .variability: .milliseconds
    case .bloodPressure: .millimetersOfMercury
    case .stress, .number: nil
    }
  }
}

extension MeasuredValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .bloodPressure(let systolic, let diastolic): "\(systolic)/\(diastolic) mmHg"
    default: unit.map { "\(number) \($0.rawValue)" } ?? "\(number)"
    }
  }
}

/// One result of a measurement.
public struct MeasurementReading: Hashable, Sendable {
  public var kind: MeasurementKind
  public var value: MeasuredValue
  /// Why the value is not to be taken for a measurement; nil if nothing speaks against it.
  public var estimate: EstimateReason?
  /// The latest time between two beats in milliseconds, if the ring has told one.
  public var beatInterval: Int?

  public init(
    kind: MeasurementKind, value: MeasuredValue, estimate: EstimateReason? = nil, beatInterval: Int? = nil
  ) {
    self.kind = kind
    self.value = value
    self.estimate = estimate
    self.beatInterval = beatInterval
  }
}

extension MeasurementReading: CustomStringConvertible {
  public var description: String {
    var text = "\(kind == .continuousHeartRate ? .heartRate : kind): \(value)"
    if let beatInterval { text += ", \(beatInterval) ms from beat to beat" }
    if estimate != nil { text += " (estimate)" }
    return text
  }
}

/// What a measurement tells while it goes on.
public enum MeasurementEvent: Hashable, Sendable {
  /// It runs, and has no value yet. Comes with each sign of life of the ring, about twice a second.
  case warmingUp
  /// The time between two beats has changed, in milliseconds. The ring repeats the latest; beats in between may be
  /// missing, and two beats of the same length look like one: this is no complete list of intervals.
  case beatInterval(Int)
  /// Only of a continuous measurement: the value of about a second.
  case reading(MeasurementReading)
  /// Only of a continuous measurement: the ring does not touch the skin. It goes on if that changes soon.
  case contactLost
}
