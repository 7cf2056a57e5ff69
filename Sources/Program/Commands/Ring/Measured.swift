import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// A quantity that can be measured, with its name.
struct Measured: Sendable {
  /// On the command line and in records.
  let name: String
  let kind: MeasurementKind
  /// The columns of its value: of a blood pressure, two.
  let columns: [String]
  /// Whether to print values that a ring makes up beside a measured one.
  private var showsEstimates = false

  init(_ name: String, _ kind: MeasurementKind, _ columns: String...) {
    self.name = name
    self.kind = kind
    self.columns = columns
  }

  init(_ name: String, showsEstimates: Bool) throws(Failure) {
    guard let found = Self.all.first(where: { $0.name == name }) else {
      throw .unknown("measurement", name, among: Self.all.map(\.name))
    }
    self = found
    self.showsEstimates = showsEstimates
    if kind.isFabricated, let reason = kind.estimate, !showsEstimates {
      throw .usage("\(name) is not measured: \(reason.rawValue); to print it, use --include-estimates")
    }
  }

  /// Fields of its columns.
  func fields(of value: MeasuredValue) -> [Field] {
    switch value {
    case .bloodPressure(let systolic, let diastolic): [.number(systolic), .number(diastolic)]
    case .combined(let values): numbers(of: values).map { .number($0) }
    case .bytes(let bytes): [.text(Hex.string(bytes))]
    default: [.number(value.number)]
    }
  }

  /// In the order of the columns; only heart rate unless estimates are asked for.
  private func numbers(of values: CombinedMeasurement) -> [Int?] {
    let estimates = [
      values.variability, values.stress, values.temperature, values.systolic, values.diastolic,
    ]
    return ([values.beatsPerMinute] + estimates.map { showsEstimates ? $0 : 0 }).map {
      $0 > 0 ? Int($0) : nil
    }
  }

  /// One line, `heart rate: 70 bpm`.
  func text(of reading: MeasurementReading) -> String {
    guard case .combined(let values) = reading.value else { return reading.description }
    let fields = CombinedMeasurement.fields.map(\.field).filter { $0.name != "interval" }
    return zip(fields, numbers(of: values)).compactMap { field, number in
      number.map { "\(field.name) \($0)" + (field.unit.map { " \($0.rawValue)" } ?? "") }
    }.joined(separator: ", ")
  }

  /// The remark on a result besides its value; nil for none.
  func note(on value: MeasuredValue) -> String? {
    switch value {
    case .combined(let values):
      if showsEstimates { return "all but heart_rate are estimates; the unit of temperature is not known" }
      return (values.beatsPerMinute > 0 ? "" : "no heart rate; ")
        + "left out what rings are known to make up; to print it, use --include-estimates"
    case .bytes: return "bytes as sent, since their layout is not known"
    default: return nil
    }
  }

  static let all = [
    Measured("heart-rate", .heartRate, "heart_rate_bpm"),
    Measured("spo2", .oxygen, "spo2_percent"),
    Measured("hrv", .variability, "hrv_ms"),
    Measured("stress", .stress, "stress"),
    Measured("blood-pressure", .bloodPressure, "systolic_mmhg", "diastolic_mmhg"),
    Measured("blood-sugar", .bloodSugar, "blood_sugar"),
    Measured("fatigue", .fatigue, "fatigue"),
    Measured("temperature", .bodyTemperature, "bytes"),
    Measured(
      "all", .combined, "heart_rate_bpm", "hrv_ms", "stress", "temperature", "systolic_mmhg",
      "diastolic_mmhg"),
  ]
}
