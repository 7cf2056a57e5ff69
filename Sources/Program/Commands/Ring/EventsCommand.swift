import GAP
import HaloBluetoothCore
import HaloCommandLine
import RingLink

private enum EventsOption {
  static let camera = Flag(
    "--camera", help: "put the ring into camera mode: it reports when the hand is shaken")
  static let cameraInterval = Option(
    "--camera-interval", as: .time, default: "10s",
    help: "how often the ring is told to stay in camera mode")
  static let count = Option("--count", as: .count, help: "stop after N events")
  static let duration = Option(
    "--duration", as: .timeLimit, help: "stop after this time (default: 0, no limit)")
}

let eventsCommand = CommandSpec(
  name: "events", arguments: "[RING]",
  summary: "print the ring's notifications: battery, steps, gestures, keys",
  options: [
    EventsOption.camera, EventsOption.cameraInterval, EventsOption.count, EventsOption.duration,
    EventProgram.option, CommonOptions.retryTime,
  ]
    + LiveOption.all,
  rules: [.needs(EventsOption.cameraInterval, EventsOption.camera)],
  examples: [
    ("halo-raw events --count 3 --adapter virtual:fast,events=1", "print three events"),
    ("halo-raw events --camera --count 2 --adapter virtual:fast", "wait until the hand is shaken"),
    (
      "halo-raw events --camera --count 3 --exec 'echo page' --adapter virtual:fast",
      "run a command each time; it prints: page camera shake"
    ),
  ],
  details: """
    HRV and stress values are marked as estimates: firmware replaces implausible values with random numbers.

    \(EventProgram.details)

    If the connection is lost, it is made again within --retry-for; a record of the event "gap" marks the loss.
    """
) { invocation in
  let count = invocation[EventsOption.count]
  let duration = invocation[EventsOption.duration]?.ifLimited
  let camera = invocation[EventsOption.camera] ? invocation[EventsOption.cameraInterval] : nil
  if let camera, camera < .milliseconds(100) {
    throw Failure.usage("--camera-interval must be 100ms or more")
  }
  try await Session.run(invocation, endsInOrder: true) { session in
    let program = try invocation[EventProgram.option].map { words throws(Failure) in
      try EventProgram(words, session.interruption)
    }
    let live = try await LiveOutput(invocation, session)
    let end = Interruption(following: session.interruption)
    let budget = ReconnectPolicy.Budget(invocation, isSteady: true)
    let link = session.keepRing(budget, until: end, prepare: live.describe)
    let writer = try await EventWriter(live, link)
    if let duration { session.timers.schedule(after: duration) { end.request() } }
    Console.hint("listening to \(session.ringName ?? live.device); Ctrl-C ends it")
    try await live.complete(link) {
      try await link.listen { ring in
        try await ring.listen(camera: camera) { event, time in
          guard !end.isRequested else { return }
          link.dataFlow()
          writer.print(event, at: time)
          program?.run(for: event)
          if writer.printed == count || writer.printer.hasFailed { end.request() }
        }
      } onLoss: {
        writer.printer.markGap($0.message)
      }
    }
    await link.close()
    await program?.finish()
  }
}

/// Prints events as records. The columns are those of all events.
@BluetoothActor
final class EventWriter {
  let printer: TimedPrinter
  private(set) var printed = 0
  private let publisher: RingPublisher?

  private static let columns = [
    "event", "note", "battery_percent", "charging", "heart_rate_bpm", "hrv_ms", "stress", "steps",
    "energy_kcal", "distance_m", "duration_s", "estimate", "temperature_celsius",
  ]

  /// Opens the link, and describes the records.
  init(_ live: LiveOutput, _ link: ReconnectingLink<RingClient>) async throws(Failure) {
    printer = try await TimedPrinter(live, of: try await link.open(), Self.columns)
    publisher = live.publisher
    publisher?.announce { [weak link] in link?.device }
  }

  func print(_ event: RingEvent, at time: Instant) {
    printed += 1
    publisher?.update(event, at: time)
    let (name, values) = event.record
    printer.print(
      name, values.merging(["event": .text(name), "estimate": .flag(event.isEstimate)]) { $1 }, at: time,
      text: event.description + (event.isEstimate ? " (estimate)" : ""))
  }
}

extension RingEvent {
  /// The name in a record, and the values of its columns.
  var record: (name: String, values: [String: Field]) {
    switch self {
    case .battery(let battery):
      ("battery", ["battery_percent": .number(Int(battery.percent)), "charging": .flag(battery.isCharging)])
    case .payloadLength(let length): ("payload-length", ["note": .text("\(length)")])
    case .liveTotals(let totals):
      (
        "totals",
        [
          "steps": .number(Int(totals.steps)), "energy_kcal": .energy(Int(totals.calories)),
          "distance_m": .number(Int(totals.meters)),
        ]
      )
    case .variability(let number): ("hrv", ["hrv_ms": .number(Int(number))])
    case .stress(let number): ("stress", ["stress": .number(Int(number))])
    case .camera(let camera): ("camera", ["note": .text("\(camera)")])
    case .mediaKey(let key): ("key", ["note": .text("\(key)")])
    case .findsPhone(let begins): ("find-phone", ["note": .text(begins ? "begins" : "ends")])
    case .sport(let update):
      (
        "sport",
        [
          "note": .text(update.interruption), "heart_rate_bpm": .number(Int(update.beatsPerMinute)),
          "steps": .number(Int(update.steps)), "energy_kcal": .energy(Int(update.calories)),
          "distance_m": .number(Int(update.meters)), "duration_s": .number(Int(update.seconds)),
        ]
      )
    case .button(let button): ("button", ["note": .text("\(button)")])
    case .heartRateAlarm(let alarm):
      ("heart-rate-alarm", ["note": .text(alarm.word), "heart_rate_bpm": .number(Int(alarm.beatsPerMinute))])
    case .skinTemperature(let tenths):
      ("skin-temperature", ["temperature_celsius": .decimal(tenths, places: 1)])
    // Not in the column of known temperatures.
    case .temperature(let hundredths):
      ("temperature", ["note": .text("\(hundredths) hundredths of a degree by one client")])
    case .naps(let naps): ("nap", ["note": .text(naps.map(\.description).joined(separator: "; "))])
    case .counter(let value): ("counter", ["note": .text("\(value)")])
    case .other(let kind): ("notification", ["note": .text(kind.description)])
    }
  }
}
