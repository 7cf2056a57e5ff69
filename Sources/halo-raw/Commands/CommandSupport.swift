import ATT
import BluetoothCore
import GAP
import GATTClient
import HaloDissection
import HaloEventLoop
import HaloGATT
import HaloLineOutput
import RingLink

/// The value of an expression, whose ``BluetoothError`` is thrown as a ``Failure``.
@BluetoothActor
func bluetoothFailure<Value>(
  _ work: @autoclosure @BluetoothActor () async throws(BluetoothError) -> Value
) async throws(Failure) -> Value {
  do throws(BluetoothError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}

/// The same for a `GATTError`.
@BluetoothActor
func gattFailure<Value>(
  _ work: @autoclosure @BluetoothActor () async throws(GATTError) -> Value
) async throws(Failure) -> Value {
  do throws(GATTError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}

/// The same for a ``RingError``.
@BluetoothActor
func ringFailure<Value>(
  _ work: @autoclosure @BluetoothActor () async throws(RingError) -> Value
) async throws(Failure) -> Value {
  do throws(RingError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}

extension Interruption {
  /// Runs `work` until its end or the request.
  func ends(_ work: @escaping @BluetoothActor () async throws(Failure) -> Void) async throws(Failure) {
    do throws(Failure) {
      try await cancels(work)
    } catch {
      guard error.code == .interrupted, isRequested else { throw error }
    }
  }

  /// Runs `work`, which ends in order on the request: then its interruption is no failure.
  func excuses(_ work: @BluetoothActor () async throws(Failure) -> Void) async throws(Failure) {
    do throws(Failure) {
      try await work()
    } catch {
      guard error.code == .interrupted, isRequested else { throw error }
    }
  }
}

/// Prints one record: the name, the unit and the value of each field.
///
/// - Parameter text: the same as text; may have several lines
func printRecord(
  _ format: OutputFormat, _ fields: [(name: String, unit: String?, value: Field)], text: String
) {
  var printer = RecordPrinter(format, fields.map { ($0.name, $0.unit) })
  printer.print(fields.map(\.value), text: text)
}

/// A name and a value in two columns, a line for each that has a value.
func twoColumns(_ rows: [(name: String, value: String?)], width: Int) -> String {
  rows.compactMap { name, value in value.map { name + String(repeating: " ", count: width - name.count) + $0 }
  }
  .joined(separator: "\n")
}

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
    countColumn = columns.firstIndex { $0.name == "note" || $0.name == "value" } ?? 0
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
    let count = printer.output.droppedLines
    let mark = count > 0 ? dropped(count, time, since: start) : nil
    printer.print(
      times + fields, droppedAs: mark,
      text: (showsTime ? clock.timeOfDay(time) + "  " : "") + text)
    tally.dropped = printer.output.allDroppedLines
    // Else the mark is dropped, too.
    if mark != nil, printer.output.droppedLines == 0 { counts["dropped", default: 0] += 1 }
  }

  /// A record of the number of dropped records.
  private mutating func dropped(_ count: Int, _ time: Instant, since start: Instant) -> [Field] {
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

/// The attribute that `--uuid` or `--handle` selects.
enum AttributeChoice: Hashable {
  case uuid(BluetoothUUID)
  case handle(AttributeHandle)

  private static let uuidOption = Option("--uuid", as: .uuid, help: "the characteristic with this UUID")
  private static let handleOption = Option(
    "--handle", as: .handle, help: "the attribute with this handle, 1 to 0xffff")

  static let options: [any CommandOption] = [uuidOption, handleOption]
  static let rule = OptionRule.one(options)

  private static let uuidsOption = Option(
    "--uuid", as: .list(of: .uuid), repeatable: true,
    help: "the characteristics with these UUIDs: a list with commas, or several times")
  private static let handlesOption = Option(
    "--handle", as: .list(of: .handle), repeatable: true,
    help: "the characteristics with their values at these handles")

  /// The options of a command that takes several.
  static let listOptions: [any CommandOption] = [uuidsOption, handlesOption]

  /// The attributes that a command line selects with ``listOptions``.
  static func list(_ invocation: Invocation) throws(Failure) -> [AttributeChoice] {
    let all =
      (invocation[uuidsOption] ?? []).map { AttributeChoice.uuid($0) }
      + (invocation[handlesOption] ?? []).map { AttributeChoice.handle($0) }
    guard !all.isEmpty else { throw .usage("give --uuid UUID or --handle H") }
    var seen: Set<AttributeChoice> = []
    return all.filter { seen.insert($0).inserted }
  }

  init(_ invocation: Invocation) throws(Failure) {
    if let uuid = invocation[Self.uuidOption] {
      self = .uuid(uuid)
    } else if let handle = invocation[Self.handleOption] {
      self = .handle(handle)
    } else {
      throw .usage("give --uuid or --handle")
    }
  }

  /// The UUID; nil if a handle was given.
  var uuid: BluetoothUUID? {
    if case .uuid(let uuid) = self { uuid } else { nil }
  }
}

/// Counts the records of a device.
final class RecordTally {
  private(set) var progress = CommandStatus.Progress(records: 0)
  /// How many were not printed, as they were not read in time.
  var dropped = 0

  /// - Parameter time: when the record was received
  func count(_ time: Instant) {
    progress.records += 1
    progress.last = time
  }
}

extension GATTClient {
  /// Finds the first characteristic that is selected, service by service.
  func find(_ choice: AttributeChoice) async throws(GATTError) -> Characteristic {
    try await find([choice], onlyFirst: true)[0]
  }

  /// Finds the selected characteristics. A service that can't be discovered hides no other one.
  ///
  /// - Parameter onlyFirst: whether the first one of each choice is enough; else all that have the UUID are meant
  /// - Returns: at least one for each choice, in the order of the choices and of their handles
  func find(
    _ choices: [AttributeChoice], onlyFirst: Bool = false
  ) async throws(GATTError) -> [Characteristic] {
    var found: [Int: [Characteristic]] = [:]
    var fault: GATTError?
    for service in try await discoverServices() {
      do throws(GATTError) {
        for characteristic in try await discoverCharacteristics(of: service) {
          for (index, choice) in choices.enumerated() where choice.selects(characteristic) {
            found[index, default: []].append(characteristic)
          }
        }
      } catch {
        guard error.isOfOneAttribute else { throw error }
        fault = fault ?? error
      }
      if onlyFirst, found.count == choices.count { break }
    }
    let missing = choices.indices.filter { found[$0] == nil }.map { choices[$0].title }
    guard missing.isEmpty else { throw fault ?? .notFound(missing.joined(separator: ", no ")) }
    var seen: Set<AttributeHandle> = []
    return choices.indices.flatMap { found[$0] ?? [] }.filter { seen.insert($0.valueHandle).inserted }
  }
}

extension GATTError {
  /// Whether the peer has answered, though wrongly: other attributes can be asked for.
  var isOfOneAttribute: Bool {
    switch self {
    case .att(.refused), .att(.malformed), .misbehaved: true
    default: false
    }
  }
}

extension AttributeChoice {
  fileprivate func selects(_ characteristic: Characteristic) -> Bool {
    switch self {
    case .uuid(let uuid): characteristic.uuid == uuid
    case .handle(let handle): characteristic.valueHandle == handle
    }
  }

  fileprivate var title: String {
    switch self {
    case .uuid(let uuid): "characteristic \(uuid)"
    case .handle(let handle): "characteristic with its value at \(handle)"
    }
  }
}

/// What the bytes of a value say.
struct ValueMeaning {
  /// The string that they spell; nil if they are no text.
  var text: String?
  /// A value of the SIG in words: `87 percent`; nil if the type is not known, or is text.
  var words: String?
  private let value: [UInt8]

  /// - Parameter uuid: that of the characteristic or descriptor; nil if it is not known
  init(_ value: [UInt8], of uuid: BluetoothUUID?) {
    self.value = value
    if let type = uuid?.short, !CharacteristicValue.isText(type) {
      words = CharacteristicValue.text(value, type: type)
    }
    let printable = String(printable: value)
    let isTyped = uuid?.short.map(CharacteristicValue.isText) ?? false
    // One or two printable bytes are probably not text.
    let looksLikeText =
      printable.count > 2 && printable.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" }
    text = words == nil && !value.isEmpty && (isTyped || looksLikeText) ? printable : nil
  }

  private var meaning: String? { words ?? text.map { "\"\($0)\"" } }

  /// The bytes, and what they say.
  var description: String {
    guard !value.isEmpty else { return "(empty)" }
    let digits = Hex.string(value, separator: " ")
    return meaning.map { "\(digits)  \($0)" } ?? digits
  }

  /// The same in short, for a table: what they say, else the bytes, at most 72 characters.
  var brief: String {
    guard !value.isEmpty else { return "(empty)" }
    let full = meaning ?? Hex.string(value, separator: " ")
    return full.count <= 72 ? full : "\(full.prefix(64))… (\(value.count) bytes)"
  }
}

/// The columns of a value in a record.
let valueColumns: [(name: String, unit: String?)] = [
  ("handle", nil), ("uuid", nil), ("value", nil), ("name", nil), ("text", nil), ("decoded", nil),
]

func valueFields(
  _ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8], _ meaning: ValueMeaning
) -> [Field] {
  [
    .number(Int(handle.rawValue)), .text(uuid?.description), .text(Hex.string(value)),
    .text(uuid.flatMap { GATTUUID.attributeName(of: $0) }), .text(meaning.text), .text(meaning.words),
  ]
}
