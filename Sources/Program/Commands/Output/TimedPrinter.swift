import HaloBluetoothCore
import HaloLineOutput

/// Prints records of something that happens: the time since the first of them, the time of day, the device, a number that
/// counts the records of each kind from 0, and the fields. What is not read in time is dropped.
struct TimedPrinter: ~Copyable {
  private var printer: RecordPrinter
  /// Sends the records to a broker.
  private var mirror: RecordPrinter?
  private let format: OutputFormat
  private var origin: Instant?
  private var clock: RecordClock
  private let device: String
  private let showsTime: Bool
  private let tally: RecordTally
  /// Which of the command's columns has the number of dropped records.
  private let countColumn: Int
  private let columnCount: Int
  private var counts: [String: Int] = [:]

  /// The columns before those of a command.
  static let columns: [(name: String, unit: String?)] = [
    ("t", nil), ("time", nil), ("ring", nil), ("seq", nil),
  ]

  /// - Parameters:
  ///   - live: the destination, and the time of day
  ///   - columns: those of the command
  ///   - origin: what the time is counted from; nil for the first record
  ///   - showsTime: whether a line of text begins with the time of day
  @BluetoothActor
  init(
    _ live: LiveOutput, _ columns: [(name: String, unit: String?)], origin: Instant? = nil,
    showsTime: Bool = true
  ) {
    countColumn = columns.firstIndex { ["note", "value", "name"].contains($0.name) } ?? columns.count - 1
    columnCount = columns.count
    let columns = Self.columns + columns
    format = live.format
    printer = RecordPrinter(format, columns, header: live.header, output: live.writer)
    if let publisher = live.publisher {
      mirror = RecordPrinter(.jsonl, columns, output: publisher.writer)
    } else {
      mirror = nil
    }
    clock = live.clock.ending()
    device = live.device
    tally = live.makeTally()
    self.origin = origin
    self.showsTime = showsTime
  }

  var hasFailed: Bool { printer.output.failure != nil }

  /// - Parameters:
  ///   - kind: what is counted
  ///   - fields: those of the command
  ///   - time: the receive time
  ///   - text: the same as text; may have several lines; nil if people do not want to read it
  mutating func print(_ kind: String, _ fields: [Field], at time: Instant, text: @autoclosure () -> String?) {
    let start = origin ?? time
    origin = start
    let times = times(kind, time, since: start)
    counts[kind, default: 0] += 1
    tally.count(time)
    mirror?.print(times + fields, text: "")
    let text = format == .text ? text() : ""
    guard let text else { return }
    let mark = dropped(time, since: start)
    printer.print(
      times + fields, droppedAs: mark,
      text: (showsTime ? clock.timeOfDay(time) + "  " : "") + text)
    tally.dropped = printer.output.allDroppedLines
    // Else the mark is dropped, too.
    if mark != nil, printer.output.droppedLines == 0 { counts["dropped", default: 0] += 1 }
  }

  /// Prints the number of records that were dropped after the last one that was printed, if there are any.
  mutating func finish(at time: Instant) {
    if let mark = dropped(time, since: origin ?? time) { printer.finish(droppedAs: mark) }
  }

  /// A record of the number of dropped records; nil if none were.
  private mutating func dropped(_ time: Instant, since start: Instant) -> [Field]? {
    let count = printer.output.droppedLines
    guard count > 0 else { return nil }
    var mark = [Field](repeating: .text(nil), count: columnCount)
    mark[0] = .text("dropped")
    mark[countColumn] = .number(count)
    return times("dropped", time, since: start) + mark
  }

  /// The fields of the columns before those of the command, of the next record of a kind.
  private mutating func times(_ kind: String, _ time: Instant, since start: Instant) -> [Field] {
    [
      .seconds(time.nanoseconds(since: start)), .text(clock.text(time)), .text(device),
      .number(counts[kind, default: 0]),
    ]
  }
}

/// Counts the records of a device.
final class RecordTally {
  private(set) var progress = SessionStatus.Progress(records: 0)
  /// How many were not printed, as they were not read in time.
  var dropped = 0

  /// - Parameter time: when the record was received
  func count(_ time: Instant) {
    progress.records += 1
    progress.last = time
  }
}
