import BluetoothCore
import Central
import EventLoop
import GATTClient
import LineOutput
import RingLink

private enum EventsOption {
  static let camera = Flag(
    "--camera", help: "put the ring into camera mode: it reports when the hand is shaken")
  static let count = Option("--count", as: .count, help: "stop after N events")
  static let duration = Option("--duration", as: .time, help: "stop after this time")
}

let eventsCommand = CommandSpec(
  name: "events", arguments: "[RING]",
  summary: "print the ring's notifications: battery, steps, gestures, keys", positionals: 0...1,
  options: [EventsOption.camera, EventsOption.count, EventsOption.duration, CommonOptions.retryTime]
    + LiveOption.all,
  examples: [
    ("halo-raw events --count 3 --adapter virtual:fast,events=1", "print three events"),
    ("halo-raw events --camera --count 2 --adapter virtual:fast", "wait until the hand is shaken"),
  ],
  details: """
    HRV and stress values are marked as estimates: firmware replaces implausible values with random numbers.

    If the connection is lost, it is made again within --retry-for; a record of the event "gap" marks the loss.
    """
) { invocation throws(Failure) in
  let count = invocation[EventsOption.count]
  let duration = invocation[EventsOption.duration]
  let camera = invocation[EventsOption.camera]
  let retryTime = invocation[CommonOptions.retryTime]
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let live = try await LiveOutput(invocation, session)
    let end = Interruption(following: session.interruption)
    let link = session.keepRing(
      LinkKeeper.Budget(invocation, retryTime: retryTime, isSteady: true), until: end
    ) {
      ring throws(Failure) in
      try await live.describe(ring)
    }
    let writer = try await EventWriter(live, try await link.open())
    if let duration { session.timers.schedule(after: duration) { end.request() } }
    Console.hint("listening to \(session.ringName ?? live.device); Ctrl-C ends it")
    try await live.complete({ writer.ring.client }) { () async throws(Failure) in
      link.onLoss = { failure in
        if !end.isRequested { writer.markGap(failure.message) }
      }
      try await end.excuses { () async throws(Failure) in
        try await link.ask { ring throws(Failure) in
          writer.ring = ring
          try await end.ends { () async throws(Failure) in
            try await ringFailure(
              await ring.listen(camera: camera) { event, time in
                guard !end.isRequested else { return }
                link.dataFlow()
                writer.print(event, at: time)
                if writer.printed == count || writer.hasFailed { end.request() }
              })
          }
        }
      }
    }
    await link.close()
  }
}

private let sportDuration = Option(
  "--duration", as: .time, help: "stop after this time, counted from the first report of the ring")

let sportCommand = CommandSpec(
  name: "sport", arguments: "KIND [RING]",
  summary: "run a sport session on the ring; print its state each second",
  positionals: 1...2,
  options: [sportDuration] + LiveOption.all,
  examples: [
    ("halo-raw sport walk --duration 5s --adapter virtual:fast", "walk for five seconds")
  ],
  details: """
    KIND is \(Sport.names). The session lasts until Ctrl-C or --duration; then the ring ends it.
    """
) { invocation throws(Failure) in
  let name = invocation.positionals[0]
  guard let sport = Sport.allCases.first(where: { "\($0)" == name }) else {
    throw .usage("unknown sport \"\(name.printable)\"; use \(Sport.names)")
  }
  let duration = invocation[sportDuration]
  var target = invocation
  target.positionals.removeFirst()
  try await Session.run(target, endsInOrder: true) { session throws(Failure) in
    let live = try await LiveOutput(invocation, session)
    let end = Interruption(following: session.interruption)
    let link = session.keepRing(LinkKeeper.Budget(first: session.request.deadline, later: .zero)) {
      ring throws(Failure) in
      try await live.describe(ring)
    }
    let writer = try await EventWriter(live, try await link.open())
    try await live.complete({ writer.ring.client }) { () async throws(Failure) in
      try await link.ask { ring throws(Failure) in
        // The session has begun: another one would count from zero.
        link.dataFlow()
        writer.ring = ring
        try await end.ends { () async throws(Failure) in
          try await ringFailure(
            await ring.exercise(sport) { update, time in
              guard !end.isRequested else { return }
              writer.print(.sport(update), at: time)
              if writer.printed == 1, let duration {
                session.timers.schedule(after: duration) { end.request() }
              }
              if writer.hasFailed { end.request() }
            })
        }
      }
    }
    await link.close()
  }
}

