import HaloBluetoothCore

/// A request for a day whose answer is a row of values.
package protocol RowRequest: FrameRecord {
  associatedtype Start: RowStart

  /// The bytes that follow the command's byte.
  static var prefix: [UInt8] { get }

  /// Whether old firmware keeps slots of five minutes for any interval that it reports.
  static var mayHaveFiveMinutes: Bool { get }

  /// - Parameters:
  ///   - day: the day that is requested
  ///   - now: the ring's wall clock
  /// - Returns: nil for a day that cannot be requested
  init?(_ day: RingDay, now: RingTime)

  /// The answer ends after this number of frames, whatever its header says.
  var mostFrames: Int { get }

  /// The subject of the answer.
  var start: Start { get }

  /// Why an answer with this start is none to the request; nil if it is one.
  func objection(to start: Start) -> String?
}

extension RowRequest {
  package static var prefix: [UInt8] { [] }
  package static var mayHaveFiveMinutes: Bool { false }
  package var mostFrames: Int { 255 }
}

/// A day by the number of days before today.
package protocol DaysAgoRequest: RowRequest where Start == RowStartDaysAgo {
  /// 0 is today.
  var daysAgo: UInt8 { get }

  init(_ daysAgo: UInt8)
}

extension DaysAgoRequest {
  package init?(_ day: RingDay, now: RingTime) {
    guard let daysAgo = now.daysSince(day) else { return nil }
    self.init(daysAgo)
  }

  package var start: RowStartDaysAgo { RowStartDaysAgo(daysAgo: daysAgo) }

  package func objection(to start: RowStartDaysAgo) -> String? {
    start.daysAgo == daysAgo ? nil : "it is about \(start.daysAgo) days ago, not \(daysAgo)"
  }
}

/// Requests a day by the number of days before today.
package struct DaysAgo: DaysAgoRequest {
  package var daysAgo: UInt8

  package init(_ daysAgo: UInt8) { self.daysAgo = daysAgo }

  package static let fields: Fields = Fields(Self(0)) {
    RecordField("days-ago", \.daysAgo, at: 1, .uint8, .days)
  }
}

/// The same after a byte that selects reading (ring reference, 4.16).
package struct ReadDaysAgo: DaysAgoRequest {
  package var daysAgo: UInt8

  package init(_ daysAgo: UInt8) { self.daysAgo = daysAgo }

  /// 2 would set the counter back.
  package static let prefix: [UInt8] = [1]

  package static let fields: Fields = Fields(Self(0)) {
    RecordField("days-ago", \.daysAgo, at: 2, .uint8, .days)
  }
}

/// Requests a day by a time in it (ring reference, 4.10).
package struct DayByTime: RowRequest {
  /// In the ring's wall clock, since 1970 as if that were UTC.
  package var seconds: UInt32 = 0
  /// Whether the day is today. Not sent: the end of answers about today differs from their header.
  package var isToday = false

  package init() {}

  package init(_ day: RingDay, now: RingTime) {
    isToday = day == now.day
    seconds = UInt32(clamping: day.midnight.seconds)
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("time", \.seconds, at: 1, .uint32LittleEndian, .seconds)
  }

  package var day: RingDay { RingTime(seconds: Int(seconds)).day }

  package static var mayHaveFiveMinutes: Bool { true }

  /// Answers about today end with frame 23.
  package var mostFrames: Int { isToday ? 24 : 255 }

  package var start: RowStartTime { RowStartTime(seconds: seconds) }

  package func objection(to start: RowStartTime) -> String? {
    let day = RingTime(seconds: Int(start.seconds)).day
    return day == self.day ? nil : "it is about \(day), not \(self.day)"
  }
}

/// The first frame of a log that is a row of values.
struct RowHeader: FrameRecord {
  /// The frames of the answer, this one included.
  var frames: UInt8 = 1
  /// The interval between two values.
  var interval: UInt8 = 1

  static let fields: Fields = Fields(Self()) {
    RecordField("frames", \.frames, at: 2, in: 1...255)
    RecordField("interval", \.interval, at: 3, .uint8, .minutes, in: 1...255)
  }
}

/// The second frame of a log that is a row of values: the subject of the log, and the first values.
package protocol RowStart: FrameRecord {
  var values: [UInt8] { get set }
}

/// A ``RowStart`` with the day as rings count back.
package struct RowStartDaysAgo: RowStart {
  var daysAgo: UInt8 = 0
  package var values: [UInt8] = []

  package static let fields: Fields = Fields(Self()) {
    RecordField("days-ago", \.daysAgo, at: 2, .uint8, .days)
    RecordField("values", \.values, at: 3, count: 12)
  }
}

