import HaloStorage
import RingLink

/// The records of a live command, in csv or in JSON, line by line.
struct RecordFields {
  /// One record.
  struct Record {
    /// In seconds since the first record of the run; at most ``longest``.
    var time: Double
    /// The same as time of day; empty where it is not needed.
    var timeOfDay: String
    var ring: String
    var kind: String
    /// The kind of a record of a measurement: `value`, `beat`, `gap`; empty for samples.
    var state = ""
    /// By column: those that are numbers, of at most ``largest``.
    var values: [String: Double]
    /// Why, of a mark.
    var note: String

    /// In g.
    var acceleration: SIMD3<Double>? {
      guard let x = values["x_g"], let y = values["y_g"], let z = values["z_g"] else { return nil }
      return SIMD3(x, y, z)
    }

    /// The counter of a counted sample's packet.
    var counter: UInt8? { values["packet"].map { UInt8(truncatingIfNeeded: Int($0)) } }
  }

  /// The kind of a line.
  enum Line {
    case record(Record)
    /// The number of records that were dropped here.
    case dropped(Int)
    /// The description of the data.
    case description(JSONValue)
    /// A comment, or the names of the columns.
    case nothing
    case malformed
  }

  /// A record later than this is malformed: 31 years. In seconds.
  static let longest = 1e9
  /// A value beyond this is none: no sensor has as many counts.
  static let largest = 1e15

  /// Columns of numbers that are drawn or counted.
  private static let drawn = Set(SessionReport.Kind.all.flatMap(\.columns) + ["packet"])
  /// The columns of every file of a live command.
  private static let required = ["t", "time", "ring", "kind"]
  private static let droppedStart = "dropped="
  /// The members of a mark in JSON, which csv has in one column.
  private static let noteMembers = ["text", "reason", "bytes", "count", "step_s", "note"]

  /// The indices of the columns of csv; nil before they are known.
  private var columns: [String: Int]?

  mutating func read(_ line: ArraySlice<UInt8>) -> Line {
    switch line.first {
    case nil, UInt8(ascii: "#"): return .nothing
    case UInt8(ascii: "{"): return Self.json(line)
    default: break
    }
    let fields = Self.fields(line)
    guard let columns else {
      let names = Dictionary(fields.enumerated().map { ($1, $0) }) { first, _ in first }
      guard Self.required.allSatisfy({ names[$0] != nil }) else { return .malformed }
      self.columns = names
      return .nothing
    }
    // Files that were put together have the columns again.
    if fields[0] == "t" { return .nothing }
    if fields[0].hasPrefix(Self.droppedStart) {
      return Int(fields[0].dropFirst(Self.droppedStart.count)).map { .dropped($0) } ?? .malformed
    }
    func field(_ name: String) -> String {
      columns[name].flatMap { $0 < fields.count ? fields[$0] : nil } ?? ""
    }
    guard let time = Self.bounded(Double(field("t")), by: Self.longest) else { return .malformed }
    var values: [String: Double] = [:]
    for name in Self.drawn { values[name] = Self.bounded(Double(field(name)), by: Self.largest) }
    // In csv, a value that was measured in a pause of the stream is in the note: heart_rate_bpm=61.
    if field("kind") == SessionReport.Kind.measured {
      let parts = field("note").split(separator: "=")
      if parts.count == 2, Self.drawn.contains(String(parts[0])) {
        values[String(parts[0])] = Self.bounded(Double(parts[1]), by: Self.largest)
      }
    }
    return .record(
      Record(
        time: time, timeOfDay: field("time"), ring: field("ring"), kind: field("kind"), state: field("state"),
        values: values, note: field("note")))
  }

  /// A file may hold any number: later computations use these without a check.
  private static func bounded(_ number: Double?, by limit: Double) -> Double? {
    number.flatMap { abs($0) <= limit ? $0 : nil }
  }

  private static func json(_ line: ArraySlice<UInt8>) -> Line {
    guard let value = try? JSONValue(parsing: line), case .object(let members) = value else {
      return .malformed
    }
    func text(_ name: String) -> String {
      switch members[name] {
      case .string(let text)?: text
      case .integer(let number)?: String(number)
      case .number(let number)?: String(number)
      default: ""
      }
    }
    func number(_ name: String) -> Double? {
      switch members[name] {
      case .integer(let number)?: Double(number)
      case .number(let number)?: number
      default: nil
      }
    }
    if let header = members["header"] { return .description(header) }
    guard let time = bounded(number("t"), by: longest) else {
      return number("dropped").flatMap { Int(exactly: $0) }.map { .dropped($0) } ?? .malformed
    }
    var values: [String: Double] = [:]
    for name in drawn { values[name] = bounded(number(name), by: largest) }
    return .record(
      Record(
        time: time, timeOfDay: text("time"), ring: text("ring"), kind: text("kind"),
        state: text("state"), values: values,
        note: noteMembers.map(text).filter { !$0.isEmpty }.joined(separator: ": ")))
  }

  private static let clockLength = "2026-11-23T03:06:04".count

  /// The wall clock of `2026-11-23T03:06:04.831976+00:00` in seconds since 1970; nil if it is malformed.
  static func wallClock(of text: String) -> Double? {
    guard let time = RingTime(String(text.prefix(clockLength))) else { return nil }
    return Double(time.seconds) + (Double("0" + fraction(of: text)) ?? 0)
  }

  /// The same in UTC.
  static func unixTime(of text: String) -> Double? {
    guard let clock = wallClock(of: text) else { return nil }
    let zone = text.dropFirst(clockLength + fraction(of: text).count)
    if zone == "Z" { return clock }
    let parts = zone.dropFirst().split(separator: ":").map { Int($0) }
    guard zone.first == "+" || zone.first == "-", parts.count == 2, let hours = parts[0],
      let minutes = parts[1],
      (0...15).contains(hours), (0...59).contains(minutes)
    else { return nil }
    let offset = Double(hours * 3600 + minutes * 60)
    return zone.first == "-" ? clock + offset : clock - offset
  }

  /// Begins with the point, if there is one.
  private static func fraction(of text: String) -> Substring {
    text.dropFirst(clockLength).prefix { $0 == "." || $0.isNumber }
  }

  /// The fields of a line of csv (RFC 4180).
  static func fields(_ line: ArraySlice<UInt8>) -> [String] {
    let quote = UInt8(ascii: "\"")
    var fields: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var index = line.startIndex
    while index < line.endIndex {
      let byte = line[index]
      index += 1
      switch byte {
      case quote where isQuoted && index < line.endIndex && line[index] == quote:
        field.append(quote)
        index += 1
      case quote: isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted:
        fields.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
      default: field.append(byte)
      }
    }
    fields.append(String(decoding: field, as: UTF8.self))
    return fields
  }
}
