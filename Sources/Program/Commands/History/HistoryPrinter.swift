import HaloBluetoothCore
import HaloCommandLine
import HaloRingStore
import RingLink

/// Prints the data of a ring: a record for each reading, and for sleep one for each stage; as text a line for each night.
/// Times are the ring's wall clock. Records of a store have the ring, its firmware, the offset of its clock and UTC, too.
struct HistoryPrinter: ~Copyable {
  private let format: OutputFormat
  /// The first field of each record, if several kinds are printed.
  private let label: [Field]
  private let hasOrigins: Bool
  private var printer: RecordPrinter
  /// The origins of the records that are printed next.
  private var nextOrigins: ArraySlice<RingStore.Origin> = []
  private var ring = ""

  /// - Parameters:
  ///   - format: the form of the records
  ///   - kind: the kind of data
  ///   - isLabelled: whether each record has its kind
  ///   - hasOrigins: whether each record has its ring, firmware, offset and UTC
  ///   - output: the destination
  init(
    _ format: OutputFormat, _ kind: HistoryKind, isLabelled: Bool = false, hasOrigins: Bool = false,
    output: consuming LineWriter = LineWriter()
  ) {
    self.format = format
    self.hasOrigins = hasOrigins
    label = isLabelled ? [.text(kind.rawValue)] : []
    let times = kind == .sleep ? ["start", "end", "stage_start"] : ["time"]
    let origins = ["ring", "firmware", "utc_offset"] + times.map { $0 + "_utc" }
    printer = RecordPrinter(
      format, (isLabelled ? ["history"] : []) + Self.columns(of: kind) + (hasOrigins ? origins : []),
      output: output)
  }

  /// The columns of the origin of a record with these times.
  private func origins(_ origin: RingStore.Origin?, _ times: [RingTime]) -> [Field] {
    guard hasOrigins, let origin else { return [] }
    return [.text(ring), .text(origin.firmware), .number(origin.utcOffset)]
      + times.map { .text(RingTime(seconds: $0.seconds - origin.utcOffset).description + "Z") }
  }

  /// Prints the stored data of a ring.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - origins: those of the records, in the same order
  ///   - ring: its address
  mutating func print(_ records: HistoryRecords, _ origins: [RingStore.Origin], of ring: String) {
    self.ring = ring
    nextOrigins = origins[...]
    print(records)
  }

  private static func columns(of kind: HistoryKind) -> [String] {
    switch kind {
    case .steps: ["time", "steps", "distance_m", "energy_kcal"]
    case .heartRate: ["time", "heart_rate_bpm", "manual"]
    case .oxygen: ["time", "minimum_percent", "maximum_percent"]
    case .sleep: ["start", "end", "nap", "stage_start", "stage", "duration_min"]
    case .stress: ["time", "stress", "estimate"]
    case .variability: ["time", "hrv_ms", "estimate"]
    case .temperature: ["time", "temperature_celsius"]
    case .oxygenValues: ["time", "spo2_percent", "manual"]
    case .sport:
      [
        "time", "sport", "duration_s", "distance_m", "energy_kcal", "heart_rate_bpm",
        "heart_rate_minimum_bpm", "heart_rate_maximum_bpm", "steps", "interval_s", "heart_rates_bpm", "bytes",
      ]
    case .sedentary: ["time", "bytes"]
    }
  }

