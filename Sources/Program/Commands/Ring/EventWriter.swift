import BluetoothCore
import GATTClient
import HaloCommandLine
import HaloLineOutput
import RingLink

/// Prints events as records. The columns are those of all events.
@BluetoothActor
final class EventWriter {
  private(set) var printed = 0
  private let timers: Timers
  private var printer: TimedPrinter
  private let publisher: RingPublisher?

  private static let columns: [(name: String, unit: String?)] = [
    ("event", nil), ("note", nil), ("battery", "percent"), ("charging", nil), ("heart_rate", "bpm"),
    ("hrv", "ms"), ("stress", nil), ("steps", nil), ("energy", "kcal"), ("distance", "m"), ("duration", "s"),
    ("estimate", nil),
  ]

  /// Opens the link, and describes the records.
  init(_ live: LiveOutput, _ link: KeptLink<Ring>) async throws(Failure) {
    let ring = try await link.open()
    timers = ring.timers
    try await live.begin(ring, columns: Self.columns)
    publisher = live.publisher
    printer = TimedPrinter(live, Self.columns)
    publisher?.announce { [weak link] in link?.device }
  }

  var hasFailed: Bool { printer.hasFailed }

  /// Marks the loss of the link.
  func markGap(_ reason: String) {
    let fields =
      [.text("gap"), .text(reason)] + [Field](repeating: .text(nil), count: Self.columns.count - 2)
    printer.print("gap", fields, at: timers.current.wholeMicroseconds, text: "gap: \(reason)")
  }

  func print(_ event: RingEvent, at time: Instant) {
    printed += 1
    publisher?.update(event, at: time)
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
      (name, note) = ("heart-rate-alarm", alarm.word)
      beatsPerMinute = Int(alarm.beatsPerMinute)
    case .counter(let value): (name, note) = ("counter", "\(value)")
    case .other(let kind): (name, note) = ("notification", kind.description)
    }
  }
}
