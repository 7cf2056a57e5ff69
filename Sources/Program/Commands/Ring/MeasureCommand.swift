import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloLineOutput
import RingLink

private enum MeasureOption {
  static let continuous = Flag("--continuous", help: "measure heart rate about once a second, until Ctrl-C")
  static let live = Flag(
    "--live", help: "use the heart rate command of older rings; without, only if the newer one is refused")
  static let estimates = Flag(
    "--include-estimates", help: "also print values that no ring can measure; they are marked")
  static let count = Option("--count", as: .count, help: "with --continuous: stop after N values")
  static let duration = Option(
    "--duration", as: .timeLimit,
    help: "with --continuous: stop after this time, counted from the first value (default: 0, no limit)")
}

let measureCommand = CommandSpec(
  name: "measure", arguments: "KIND [RING]", summary: "take a measurement now: heart rate, SpO2 and more",
  options: [
    MeasureOption.continuous, MeasureOption.live, MeasureOption.estimates, MeasureOption.count,
    MeasureOption.duration, CommonOptions.retryTime,
  ] + LiveOption.all,
  rules: [
    .needs(MeasureOption.count, MeasureOption.continuous),
    .needs(MeasureOption.duration, MeasureOption.continuous),
    .needs(CommonOptions.retryTime, MeasureOption.continuous),
  ],
  examples: [
    ("halo-raw measure heart-rate --adapter virtual:fast", "one value; a real ring takes half a minute"),
    ("halo-raw measure spo2 --format jsonl --adapter virtual:fast", "the oxygen saturation, as JSON"),
    (
      "halo-raw measure heart-rate --continuous --count 5 --adapter virtual:fast",
      "the heart rate, once a second"
    ),
  ],
  details: """
    KIND is \(measurements.map(\.name).joined(separator: ", ")).

    Wear the ring and keep still: the first 15 to 25 seconds are the warm-up. The intervals between beats are printed as
    they change; some beats are missing between them.

    If the connection is lost during a continuous measurement, it is made again within --retry-for; a record of the state
    "gap" marks the loss.

    Firmware makes up values if its sensor gives none. Values that may be made up are marked as estimates. Kinds that
    are always made up are refused without --include-estimates; of "all", only the heart rate is printed then.

    "temperature" prints bytes as the ring sends them, since no source states their layout. Few rings have it, and "all".
    """
) { invocation in
  var invocation = invocation
  let measured = try Measured(
    invocation.positionals.removeFirst(), showsEstimates: invocation[MeasureOption.estimates])
  let kind = measured.kind
  let isContinuous = invocation[MeasureOption.continuous]
  let isLive = invocation[MeasureOption.live]
  if kind != .heartRate, isContinuous || isLive {
    throw Failure.usage("\(isContinuous ? "--continuous" : "--live") works only with heart-rate")
  }
  let count = invocation[MeasureOption.count]
  let duration = invocation[MeasureOption.duration]?.ifLimited
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let budget = isContinuous ? ReconnectPolicy.Budget(invocation) : nil
    let link = session.keepRing(
      budget, until: Interruption(following: session.interruption), prepare: live.describe)
    let measurement = try await Measuring(measured, live, link, isContinuous: isContinuous)
    try await live.complete(link) {
      guard isContinuous else {
        return try await link.ask { ring in
          try await measurement.runOnce(ring, isLive: isLive, until: session.interruption)
        }
      }
      try await link.listen { ring in
        try await measurement.runContinuously(
          ring, on: link, isLive: isLive, count: count, duration: duration)
      } onLoss: {
        measurement.markGap($0.message)
      }
      try measurement.finish()
    }
    await link.close()
  }
}

/// What can be measured, and how it is called.
private struct Measured {
  /// On the command line and in records.
  let name: String
  let kind: MeasurementKind
  /// The columns of its value: of a blood pressure, two.
  let columns: [String]
  /// Whether to print what a ring makes up beside a measured value.
  private var showsEstimates = false

  init(_ name: String, _ kind: MeasurementKind, _ columns: String...) {
    self.name = name
    self.kind = kind
    self.columns = columns
  }

