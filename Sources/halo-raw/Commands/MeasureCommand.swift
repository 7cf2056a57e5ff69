import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let measureCommand = CommandSpec(
  name: "measure", arguments: "KIND [RING]",
  summary: "measures heart rate, SpO2 and more while one waits",
  positionals: 1...2,
  options: [
    OptionSpec("--continuous", help: "heart rate all the time, about once a second, until Ctrl-C"),
    OptionSpec(
      "--live", help: "heart rate by the command of older rings; used by itself if the newer one is refused"),
    OptionSpec(
      "--include-estimates", help: "also measures what no ring can measure; such values are marked"),
    OptionSpec("--count", value: "N", help: "with --continuous: ends after N values"),
    OptionSpec(
      "--duration", value: "TIME", help: "with --continuous: ends after this time, from the first value on"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw measure heart-rate --adapter virtual:fast", "one value after half a minute, here without it"),
    ("halo-raw measure spo2 --format jsonl --adapter virtual:fast", "the oxygen saturation, as JSON"),
    (
      "halo-raw measure heart-rate --continuous --count 5 --adapter virtual:fast",
      "the heart rate once a second"
    ),
  ],
  details: """
    KIND is heart-rate, spo2, hrv, stress, blood-pressure, blood-sugar or fatigue. Wear the ring and keep still: the first
    15 to 25 seconds are for warming up. Times between beats are told as they change; some are missing between them.
    Firmware makes up values where its sensor gives nothing: those that may be are marked as estimates, and kinds that
    are nothing else are refused without --include-estimates.
    """
) { invocation throws(Failure) in
  let kind = try measurementKind(invocation)
  let isContinuous = invocation.has("--continuous")
  let isLive = invocation.has("--live")
  if kind != .heartRate, isContinuous || isLive {
    throw .usage("\(isContinuous ? "--continuous" : "--live") is for heart-rate alone")
  }
  let count = try invocation.integer("--count", in: 1...Int.max)
  let duration = try invocation.duration("--duration")
  if !isContinuous, count != nil || duration != nil {
    throw .usage(
      "\(count == nil ? "--duration" : "--count") is for --continuous: otherwise there is one value")
  }
  let format = try OutputFormat(invocation)
  var target = invocation
  target.positionals.removeFirst()
  try await Session.run(target, endsInOrder: true) { session throws(Failure) in
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      try await session.openRing()
    }
    let measurement = Measuring(ring, format)
    if isContinuous {
      try await measurement.runContinuously(
        isLive: isLive, count: count, duration: duration, until: session.interruption)
    } else {
      try await measurement.runOnce(kind, isLive: isLive, until: session.interruption)
    }
    await ring.client.disconnect()
  }
}

/// The words for what is measured, on the command line and in records.
private let kindWords: [(String, MeasurementKind)] = [
  ("heart-rate", .heartRate), ("spo2", .oxygen), ("hrv", .variability), ("stress", .stress),
  ("blood-pressure", .bloodPressure), ("blood-sugar", .bloodSugar), ("fatigue", .fatigue),
]

private func measurementKind(_ invocation: Invocation) throws(Failure) -> MeasurementKind {
  let word = invocation.positionals[0]
  guard let kind = kindWords.first(where: { $0.0 == word })?.1 else {
    throw .usage(
      "nothing is measured that is called \"\(word.printable)\"\(Invocation.suggestion(for: word, among: kindWords.map(\.0)))"
        + "; there are \(kindWords.map(\.0).joined(separator: ", "))")
  }
  if kind.isFabricated, let reason = kind.estimate, !invocation.has("--include-estimates") {
    throw .usage("\(word) is no measurement: \(reason.rawValue); --include-estimates shows it all the same")
  }
  return kind
}

/// A measurement, and what is printed of it.
@BluetoothActor
private final class Measuring {
  private let ring: Ring
  private let format: OutputFormat
  private var printer: RecordPrinter
  private var progress = ProgressLine()
  private var origin: Instant
  private var latestProgress: Instant?
  private var readings = 0
  private var timer: Timers.Token?