extension Sport {
  fileprivate static var names: String { allCases.map { "\($0)" }.joined(separator: ", ") }
}

/// Prints events as records. The columns are those of all events.
@BluetoothActor
private final class EventWriter {
  /// The ring, on its link of now.
  var ring: Ring
  private(set) var printed = 0
  private var printer: TimedPrinter
  private let publisher: RingPublisher?

  private static let columns: [(name: String, unit: String?)] = [
    ("event", nil), ("note", nil), ("battery", "percent"), ("charging", nil), ("heart_rate", "bpm"),
    ("hrv", "ms"), ("stress", nil), ("steps", nil), ("energy", "kcal"), ("distance", "m"), ("duration", "s"),
    ("estimate", nil),
  ]

  init(_ live: LiveOutput, _ ring: Ring) async throws(Failure) {
    self.ring = ring
    try await live.begin(ring, columns: Self.columns)
    publisher = live.publisher
    publisher?.announce(ring)
    printer = TimedPrinter(live, Self.columns)
  }

  var hasFailed: Bool { printer.hasFailed }

  /// Marks the loss of the link.
  func markGap(_ reason: String) {
    let fields =
      [.text("gap"), .text(reason)] + [Field](repeating: .text(nil), count: Self.columns.count - 2)
    printer.print("gap", fields, at: ring.timers.current.wholeMicroseconds, text: "gap: \(reason)")
  }

  func print(_ event: RingEvent, at time: Instant) {
    printed += 1
    publisher?.update(event)
    let record = EventFields(event)
    printer.print(
      record.name,
      [
        .text(record.name), .text(record.note), .number(record.batteryPercent),
        .optionalFlag(record.isCharging), .number(record.beatsPerMinute), .number(record.variability),
        .number(record.stress), .number(record.steps), .energy(record.calories), .number(record.meters),
        .number(record.seconds),
        .flag(event.isEstimate),
      ], at: time, text: event.description + (event.isEstimate ? " (estimate)" : ""))
  }
}

/// The values of an event in a record.
private struct EventFields {
  var name = ""
  var note: String?
  var batteryPercent: Int?
  var isCharging: Bool?
  var beatsPerMinute: Int?
  /// In milliseconds.
  var variability: Int?
  var stress: Int?
  var steps: Int?
  var calories: Int?
  var meters: Int?
  var seconds: Int?

  init(_ event: RingEvent) {
    switch event {
    case .battery(let battery):
      (name, batteryPercent, isCharging) = ("battery", Int(battery.percent), battery.isCharging)
    case .payloadLength(let length): (name, note) = ("payload-length", "\(length)")
    case .liveTotals(let totals):
      name = "totals"
      (steps, calories, meters) = (Int(totals.steps), Int(totals.calories), Int(totals.meters))
    case .variability(let number): (name, variability) = ("hrv", Int(number))
    case .stress(let number): (name, stress) = ("stress", Int(number))
    case .camera(let camera): (name, note) = ("camera", "\(camera)")
    case .mediaKey(let key): (name, note) = ("key", "\(key)")
    case .findsPhone(let begins): (name, note) = ("find-phone", begins ? "begins" : "ends")
    case .sport(let update):
      (name, beatsPerMinute) = ("sport", Int(update.beatsPerMinute))
      (steps, calories, meters) = (Int(update.steps), Int(update.calories), Int(update.meters))
      seconds = Int(update.seconds)
      note = update.interruption
    case .button(let button): (name, note) = ("button", "\(button)")
    case .heartRateAlarm(let alarm):
      (name, note) = ("heart-rate-alarm", alarm.limit == 1 ? "too-low" : "too-high")
      beatsPerMinute = Int(alarm.beatsPerMinute)
    case .counter(let value): (name, note) = ("counter", "\(value)")
    case .other(let kind): (name, note) = ("notification", kind.description)
    }
  }
}
