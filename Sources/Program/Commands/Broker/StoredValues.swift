import HaloMQTT
import RingLink

/// The newest of a ring's stored values, for a broker.
struct StoredValues {
  /// The values, each with its time by the ring's clock.
  private(set) var values: [RingValue: (value: RingReading, time: RingTime)] = [:]

  mutating func take(_ records: HistoryRecords) {
    guard let (kind, reading, time) = records.newest else { return }
    if let known = values[kind], known.time >= time { return }
    values[kind] = (reading, time)
  }
}

extension HistoryRecords {
  fileprivate typealias Newest = (value: RingValue, reading: RingReading, time: RingTime)

  /// The value that is shown of these records; nil if there is none.
  fileprivate var newest: Newest? {
    switch self {
    case .heartRate(let all):
      Self.newest(all, \.time, .heartRate) { RingReading(.integer($0.beatsPerMinute)) }
    // An hour is shown by the middle between its lowest and its highest value.
    case .oxygen(let all):
      Self.newest(all, \.time, .spo2) { RingReading(.integer(($0.minimum + $0.maximum + 1) / 2)) }
    case .oxygenValues(let all): Self.newest(all, \.time, .spo2) { RingReading(.integer($0.percent)) }
    case .temperature(let all):
      Self.newest(all, \.time, .temperature) { RingReading(.number($0.degreesCelsius)) }
    case .variability(let all):
      Self.newest(all, \.time, .hrv) { RingReading(.integer($0.value), isEstimate: true) }
    case .stress(let all):
      Self.newest(all, \.time, .stress) { RingReading(.integer($0.value), isEstimate: true) }
    case .sleep(let all):
      Self.newest(all.filter { !$0.isNap }, \.end, .sleep) {
        RingReading(.integer($0.stages.reduce(0) { $0 + ($1.kind == .awake ? 0 : $1.minutes) }))
      }
    case .steps, .sport, .sedentary: nil
    }
  }

  private static func newest<Record>(
    _ records: [Record], _ time: KeyPath<Record, RingTime>, _ value: RingValue,
    _ reading: (Record) -> RingReading
  ) -> Newest? {
    records.max { $0[keyPath: time] < $1[keyPath: time] }.map { (value, reading($0), $0[keyPath: time]) }
  }
}