  mutating func print(_ records: HistoryRecords) {
    switch records {
    case .steps(let readings):
      for reading in readings {
        print(
          reading.time, [.number(reading.steps), .number(reading.meters), .energy(reading.calories)],
          "\(reading.steps) steps, \(reading.meters) m, \(reading.calories / 1000) kcal")
      }
    case .heartRate(let readings):
      for reading in readings {
        print(reading.time, reading.beatsPerMinute, "bpm", isManual: reading.isManual)
      }
    case .oxygen(let readings):
      for reading in readings {
        let (minimum, maximum) = (reading.minimum, reading.maximum)
        print(
          reading.time, [.number(minimum), .number(maximum)],
          minimum == maximum ? "\(minimum) %" : "\(minimum) to \(maximum) %")
      }
    case .sleep(let sessions): for session in sessions { print(session) }
    case .stress(let readings): for reading in readings { print(reading, unit: "") }
    case .variability(let readings): for reading in readings { print(reading, unit: " ms") }
    case .temperature(let readings):
      for reading in readings {
        let value = Field.decimal(reading.centidegrees, places: 2)
        print(reading.time, [value], "\(value.text) °C")
      }
    case .oxygenValues(let values):
      for value in values { print(value.time, value.percent, "%", isManual: value.isManual) }
    case .sport(let sports): for sport in sports { print(sport) }
    case .sedentary(let days):
      for day in days {
        print(
          day.day.midnight, title: day.day.description, [.text(Hex.string(day.bytes))],
          "\(Hex.string(day.bytes, separator: " ")) (pairs whose meaning is not known)")
      }
    }
  }

  /// Prints a record of a time.
  ///
  /// - Parameters:
  ///   - title: the time as text; nil for the time of a day
  ///   - fields: those behind the time
  ///   - text: the text behind the fields
  private mutating func print(
    _ time: RingTime, title: String? = nil, _ fields: [Field], _ text: @autoclosure () -> String
  ) {
    printer.print(
      label + [.time(time)] + fields + origins(nextOrigins.popFirst(), [time]),
      text: "\(title ?? time.description)  \(text())")
  }

  /// A measured value.
  private mutating func print(_ time: RingTime, _ value: Int, _ unit: String, isManual: Bool) {
    print(time, [.number(value), .flag(isManual)], "\(value) \(unit)\(isManual ? ", manual" : "")")
  }

  private mutating func print(_ reading: EstimateReading, unit: String) {
    print(reading.time, [.number(reading.value), .flag(true)], "\(reading.value)\(unit) (estimate)")
  }

  private mutating func print(_ sport: StoredSport) {
    let parts: [String?] = [
      sport.sport.description, sport.seconds.map { "\($0 / 60) min \($0 % 60) s" },
      sport.meters.map { "\($0) m" }, sport.calories.map { "\($0 / 1000) kcal" },
      sport.averageRate.map { "\($0) bpm" }, sport.steps.map { "\($0) steps" },
    ]
    let rates = sport.heartRates.map(String.init).joined(separator: " ")
    print(
      sport.time,
      [
        .text(sport.sport.description), .number(sport.seconds), .number(sport.meters),
        .energy(sport.calories), .number(sport.averageRate), .number(sport.minimumRate),
        .number(sport.maximumRate), .number(sport.steps), .number(sport.sampleSeconds), .text(rates),
        .text(Hex.string(sport.bytes)),
      ], parts.compactMap { $0 }.joined(separator: ", "))
  }

  private mutating func print(_ session: SleepSession) {
    let origin = nextOrigins.popFirst()
    if format == .text {
      let kind = session.isNap ? "nap" : "night"
      let total = max(0, session.end.seconds - session.start.seconds) / 60
      let stages = [SleepStage.Kind.light, .deep, .rem, .awake].map { stage in
        let minutes = session.stages.filter { $0.kind == stage }.reduce(0) { $0 + $1.minutes }
        return "\(stage) \(minutes) min"
      }
      printer.print(
        [],
        text: "\(session.start) to \(session.end)  \(kind), \(total / 60) h \(total % 60) min: "
          + stages.joined(separator: ", "))
      return
    }
    var start = session.start
    for stage in session.stages {
      printer.print(
        label + [
          .time(session.start), .time(session.end), .flag(session.isNap), .time(start),
          .text(stage.kind.description), .number(stage.minutes),
        ] + origins(origin, [session.start, session.end, start]), text: "")
      start = start.adding(minutes: stage.minutes)
    }
  }
}

extension Field {
  fileprivate static func time(_ time: RingTime) -> Field { .text(time.description) }
}
