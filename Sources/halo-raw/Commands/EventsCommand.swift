import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let eventsCommand = CommandSpec(
  name: "events", arguments: "[RING]",
  summary: "prints what the ring tells by itself: battery, steps, gestures, keys", positionals: 0...1,
  options: [
    OptionSpec(
      "--camera", help: "puts the ring into camera mode meanwhile: it tells when the hand is shaken"),
    OptionSpec("--count", value: "N", help: "ends after N events"),
    OptionSpec("--duration", value: "TIME", help: "ends after this time"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw events --count 3 --adapter virtual:fast,events=1", "three events"),
    ("halo-raw events --camera --count 2 --adapter virtual:fast", "waits for the hand to be shaken"),
  ],
  details: """
    Values of HRV and stress that a ring tells are marked as estimates: firmware replaces what it finds implausible by
    random numbers.
    """
) { invocation throws(Failure) in
  let count = try invocation.integer("--count", in: 1...Int.max)
  let duration = try invocation.duration("--duration")
  let format = try OutputFormat(invocation)
  let camera = invocation.has("--camera")
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      try await session.openRing()
    }
    let end = Interruption(following: session.interruption)
    let writer = EventWriter(format)
    if let duration { EventLoop.shared.timers.schedule(after: duration) { end.come() } }
    do throws(RingError) {
      try await end.cancels { () async throws(RingError) in
        try await ring.listen(camera: camera) { event, time in
          guard !end.hasCome else { return }
          writer.print(event, at: time)
          if writer.printed == count || writer.hasFailed { end.come() }
        }
      }
    } catch {
      guard error == .cancelled else { throw Failure(error) }
    }
    await ring.client.disconnect()
  }
}

let sportCommand = CommandSpec(
  name: "sport", arguments: "KIND [RING]",
  summary: "runs a sport session on the ring, and prints each second of it",
  positionals: 1...2,
  options: [
    OptionSpec("--duration", value: "TIME", help: "ends after this time, from the first second that is told"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw sport walk --duration 5s --adapter virtual:fast", "a walk of five seconds")
  ],
  details:
    "KIND is walk, run, hike, cycle or other. It lasts until Ctrl-C or --duration; then the ring is told to end it."
) { invocation throws(Failure) in
  let word = invocation.positionals[0]
  let sports = Sport.allCases.map { ("\($0)", $0) }
  guard let sport = sports.first(where: { $0.0 == word })?.1 else {
    throw .usage(
      "\"\(word.printable)\" is no sport that rings know; they know \(sports.map(\.0).joined(separator: ", "))"
    )
  }
  let duration = try invocation.duration("--duration")
  let format = try OutputFormat(invocation)
  var target = invocation
  target.positionals.removeFirst()
  try await Session.run(target, endsInOrder: true) { session throws(Failure) in
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      try await session.openRing()
    }
    let end = Interruption(following: session.interruption)
    let writer = EventWriter(format)
    do throws(RingError) {
      try await end.cancels { () async throws(RingError) in
        try await ring.exercise(sport) { update, time in
          guard !end.hasCome else { return }
          writer.print(.sport(update), at: time)
          if writer.printed == 1, let duration {
            EventLoop.shared.timers.schedule(after: duration) { end.come() }
          }
          if writer.hasFailed { end.come() }
        }
      }
    } catch {
      guard error == .cancelled else { throw Failure(error) }
    }
    await ring.client.disconnect()
  }
}

/// Prints events as records with the columns that any of them has.
@BluetoothActor
private final class EventWriter {
  private(set) var printed = 0
  private var printer: RecordPrinter
  private var origin: Instant?

  init(_ format: OutputFormat) {
    printer = RecordPrinter(
      format,
      [
        ("t", "s"), ("event", nil), ("value", nil), ("unit", nil), ("charging", nil), ("steps", nil),
        ("calories", "cal"), ("distance", "m"), ("duration", "s"), ("estimate", nil),
      ], output: Console.output(.drop))
  }

  var hasFailed: Bool { printer.output.failure != nil }

  func print(_ event: RingEvent, at time: Instant) {
    let start = origin ?? time
    origin = start
    printed += 1
    let record = EventFields(event)
    printer.print(
      [
        .seconds(time.nanoseconds(since: start)), .text(record.name), .text(record.value),
        .text(record.unit?.rawValue), .text(record.isCharging.map { $0 ? "yes" : "no" }),
        .number(record.steps), .number(record.calories), .number(record.meters), .number(record.seconds),
        .flag(event.isEstimate),
      ], text: event.description + (event.isEstimate ? " (estimate)" : ""))
  }
}

/// What a record says of an event.
private struct EventFields {
  var name = ""
  var value: String?
  var unit: RingUnit?
  var isCharging: Bool?
  var steps: Int?
  var calories: Int?
  var meters: Int?
  var seconds: Int?

  init(_ event: RingEvent) {
    switch event {
    case .battery(let battery):
      (name, value, unit) = ("battery", "\(battery.percent)", .percent)
      isCharging = battery.isCharging
    case .payloadLength(let length): (name, value) = ("payload-length", "\(length)")
    case .liveTotals(let totals):
      name = "totals"
      (steps, calories, meters) = (Int(totals.steps), Int(totals.calories), Int(totals.meters))
    case .variability(let number): (name, value, unit) = ("hrv", "\(number)", .milliseconds)
    case .stress(let number): (name, value) = ("stress", "\(number)")
    case .camera(let camera): (name, value) = ("camera", "\(camera)")
    case .mediaKey(let key): (name, value) = ("key", "\(key)")
    case .findsPhone(let begins): (name, value) = ("find-phone", begins ? "begins" : "ends")
    case .sport(let update):
      (name, value, unit) = ("sport", "\(update.beatsPerMinute)", .beatsPerMinute)
      (steps, calories, meters) = (Int(update.steps), Int(update.calories), Int(update.meters))
      seconds = Int(update.seconds)
    case .other(let kind): (name, value) = ("notification", kind.description)
    }
  }
}
