/// What a ring has stored of one kind, in the order of time.
public enum HistoryRecords: Hashable, Sendable {
  case steps([ActivityReading])
  case heartRate([HeartRateReading])
  case oxygen([OxygenReading])
  case sleep([SleepSession])
  /// See ``HistoryKind/isEstimate``.
  case stress([EstimateReading])
  /// See ``HistoryKind/isEstimate``. In milliseconds.
  case variability([EstimateReading])
  case temperature([TemperatureReading])

  public var kind: HistoryKind {
    switch self {
    case .steps: .steps
    case .heartRate: .heartRate
    case .oxygen: .oxygen
    case .sleep: .sleep
    case .stress: .stress
    case .variability: .variability
    case .temperature: .temperature
    }
  }

  public var count: Int {
    switch self {
    case .steps(let records): records.count
    case .heartRate(let records): records.count
    case .oxygen(let records): records.count
    case .sleep(let records): records.count
    case .stress(let records), .variability(let records): records.count
    case .temperature(let records): records.count
    }
  }
}
