import ATT
import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

/// The value of an expression, whose ``GATTError`` is thrown as a ``Failure``.
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

extension Session {
  /// Opens the selected ring, unless the command is ended first.
  func openRingUnlessEnded() async throws(Failure) -> Ring {
    try await interruption.cancels { () async throws(Failure) in try await self.openRing() }
  }
}

extension Interruption {
  /// Runs `work` until its end or the request.
  func ends(_ work: @escaping @BluetoothActor () async throws(RingError) -> Void) async throws(Failure) {
    do throws(RingError) {
      try await cancels(work)
    } catch {
      guard error == .cancelled else { throw Failure(error) }
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
  private var origin: Instant?
  private var clock: RecordClock
  private let device: String
  private let showsTime: Bool
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
    printer = RecordPrinter(live.format, Self.columns + columns, header: live.header, output: live.writer)
    clock = live.clock.ending()
    device = live.device
    self.origin = origin
    self.showsTime = showsTime
  }

  var hasFailed: Bool { printer.output.failure != nil }

  /// - Parameters:
  ///   - kind: what is counted
  ///   - fields: those of the command
  ///   - time: the receive time
  ///   - text: the same as text; may have several lines
  mutating func print(_ kind: String, _ fields: [Field], at time: Instant, text: @autoclosure () -> String) {
    let start = origin ?? time
    origin = start
    let number = counts[kind, default: 0]
    counts[kind] = number + 1
    let times: [Field] = [
      .seconds(time.nanoseconds(since: start)), .text(clock.text(time)), .text(device), .number(number),
    ]
    printer.print(times + fields, text: (showsTime ? clock.timeOfDay(time) + "  " : "") + text())
  }
}

/// The attribute that `--uuid` or `--handle` selects.
enum AttributeChoice {
  case uuid(BluetoothUUID)
  case handle(AttributeHandle)

  private static let uuidOption = Option("--uuid", as: .uuid, help: "the characteristic with this UUID")
  private static let handleOption = Option(
    "--handle", as: .handle, help: "the attribute with this handle, 1 to 0xffff")

  static let options: [any CommandOption] = [uuidOption, handleOption]
  static let rule = OptionRule.one(options)

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

extension GATTClient {
  /// Finds the selected characteristic, service by service.
  func find(_ choice: AttributeChoice) async throws(GATTError) -> Characteristic {
    for service in try await discoverServices() {
      for characteristic in try await discoverCharacteristics(of: service) {
        switch choice {
        case .uuid(let uuid) where characteristic.uuid == uuid: return characteristic
        case .handle(let handle) where characteristic.valueHandle == handle: return characteristic
        default: continue
        }
      }
    }
    switch choice {
    case .uuid(let uuid): throw .notFound("characteristic \(uuid)")
    case .handle(let handle): throw .notFound("characteristic with its value at \(handle)")
    }
  }
}

/// A value as text: its bytes, and the string that they spell, if any.
func describe(_ value: [UInt8]) -> String {
  guard !value.isEmpty else { return "(empty)" }
  let digits = Hex.string(value, separator: " ")
  return spelledText(value).map { "\(digits)  \"\($0)\"" } ?? digits
}

/// The same in short, for a table: the string if there is one, else the bytes, at most 72 characters.
func describeBriefly(_ value: [UInt8]) -> String {
  guard !value.isEmpty else { return "(empty)" }
  let full = spelledText(value).map { "\"\($0)\"" } ?? Hex.string(value, separator: " ")
  return full.count <= 72 ? full : "\(full.prefix(64))… (\(value.count) bytes)"
}

/// The string that bytes spell; nil if they are not printable.
private func spelledText(_ value: [UInt8]) -> String? {
  let text = String(printable: value)
  // One or two printable bytes are probably not text.
  let isText = text.count > 2 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\\" }
  return isText ? text : nil
}

/// The columns of a value in a record.
let valueColumns: [(name: String, unit: String?)] = [("handle", nil), ("uuid", nil), ("value", nil)]

func valueFields(_ handle: AttributeHandle, _ uuid: BluetoothUUID?, _ value: [UInt8]) -> [Field] {
  [.number(Int(handle.rawValue)), .text(uuid?.description), .text(Hex.string(value))]
}
