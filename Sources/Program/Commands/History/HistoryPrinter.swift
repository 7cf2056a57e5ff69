import HaloBluetoothCore
import HaloCommandLine
import HaloLineOutput
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
    let origins: [(name: String, unit: String?)] =
      [("ring", nil), ("firmware", nil), ("utc_offset", nil)] + times.map { ($0 + "_utc", nil) }
    printer = RecordPrinter(
      format, (isLabelled ? [("history", nil)] : []) + Self.columns(of: kind) + (hasOrigins ? origins : []),
      output: output)
  }

  /// The columns of the origin of the next record, which has this time.
  private mutating func origins(_ time: RingTime) -> [Field] { origins(nextOrigins.popFirst(), [time]) }

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
  mutating func print(
    _ records: HistoryRecords, _ origins: [RingStore.Origin], of ring: String
  ) throws(Failure) {
    // Both are read from one file, which may be damaged.
    guard origins.count == records.count else {
      throw Failure(
        .badData, "the store is damaged: \(records.kind.rawValue) has records without a sync; restore a copy")
    }
    self.ring = ring
    nextOrigins = origins[...]
    print(records)
  }

  private static func columns(of kind: HistoryKind) -> [(name: String, unit: String?)] {
    switch kind {
    case .steps: [("time", nil), ("steps", nil), ("distance", "m"), ("energy", "kcal")]
    case .heartRate: [("time", nil), ("heart_rate", "bpm"), ("manual", nil)]
    case .oxygen: [("time", nil), ("minimum", "percent"), ("maximum", "percent")]
    case .sleep:
      [
        ("start", nil), ("end", nil), ("nap", nil), ("stage_start", nil), ("stage", nil),
        ("duration", "min"),
      ]
    case .stress: [("time", nil), ("stress", nil), ("estimate", nil)]
    case .variability: [("time", nil), ("hrv", "ms"), ("estimate", nil)]
    case .temperature: [("time", nil), ("temperature", "celsius")]
    case .oxygenValues: [("time", nil), ("spo2", "percent"), ("manual", nil)]
    case .sport:
      [
        ("time", nil), ("sport", nil), ("duration", "s"), ("distance", "m"), ("energy", "kcal"),
        ("heart_rate", "bpm"), ("heart_rate_minimum", "bpm"), ("heart_rate_maximum", "bpm"), ("steps", nil),
        ("interval", "s"), ("heart_rates", "bpm"), ("bytes", nil),
      ]
    case .sedentary: [("time", nil), ("bytes", nil)]
    }
  }

  mutating func print(_ records: HistoryRecords) {
    switch records {
    case .steps(let readings): for reading in readings { print(reading) }
    case .heartRate(let readings): for reading in readings { print(reading) }
    case .oxygen(let readings): for reading in readings { print(reading) }
    case .sleep(let sessions): for session in sessions { print(session) }
    case .stress(let readings): for reading in readings { print(reading, unit: "") }
    case .variability(let readings): for reading in readings { print(reading, unit: " ms") }
    case .temperature(let readings): for reading in readings { print(reading) }
    case .oxygenValues(let values): for value in values { print(value) }
    case .sport(let sports): for sport in sports { print(sport) }
    case .sedentary(let days): for day in days { print(day) }
    }
  }

  private mutating func print(_ reading: ActivityReading) {
    printer.print(
      label + [
        .time(reading.time), .number(reading.steps), .number(reading.meters), .energy(reading.calories),
      ] + origins(reading.time),
      text: "\(reading.time)  \(reading.steps) steps, \(reading.meters) m, \(reading.calories / 1000) kcal")
  }

  private mutating func print(_ reading: HeartRateReading) {
    printer.print(
      label + [.time(reading.time), .number(reading.beatsPerMinute), .flag(reading.isManual)]
        + origins(reading.time),
      text: "\(reading.time)  \(reading.beatsPerMinute) bpm\(reading.isManual ? ", manual" : "")")
  }

  private mutating func print(_ reading: OxygenReading) {
    let span =
      reading.minimum == reading.maximum ? "\(reading.minimum)" : "\(reading.minimum) to \(reading.maximum)"
    printer.print(
      label + [.time(reading.time), .number(reading.minimum), .number(reading.maximum)]
        + origins(reading.time),
      text: "\(reading.time)  \(span) %")
  }

  private mutating func print(_ reading: EstimateReading, unit: String) {
    printer.print(
      label + [.time(reading.time), .number(reading.value), .flag(true)] + origins(reading.time),
      text: "\(reading.time)  \(reading.value)\(unit) (estimate)")
  }

  private mutating func print(_ reading: TemperatureReading) {
    let value = Field.decimal(reading.centidegrees, places: 2)
    printer.print(
      label + [.time(reading.time), value] + origins(reading.time), text: "\(reading.time)  \(value.text) °C")
  }

  private mutating func print(_ value: OxygenValue) {
    printer.print(
      label + [.time(value.time), .number(value.percent), .flag(value.isManual)] + origins(value.time),
      text: "\(value.time)  \(value.percent) %\(value.isManual ? ", manual" : "")")
  }

  private mutating func print(_ sport: StoredSport) {
    let parts: [String?] = [
      sport.seconds.map { "\($0 / 60) min \($0 % 60) s" }, sport.meters.map { "\($0) m" },
      sport.calories.map { "\($0 / 1000) kcal" }, sport.averageRate.map { "\($0) bpm" },
      sport.steps.map { "\($0) steps" },
    ]
    let energy: Field = sport.calories.map { .energy($0) } ?? .text(nil)
    let rates = sport.heartRates.map(String.init).joined(separator: " ")
    let fields: [Field] = [
      .time(sport.time), .text(sport.sport.description), .number(sport.seconds), .number(sport.meters),
      energy,
      .number(sport.averageRate), .number(sport.minimumRate), .number(sport.maximumRate),
      .number(sport.steps),
      .number(sport.sampleSeconds), .text(rates), .text(Hex.string(sport.bytes)),
    ]
    let words = [sport.sport.description] + parts.compactMap { $0 }
    printer.print(
      label + fields + origins(sport.time), text: "\(sport.time)  \(words.joined(separator: ", "))")
  }

  private mutating func print(_ day: SedentaryDay) {
    printer.print(
      label + [.time(day.day.midnight), .text(Hex.string(day.bytes))] + origins(day.day.midnight),
      text: "\(day.day)  \(Hex.string(day.bytes, separator: " ")) (pairs whose meaning is not known)")
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
