/// Requests a day by the number of days before today.
package struct DaysAgo: FrameRecord {
  /// 0 is today.
  package var daysAgo: UInt8 = 0

  package init(_ daysAgo: UInt8) { self.daysAgo = daysAgo }

  package static let fields: Fields = Fields(Self(0)) {
    RecordField("days-ago", \.daysAgo, at: 1, .uint8, .days)
  }
}

/// Requests a day by the number of days before today, after a byte that selects reading (ring reference, 4.16).
package struct ReadDaysAgo: FrameRecord {
  /// 0 is today.
  package var daysAgo: UInt8 = 0

  package init(_ daysAgo: UInt8) { self.daysAgo = daysAgo }

  package static let fields: Fields = Fields(Self(0)) {
    RecordField("days-ago", \.daysAgo, at: 2, .uint8, .days)
  }
}

/// Requests a day by a time in it (ring reference, 4.10).
package struct DayByTime: FrameRecord {
  /// In the ring's wall clock, since 1970 as if that were UTC.
  package var seconds: UInt32 = 0
  /// Whether the day is today. Not sent: the end of answers about today differs from their header.
  package var isToday = false

  package init() {}

  /// - Parameters:
  ///   - day: the day that was requested
  ///   - now: the ring's wall clock
  package init(_ day: RingDay, now: RingTime) {
    isToday = day == now.day
    seconds = UInt32(clamping: day.midnight.seconds)
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("time", \.seconds, at: 1, .uint32LittleEndian, .seconds)
  }

  package var day: RingDay { RingTime(seconds: Int(seconds)).day }
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

/// The second frame of a log that is a row of values: what the log is about, and the first values.
protocol RowStart: FrameRecord {
  var values: [UInt8] { get set }
}

/// A ``RowStart`` with the day as rings count back.
struct RowStartDaysAgo: RowStart {
  var daysAgo: UInt8 = 0
  var values: [UInt8] = []

  static let fields: Fields = Fields(Self()) {
    RecordField("days-ago", \.daysAgo, at: 2, .uint8, .days)
    RecordField("values", \.values, at: 3, count: 12)
  }
}

/// A ``RowStart`` with the requested time.
struct RowStartTime: RowStart {
  var seconds: UInt32 = 0
  var values: [UInt8] = []

  static let fields: Fields = Fields(Self()) {
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

/// A log that is a row of values, cut into frames (ring reference, 4.10 and 4.12): byte 1 is the frame's number.
struct RowLog<Start: RowStart>: Sendable {
  private(set) var header: RowHeader?
  private var start: Start?
  private var pieces: [Int: [UInt8]] = [:]
  private let limit: Int

  private static var headerForm: FrameForm { FrameForm("header", startingWith: [0], RowHeader.self) }
  private static var startForm: FrameForm { FrameForm("first values", startingWith: [1], Start.self) }
  private static var pieceForm: FrameForm { FrameForm("values", RowPiece.self) }

  static var forms: [FrameForm] { [.noData, headerForm, startForm, pieceForm] }

  /// - Parameter limit: the answer ends after this number of frames, whatever its header says
  init(limit: Int = 255) { self.limit = limit }

  var minutesPerSlot: Int { Int(header?.interval ?? 1) }

  /// Handles a frame. The contents are the subject of the log and its values; nil if the ring has no data of that day,
  /// or only a header.
  mutating func receive(
    _ frame: RingFrame
  ) throws(RingFrameError) -> LogProgress<(start: Start, values: [UInt8])?> {
    if FrameForm.noData.matches(frame) { return .complete(nil) }
    if Self.headerForm.matches(frame) {
      if header == nil { header = try RowHeader(parsing: frame) }
    } else if Self.startForm.matches(frame) {
      start = try Start(parsing: frame)
      pieces[1] = start?.values
    } else {
      let piece = try RowPiece(parsing: frame)
      pieces[Int(piece.index)] = piece.values
    }
    guard let header else { return .incomplete(received: pieces.count, of: nil) }
    let frames = 1..<max(1, min(Int(header.frames), limit))
    let missing = frames.filter { pieces[$0] == nil }
    if missing.isEmpty {
      return .complete(frames.isEmpty ? nil : start.map { ($0, frames.flatMap { pieces[$0] ?? [] }) })
    }
    return missing.last == frames.last
      ? .incomplete(received: frames.count + 1 - missing.count, of: frames.count + 1) : .gaps(missing)
  }

  /// The answer of a ring that has stored `values`; empty for a day without data.
  static func frames(
    _ command: RingCommand, minutesPerSlot: Int, _ start: Start, _ values: [UInt8]
  ) -> [RingFrame] {
    guard !values.isEmpty else { return [RingFrame(command, NoFields(), form: .noData)] }
    var start = start
    let room = Start.fields.last?.field.range.count ?? 0
    start.values = Array(values.prefix(room))
    let rest = values.dropFirst(room)
    let length = RowPiece.fields.last?.field.range.count ?? 1
    let starts = stride(from: rest.startIndex, to: rest.endIndex, by: length).prefix(253)
    let pieces = starts.enumerated().map { offset, start in
      RowPiece(index: UInt8(offset + 2), values: Array(rest[start...].prefix(length)))
    }
    let header = RowHeader(
      frames: UInt8(pieces.count + 2), interval: UInt8(clamping: minutesPerSlot))
    return [RingFrame(command, header, form: headerForm), RingFrame(command, start, form: startForm)]
      + pieces.map { RingFrame(command, $0) }
  }
}

extension RowLog<RowStartDaysAgo> {
  /// Handles a frame of the log of a day. The contents are its values; nil if the ring has no data of that day.
  mutating func receive(
    _ frame: RingFrame, daysAgo: UInt8
  ) throws(RingFrameError) -> LogProgress<[UInt8]?> {
    let progress = try receive(frame)
    return try progress.map { contents throws(RingFrameError) in
      guard let contents else { return nil }
      guard contents.start.daysAgo == daysAgo else {
        throw .value("it is about \(contents.start.daysAgo) days ago, not \(daysAgo)")
      }
      return contents.values
    }
  }
}