/// A ``RowStart`` with the requested time.
package struct RowStartTime: RowStart {
  var seconds: UInt32 = 0
  package var values: [UInt8] = []

  package static let fields: Fields = Fields(Self()) {
    RecordField("time", \.seconds, at: 2, .uint32LittleEndian, .seconds)
    RecordField("values", \.values, at: 6, count: 9)
  }
}

/// Every other frame of a log that is a row of values.
struct RowPiece: FrameRecord {
  var index: UInt8 = 0
  var values: [UInt8] = []

  static let fields: Fields = Fields(Self()) {
    RecordField("frame", \.index, at: 1)
    RecordField("values", \.values, at: 2, count: 13)
  }
}

/// A log that is a row of values, cut into frames (ring reference, 4.10 and 4.12): byte 1 is the frame's number. Numbers of
/// several bytes are little-endian.
package struct RowLogAssembler<Request: RowRequest, Number: FixedWidthInteger & FieldValue>: LogWriter {
  private let request: Request
  private var header: RowHeader?
  private var start: Request.Start?
  private var pieces: [Int: [UInt8]] = [:]

  package static var requestPrefix: [UInt8] { Request.prefix }

  private static var headerForm: FrameForm { FrameForm("header", startingWith: [0], RowHeader.self) }
  private static var startForm: FrameForm {
    FrameForm("first values", startingWith: [1], Request.Start.self)
  }

  package static var forms: [FrameForm] {
    [.noData, headerForm, startForm, FrameForm("values", RowPiece.self)]
  }

  package init(_ request: Request) { self.request = request }

  package mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<DaySlots<Number>> {
    if FrameForm.noData.matches(frame) { return .complete(.empty) }
    if Self.headerForm.matches(frame) {
      if header == nil { header = try RowHeader(parsing: frame) }
    } else if Self.startForm.matches(frame) {
      start = try Request.Start(parsing: frame)
      pieces[1] = start?.values
    } else {
      let piece = try RowPiece(parsing: frame)
      pieces[Int(piece.index)] = piece.values
    }
    guard let header else { return .incomplete(received: pieces.count, of: nil) }
    let numbers = 1..<max(1, min(Int(header.frames), request.mostFrames))
    let missing = numbers.filter { pieces[$0] == nil }
    guard missing.isEmpty else { return .waiting(for: missing, of: numbers) }
    guard !numbers.isEmpty, let start else { return .complete(.empty) }
    if let objection = request.objection(to: start) { throw .value(objection) }
    return .complete(Self.slots(Int(header.interval), numbers.flatMap { pieces[$0] ?? [] }))
  }

  private static func slots(_ minutes: Int, _ bytes: [UInt8]) -> DaySlots<Number> {
    var slots = DaySlots<Number>(minutesPerSlot: minutes, values: [])
    bytes.withReader { reader in
      while let number = try? Number(parsing: &reader) { slots.values.append(number) }
    }
    // Values beyond the day's end show it.
    if Request.mayHaveFiveMinutes, minutes > 5,
      slots.values.prefix(288).dropFirst(slots.slotsOfDay).contains(where: { $0 != 0 })
    {
      slots.minutesPerSlot = 5
    }
    return slots.cutToDay
  }

  package static func frames(
    of slots: DaySlots<Number>, command: RingCommand, to request: Request
  ) -> [RingFrame] {
    guard !slots.values.isEmpty else { return [RingFrame(command, NoFields(), form: .noData)] }
    var writer = ByteWriter()
    for value in slots.values { value.write(into: &writer) }
    var start = request.start
    let room = Request.Start.fields.last?.field.range.count ?? 0
    start.values = Array(writer.bytes.prefix(room))
    let length = RowPiece.fields.last?.field.range.count ?? 1
    let starts = stride(from: room, to: writer.count, by: length).prefix(253)
    let pieces = starts.enumerated().map { offset, start in
      RowPiece(index: UInt8(offset + 2), values: Array(writer.bytes[start...].prefix(length)))
    }
    let header = RowHeader(
      frames: UInt8(pieces.count + 2), interval: UInt8(clamping: slots.minutesPerSlot))
    return [RingFrame(command, header, form: headerForm), RingFrame(command, start, form: startForm)]
      + pieces.map { RingFrame(command, $0) }
  }
}