  init(_ ring: Ring, _ format: OutputFormat) {
    self.ring = ring
    self.format = format
    origin = EventLoop.shared.timers.now.wholeMicroseconds
    printer = RecordPrinter(
      format,
      [
        ("t", "s"), ("kind", nil), ("state", nil), ("value", nil), ("diastolic", nil), ("unit", nil),
        ("interval", "ms"), ("estimate", nil),
      ], output: Console.output(.drop))
  }

  func runOnce(_ kind: MeasurementKind, isLive: Bool, until end: Interruption) async throws(Failure) {
    let ring = self.ring
    let result: Result<MeasurementReading, Failure>
    do throws(Failure) {
      result = .success(
        try await end.cancels { () async throws(Failure) in
          try await ringFailure { () async throws(RingError) in
            try await ring.measure(kind, isLive: isLive) { event, time in self.take(event, kind, at: time) }
          }
        })
    } catch {
      result = .failure(error)
    }
    progress.clear()
    show(try result.get(), at: EventLoop.shared.timers.now.wholeMicroseconds)
  }

  func runContinuously(
    isLive: Bool, count: Int?, duration: Duration?, until end: Interruption
  ) async throws(Failure) {
    let rates = ring.heartRates(isLive: isLive)
    var isDone = false
    let stop = {
      isDone = true
      rates.stop()
    }
    let forget = end.whenItComes(stop)
    defer {
      forget()
      EventLoop.shared.timers.cancel(timer)
      progress.clear()
    }
    do throws(RingError) {
      for try await (event, time) in rates where !isDone {
        take(event, .heartRate, at: time)
        guard case .reading = event else { continue }
        if readings == 1, let duration {
          timer = EventLoop.shared.timers.schedule(after: duration, stop)
        }
        if readings == count || printer.output.failure != nil { stop() }
      }
    } catch {
      throw Failure(error)
    }
    if readings == 0 { throw Failure(.interrupted, "interrupted before there was a value") }
  }

  private func take(_ event: MeasurementEvent, _ kind: MeasurementKind, at time: Instant) {
    switch event {
    case .warmingUp: warmUp(kind, at: time)
    case .beatInterval(let interval):
      guard format != .text else { return }
      print(kind, "beat", at: time, interval: interval)
    case .reading(let reading):
      progress.clear()
      show(reading, at: time)
    case .contactLost:
      progress.clear()
      print(kind, "no-contact", at: time)
      if format != .jsonl { Console.error("the ring does not touch the skin") }
    }
  }

  private func warmUp(_ kind: MeasurementKind, at time: Instant) {
    let seconds = Int((time - origin).inSeconds)
    if format == .text { progress.show("warming up, \(seconds) s; keep still") }
    guard format == .jsonl else { return }
    if let latestProgress, time - latestProgress < .milliseconds(900) { return }
    latestProgress = time
    print(kind, "warming-up", at: time)
  }

  private func show(_ reading: MeasurementReading, at time: Instant) {
    readings += 1
    print(
      reading.kind, "value", at: time, reading.value, interval: reading.beatInterval,
      isEstimate: reading.estimate != nil,
      text: reading.description + (reading.estimate.map { ": \($0.rawValue)" } ?? ""))
  }

  private func print(
    _ kind: MeasurementKind, _ state: String, at time: Instant, _ value: MeasuredValue? = nil,
    interval: Int? = nil, isEstimate: Bool = false, text: String? = nil
  ) {
    guard format != .text || text != nil else { return }
    var diastolic: Int?
    if case .bloodPressure(_, let value) = value { diastolic = value }
    let plain = kind == .continuousHeartRate ? MeasurementKind.heartRate : kind
    let name = kindWords.first { $0.1 == plain }?.0 ?? kind.description
    printer.print(
      [
        .seconds(time.nanoseconds(since: origin)), .text(name), .text(state),
        .number(value?.number), .number(diastolic), .text(value?.unit?.rawValue), .number(interval),
        .flag(isEstimate),
      ], text: text ?? "")
  }
}
