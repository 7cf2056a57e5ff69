import RingLink

/// The stored data of a ring, with all times on one wall clock: that of its owner.
package struct StoredReadings: Sendable {
  var steps: [ActivityReading] = []
  var heartRates: [HeartRateReading] = []
  var oxygen: [OxygenReading] = []
  var oxygenValues: [OxygenValue] = []
  var sleep: [SleepSession] = []
  var stress: [EstimateReading] = []
  var variability: [EstimateReading] = []
  var temperatures: [TemperatureReading] = []
  var sports: [StoredSport] = []
  /// The time of the last record.
  private(set) var newest: RingTime?

  package init() {}

  /// The kinds that it has.
  package static let kinds = HistoryKind.allCases.filter { $0 != .sedentary }

  /// Adds records.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - clock: the time of the owner's clock at a time of the record with this index
  package mutating func add(_ records: HistoryRecords, clock: (Int, RingTime) -> RingTime) {
    switch records {
    case .steps(let all): add(all, to: \.steps, \.time, clock)
    case .heartRate(let all): add(all, to: \.heartRates, \.time, clock)
    case .oxygen(let all): add(all, to: \.oxygen, \.time, clock)
    case .oxygenValues(let all): add(all, to: \.oxygenValues, \.time, clock)
    case .stress(let all): add(all, to: \.stress, \.time, clock)
    case .variability(let all): add(all, to: \.variability, \.time, clock)
    case .temperature(let all): add(all, to: \.temperatures, \.time, clock)
    case .sport(let all): add(all, to: \.sports, \.time, clock)
    case .sleep(let all):
      add(all, to: \.sleep, \.end, clock)
      for (index, session) in all.enumerated() {
        sleep[sleep.count - all.count + index].start = clock(index, session.start)
      }
    case .sedentary: break
    }
  }

  private mutating func add<Record>(
    _ records: [Record], to list: WritableKeyPath<Self, [Record]>,
    _ time: WritableKeyPath<Record, RingTime>, _ clock: (Int, RingTime) -> RingTime
  ) {
    for (index, record) in records.enumerated() {
      var record = record
      record[keyPath: time] = clock(index, record[keyPath: time])
      newest = max(newest ?? record[keyPath: time], record[keyPath: time])
      self[keyPath: list].append(record)
    }
  }
}

/// The least, the greatest and the mean of some values.
struct ValueRange: Hashable, Sendable {
  private(set) var low = Double.infinity
  private(set) var high = -Double.infinity
  private(set) var count = 0
  private var sum = 0.0

  init(_ values: some Sequence<Double> = []) { values.forEach { add($0) } }

  /// Nil if there is no value.
  var mean: Double? { count == 0 ? nil : sum / Double(count) }

  mutating func add(_ value: Double) {
    low = min(low, value)
    high = max(high, value)
    sum += value
    count += 1
  }
}

extension RingDay {
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
  ]
  private static let weekdays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// 0 is a Monday. Day 0 was a Thursday.
  var weekday: Int { ((number + 3) % 7 + 7) % 7 }

  /// `Monday, 30 November 2026`
  var longName: String { "\(Self.weekdays[weekday]), \(dateName) \(civil.year)" }

  /// `30 November`
  var dateName: String { "\(civil.day) \(Self.months[civil.month - 1])" }

  /// `30 Nov`
  var shortName: String { "\(civil.day) \(Self.months[civil.month - 1].prefix(3))" }
}

extension RingTime {
  /// `07:06`
  var clockName: String { String(description.suffix(8).prefix(5)) }
}

/// A number of minutes as text: `6 h 41 min`.
func minutesText(_ minutes: Double) -> String {
  let whole = Int(min(max(minutes, 0), 1e9).rounded())
  return whole < 60 ? "\(whole) min" : "\(whole / 60) h \(whole % 60) min"
}

/// A number with groups of three digits: `12 345`.
func groupedText(_ number: Double) -> String {
  let digits = String(Int(min(max(number, 0), 1e15).rounded()))
  var text = ""
  for (index, digit) in digits.enumerated() {
    // A space that breaks no line.
    if index > 0, (digits.count - index) % 3 == 0 { text += "\u{A0}" }
    text.append(digit)
  }
  return text
}
