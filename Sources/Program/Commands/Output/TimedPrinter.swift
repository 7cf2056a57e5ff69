import HaloBluetoothCore
import HaloCommandLine

/// Prints records of events: the time since the first of them, the time of day, the device, a number that counts the records of
/// each kind from 0, and the fields. Records that are not read in time are dropped.
@BluetoothActor
final class TimedPrinter {
  private var printer: RecordPrinter
  /// Sends the records to a broker.
  private var mirror: RecordPrinter?
  private let format: OutputFormat
  private var origin: Instant?
  private let timers: Timers
  private var clock: RecordClock
  private let device: String
  private let showsTime: Bool
  /// How many records there were, and when the last one was received.
  private(set) var progress = SessionStatus.Progress(records: 0)
  /// The columns of the command. The first one has the kind of a record.
  private let columns: [String]
  private var counts: [String: Int] = [:]

  /// The columns before those of a command.
  private static let times = ["t", "time", "ring", "seq"]

  /// Describes the records of a device.
  ///
  /// - Parameters:
  ///   - live: the destination, and the time of day
  ///   - device: the device; a ring after ``LiveOutput/describe(_:)``
  ///   - columns: those of the command
  ///   - origin: the zero of the time; nil for the first record
  ///   - showsTime: whether a line of text begins with the time of day
  init(
    _ live: LiveOutput, of device: some LinkedDevice, _ columns: [String], origin: Instant? = nil,
    showsTime: Bool = true
  ) async throws(Failure) {
    try await live.begin(device, columns: Self.times + columns)
    self.columns = columns
    timers = device.connection.timers
    format = live.format
    printer = RecordPrinter(format, Self.times + columns, header: live.header, output: live.writer)
    if let publisher = live.publisher {
      mirror = RecordPrinter(.jsonl, Self.times + columns, output: publisher.writer)
    } else {
      mirror = nil
    }
    clock = live.clock.ending()
    self.device = live.device
    self.origin = origin
    self.showsTime = showsTime
    live.use(self)
  }

  var hasFailed: Bool { printer.output.failure != nil }

  /// How many records were not printed, as they were not read in time.
  var dropped: Int { printer.output.allDroppedLines }

  /// - Parameters:
  ///   - kind: the kind, whose records are counted
  ///   - fields: by the names of their columns
  ///   - time: the receive time; nil for now
  ///   - text: the same as text; may have several lines; nil if people do not want to read it
  func print(
    _ kind: String, _ fields: [String: Field], at time: Instant? = nil, text: @autoclosure () -> String?
  ) {
    let time = time ?? now
    let start = origin ?? time
    origin = start
    let record = record(kind, fields, at: time, since: start)
    counts[kind, default: 0] += 1
    progress.records += 1
    progress.last = time
    mirror?.print(record, text: "")
    let text = format == .text ? text() : ""
    guard let text else { return }
    let mark = dropped(time, since: start)
    printer.print(record, droppedAs: mark, text: (showsTime ? clock.timeOfDay(time) + "  " : "") + text)
    // Else the mark is dropped, too.
    if mark != nil, printer.output.droppedLines == 0 { counts["dropped", default: 0] += 1 }
  }

  /// Marks that records may be missing here.
  func markGap(_ reason: String) {
    print("gap", [columns[0]: .text("gap"), "note": .text(reason)], text: "gap: \(reason)")
  }

  /// Prints what a person has marked.
  func mark(_ text: String, at time: Instant) {
    print("mark", [columns[0]: .text("mark"), noteColumn: .text(text)], at: time, text: "mark: \(text)")
  }

  /// The column for the text of a record that is none of the command's own.
  private var noteColumn: String {
    ["note", "value", "name"].first { columns.contains($0) } ?? columns[columns.count - 1]
  }

  /// Prints the number of records that were dropped after the last one that was printed, if there are any. No record follows.
  func finish() {
    let time = now
    if let mark = dropped(time, since: origin ?? time) { printer.finish(droppedAs: mark) }
  }

  private var now: Instant { timers.current.wholeMicroseconds }

  /// A record of the number of dropped records; nil if none were.
  private func dropped(_ time: Instant, since start: Instant) -> [Field]? {
    let count = printer.output.droppedLines
    guard count > 0 else { return nil }
    return record(
      "dropped", [columns[0]: .text("dropped"), noteColumn: .number(count)], at: time, since: start)
  }

  /// The fields of all columns; those that a record of a kind does not have are empty.
  private func record(
    _ kind: String, _ fields: [String: Field], at time: Instant, since start: Instant
  ) -> [Field] {
    assert(fields.keys.allSatisfy(columns.contains), "no such columns: \(fields.keys)")
    return [
      .seconds(time.nanoseconds(since: start)), .text(clock.text(time)), .text(device),
      .number(counts[kind, default: 0]),
    ] + columns.map { fields[$0] ?? .text(nil) }
  }
}

/// Prints one record, in the form that a command line asks for: the name and the value of each field.
///
/// - Parameters:
///   - format: nil for that of a record, which is csv in a pipe
///   - text: the same as text; may have several lines
func printRecord(
  _ invocation: Invocation, _ fields: [(name: String, value: Field)], as format: OutputFormat? = nil,
  text: String
) {
  var printer = RecordPrinter(format ?? OutputFormat(invocation), fields.map(\.name))
  printer.print(fields.map(\.value), text: text)
}

/// A name and a value in two columns, a line for each that has a value.
func twoColumns(_ rows: [(name: String, value: String?)], width: Int) -> String {
  rows.compactMap { name, value in value.map { name + String(repeating: " ", count: width - name.count) + $0 }
  }
  .joined(separator: "\n")
}
