import HaloStorage

/// Samples of light in the lines of a file: records of `stream` in any of its formats, or a table of csv with the columns t and
/// ppg, and x, y, z and n if it has them.
package struct PulseInput {
  /// A sample of light.
  package struct Sample {
    package var ring: String
    /// In seconds, of its arrival.
    package var time: Double
    /// In counts; 0 for no value.
    package var light: Double
    /// In g.
    package var acceleration: SIMD3<Double>?
    /// The counter of its packet; nil if the packets are not counted.
    package var counter: UInt8?
  }

  package enum Line {
    case sample(Sample)
    /// The samples of a ring are interrupted here; of all rings, if it is empty.
    case interruption(ring: String)
    /// Another record, a comment, or the names of the columns.
    case other
    case malformed
  }

  /// The places of the columns of csv; nil before they are known.
  private var columns: Columns?
  /// The last acceleration of each ring: it is in a record of its own.
  private var accelerations: [String: SIMD3<Double>] = [:]

  private struct Columns {
    let time, light: Int
    let ring, kind, counter: Int?
    let axes: (x: Int, y: Int, z: Int)?

    init?(_ names: [String]) {
      func place(_ names: [String], _ all: [String]) -> Int? {
        names.lazy.compactMap { all.firstIndex(of: $0) }.first
      }
      guard let time = place(["t"], names), let light = place(["ppg", "raw"], names) else { return nil }
      (self.time, self.light) = (time, light)
      ring = place(["ring"], names)
      kind = place(["kind"], names)
      counter = place(["n", "packet"], names)
      if let x = place(["x", "x_g"], names), let y = place(["y", "y_g"], names),
        let z = place(["z", "z_g"], names)
      {
        axes = (x, y, z)
      } else {
        axes = nil
      }
    }
  }

  private static let mostRings = 64
  private static let interruptions: Set = ["gap", "pause"]
  /// Lines of text of these kinds are read as such, whatever their text is.
  private static let kindsOfText: Set = ["ppg", "accel", "gap", "pause", "mark", "event"]

  package init() {}

  package mutating func read(_ line: ArraySlice<UInt8>) -> Line {
    switch line.first {
    case nil, UInt8(ascii: "#"): return .other
    case UInt8(ascii: "{"): return json(line)
    default: break
    }
    if columns == nil, let text = text(line) { return text }
    let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    // Files that were put together have the names of the columns again.
    guard let columns, !fields[0].elementsEqual("t".utf8) else {
      columns = Columns(RecordFields.fields(line))
      return columns == nil ? .malformed : .other
    }
    func field(_ place: Int?) -> String {
      place.flatMap { $0 < fields.count ? String(decoding: fields[$0], as: UTF8.self) : nil } ?? ""
    }
    func number(_ place: Int?) -> Double? { Double(field(place)) }
    if field(columns.time).hasPrefix("dropped=") { return .interruption(ring: "") }
    guard let time = number(columns.time) else { return .malformed }
    var acceleration: SIMD3<Double>?
    if let axes = columns.axes, let x = number(axes.x), let y = number(axes.y), let z = number(axes.z) {
      acceleration = SIMD3(x, y, z)
    }
    return record(
      kind: columns.kind == nil ? "ppg" : field(columns.kind), ring: field(columns.ring), time,
      number(columns.light),
      acceleration, packet: number(columns.counter))
  }

  private mutating func json(_ line: ArraySlice<UInt8>) -> Line {
    var fields = RecordFields()
    switch fields.read(line) {
    case .record(let record):
      return self.record(
        kind: record.kind, ring: record.ring, record.time, record.values["raw"], record.acceleration,
        packet: record.values["packet"])
    case .dropped: return .interruption(ring: "")
    case .description, .nothing: return .other
    case .malformed: return .malformed
    }
  }

  /// A line of text: `12.345000 s  ppg  11506 ...`, with the ring's name before the kind if there are several.
  private mutating func text(_ line: ArraySlice<UInt8>) -> Line? {
    let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count > 3, words[1] == "s", let time = Double(words[0]),
      let place = words.dropFirst(2).firstIndex(where: { Self.kindsOfText.contains($0) })
    else { return words.count > 1 && words[1] == "s" ? .other : nil }
    guard !["mark", "event"].contains(words[place]) else { return .other }
    func number(after name: String) -> Double? {
      words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? Double(words[$0 + 1]) : nil }
    }
    var acceleration: SIMD3<Double>?
    if let x = number(after: "x"), let y = number(after: "y"), let z = number(after: "z") {
      acceleration = SIMD3(x, y, z)
    }
    return record(
      kind: words[place], ring: words[2..<place].joined(separator: " "), time, number(after: "ppg"),
      acceleration,
      packet: nil)
  }

  private mutating func record(
    kind: String, ring: String, _ time: Double, _ light: Double?, _ acceleration: SIMD3<Double>?,
    packet: Double?
  ) -> Line {
    if let acceleration, accelerations.count < Self.mostRings || accelerations[ring] != nil {
      accelerations[ring] = acceleration
    }
    guard kind == "ppg" else { return Self.interruptions.contains(kind) ? .interruption(ring: ring) : .other }
    guard time.magnitude <= RecordFields.longest, (light ?? 0).magnitude <= 1e9 else { return .malformed }
    return .sample(
      Sample(
        ring: ring, time: time, light: light ?? 0, acceleration: accelerations[ring],
        counter: packet.flatMap { abs($0) < 1e15 ? UInt8(truncatingIfNeeded: Int($0)) : nil }))
  }
}
