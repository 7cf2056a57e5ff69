import HaloBluetoothCore
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
    ("estimate", nil), ("temperature", "celsius"),
  ]

  /// Opens the link, and describes the records.
  init(_ live: LiveOutput, _ link: ReconnectingLink<RingClient>) async throws(Failure) {
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

  /// No event follows.
  func finish() { printer.finish(at: timers.current.wholeMicroseconds) }

  func print(_ event: RingEvent, at time: Instant) {
    printed += 1
    publisher?.update(event, at: time)
    let (name, values) = event.record
    printer.print(
      name,
      Self.columns.map { column in
        switch column.name {
        case "event": .text(name)
        case "estimate": .flag(event.isEstimate)
        default: values[column.name] ?? .text(nil)
        }
      }, at: time, text: event.description + (event.isEstimate ? " (estimate)" : ""))
  }
}

extension RingEvent {
  /// The name in a record, and the values of its columns.
  fileprivate var record: (name: String, values: [String: Field]) {
    switch self {
    case .battery(let battery):
      ("battery", ["battery": .number(Int(battery.percent)), "charging": .flag(battery.isCharging)])
    case .payloadLength(let length): ("payload-length", ["note": .text("\(length)")])
    case .liveTotals(let totals):
      (
        "totals",
        [
          "steps": .number(Int(totals.steps)), "energy": .energy(Int(totals.calories)),
          "distance": .number(Int(totals.meters)),
        ]
      )
    case .variability(let number): ("hrv", ["hrv": .number(Int(number))])
    case .stress(let number): ("stress", ["stress": .number(Int(number))])
    case .camera(let camera): ("camera", ["note": .text("\(camera)")])
    case .mediaKey(let key): ("key", ["note": .text("\(key)")])
    case .findsPhone(let begins): ("find-phone", ["note": .text(begins ? "begins" : "ends")])
    case .sport(let update):
      (
        "sport",
        [
          "note": .text(update.interruption), "heart_rate": .number(Int(update.beatsPerMinute)),
          "steps": .number(Int(update.steps)), "energy": .energy(Int(update.calories)),
          "distance": .number(Int(update.meters)), "duration": .number(Int(update.seconds)),
        ]
      )
    case .button(let button): ("button", ["note": .text("\(button)")])
    case .heartRateAlarm(let alarm):
      (
        "heart-rate-alarm",
        ["note": .text(alarm.word), "heart_rate": .number(Int(alarm.beatsPerMinute))]
      )
    case .skinTemperature(let tenths): ("skin-temperature", ["temperature": .decimal(tenths, places: 1)])
    // Not in the column of what is known.
    case .temperature(let hundredths):
      ("temperature", ["note": .text("\(hundredths) hundredths of a degree by one client")])
    case .naps(let naps): ("nap", ["note": .text(naps.map(\.description).joined(separator: "; "))])
    case .counter(let value): ("counter", ["note": .text("\(value)")])
    case .other(let kind): ("notification", ["note": .text(kind.description)])
    }
  }
}