  init(_ name: String, showsEstimates: Bool) throws(Failure) {
    guard let found = measurements.first(where: { $0.name == name }) else {
      throw .unknown("measurement", name, among: measurements.map(\.name))
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

  /// What to say of a result besides its value; nil for nothing.
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
}

private let measurements = [
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

/// A measurement and its output.
@BluetoothActor
private final class Measuring {
  private let timers: Timers
  private let measured: Measured
  private let format: OutputFormat
  private let publisher: RingPublisher?
  let printer: TimedPrinter
  private var progress = ProgressLine()
  private let origin: Instant
  private var latestProgress: Instant?
  private var readings = 0
  private var timer: Timers.Token?

  /// Opens the link, and describes the records.
  init(
    _ measured: Measured, _ live: LiveOutput, _ link: ReconnectingLink<RingClient>, isContinuous: Bool
  ) async throws(Failure) {
    let ring = try await link.open()
    self.measured = measured
    timers = ring.timers
    format = live.format
    origin = timers.now.wholeMicroseconds
    printer = try await TimedPrinter(
      live, of: ring, ["kind", "state"] + measured.columns + ["interval_ms", "estimate", "note"],
      origin: origin, showsTime: isContinuous)
    publisher = live.publisher
    publisher?.announce { [weak link] in link?.device }
  }

  func runOnce(_ ring: RingClient, isLive: Bool, until end: Interruption) async throws {
    let result = await outcome {
      try await end.cancels {
        try await ring.measure(self.measured.kind, isLive: isLive) { self.take($0, at: $1) }
      }
    }
    progress.clear()
    show(try result.get(), at: timers.now.wholeMicroseconds)
  }

  func runContinuously(
    _ ring: RingClient, on link: ReconnectingLink<RingClient>, isLive: Bool, count: Int?, duration: Duration?
  ) async throws {
    let end = link.interruption
    let rates = ring.heartRates(isLive: isLive)
    let forget = end.onRequest { rates.stop() }
    defer {
      forget()
      progress.clear()
    }
    for try await (event, time) in rates where !end.isRequested {
      take(event, at: time)
      guard case .reading = event else { continue }
      link.dataFlow()
      if readings == 1, let duration, timer == nil {
        timer = timers.schedule(after: duration) { end.request() }
      }
      if readings == count || printer.hasFailed { end.request() }
    }
    end.request()
  }

  /// Marks the loss of the link.
  func markGap(_ reason: String) {
    print("gap", note: reason, text: "gap: \(reason)")
  }

  /// Ends a continuous measurement.
  ///
  /// - Throws: if there was no value
  func finish() throws(Failure) {
    timers.cancel(timer)
    if readings == 0 { throw Failure(.interrupted, "interrupted before the first value") }
  }

  private func take(_ event: MeasurementEvent, at time: Instant) {
    switch event {
    case .warmingUp: warmUp(at: time)
    case .beatInterval(let interval): print("beat", at: time, interval: interval)
    case .reading(let reading):
      progress.clear()
      show(reading, at: time)
    case .contactLost:
      progress.clear()
      print("no-contact", at: time)
      if format != .jsonl { Console.error("the ring does not touch the skin") }
    }
  }

  private func warmUp(at time: Instant) {
    let seconds = Int((time - origin).inSeconds)
    if format == .text { progress.show("warming up, \(seconds) s; keep still") }
    guard format == .jsonl else { return }
    if let latestProgress, time - latestProgress < .milliseconds(900) { return }
    latestProgress = time
    print("warming-up", at: time)
  }

  private func show(_ reading: MeasurementReading, at time: Instant) {
    readings += 1
    publisher?.update(reading)
    let note = measured.note(on: reading.value)
    print(
      "value", at: time, reading.value, interval: reading.beatInterval,
      isEstimate: reading.estimate != nil, note: note,
      text: measured.text(of: reading) + (reading.estimate.map { ": \($0.rawValue)" } ?? "")
        + (note.map { " (\($0))" } ?? ""))
  }

  private func print(
    _ state: String, at time: Instant? = nil, _ value: MeasuredValue? = nil, interval: Int? = nil,
    isEstimate: Bool = false, note: String? = nil, text: String? = nil
  ) {
    var fields: [String: Field] = [
      "kind": .text(measured.name), "state": .text(state), "interval_ms": .number(interval),
      "estimate": .flag(isEstimate), "note": .text(note),
    ]
    if let value { fields.merge(zip(measured.columns, measured.fields(of: value))) { $1 } }
    printer.print("\(measured.name) \(state)", fields, at: time, text: text)
  }
}
