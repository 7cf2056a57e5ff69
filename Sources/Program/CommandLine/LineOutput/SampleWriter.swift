import HaloBluetoothCore
import HaloPulse
import RingLink

/// Kinds of samples.
package struct SampleKinds: OptionSet, Sendable {
  package var rawValue: UInt8

  package static let ppg = SampleKinds(rawValue: 1)
  package static let accelerometer = SampleKinds(rawValue: 2)
  package static let spo2 = SampleKinds(rawValue: 4)
  package static let all: SampleKinds = [.ppg, .accelerometer, .spo2]

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }
}

/// The time of the first record, from which `t` counts. Writers that share it have one `t`.
package final class RecordOrigin {
  private var time: Instant?

  package init() {}

  /// The time of the first record; `time` if there is none yet.
  func time(orNow time: Instant) -> Instant {
    self.time = self.time ?? time
    return self.time ?? time
  }
}

/// Prints samples, one per line. The end of the hot path: nothing is allocated for a sample.
///
/// Each line has the time since the first one, the time of day, the ring, a number that counts the lines of its kind from 0,
/// and the kind. An event between the samples is a line in its place: see ``Mark``.
@usableFromInline package struct SampleWriter: ~Copyable {
  let format: OutputFormat
  let kinds: SampleKinds
  /// Whether csv has the columns of counted samples, and those of beats.
  let isCounted: Bool
  private let hasBeats: Bool
  package internal(set) var output: LineWriter
  private var detector: AccelerometerEncodingDetector
  private var clock: RecordClock
  private let sharedOrigin: RecordOrigin
  private var origin: Instant?
  /// In text: the ring, if there are several.
  private let label: String
  var plot = DotPlot()
  /// The number of lines of each kind.
  private var counts = InlineArray<13, Int>(repeating: 0)

  /// - Parameters:
  ///   - format: the form of the lines
  ///   - kinds: the kinds to print
  ///   - isCounted: whether there may be counted samples
  ///   - hasBeats: whether there may be beats
  ///   - encoding: how the ring encodes acceleration; nil to detect it from the samples
  ///   - clock: the time of day of the stamps
  ///   - ring: the ring's address
  ///   - label: the text before the kind in each line of text; empty for one ring
  ///   - origin: the zero of `t`, which writers may share
  ///   - hasColumns: whether csv begins with the names of the columns
  ///   - header: the first lines, with their line breaks
  ///   - output: the destination
  package init(
    _ format: OutputFormat, kinds: SampleKinds, isCounted: Bool = false, hasBeats: Bool = false,
    encoding: AccelerometerEncoding?, clock: borrowing RecordClock,
    ring: String, label: String = "", origin: RecordOrigin = RecordOrigin(), hasColumns: Bool = true,
    header: String = "", output: consuming LineWriter = LineWriter()
  ) {
    self.output = output
    self.label = label
    sharedOrigin = origin
    self.format = format
    self.kinds = kinds
    self.isCounted = isCounted
    self.hasBeats = hasBeats
    self.clock = clock.ending(with: Self.ending(format, ring))
    detector = AccelerometerEncodingDetector(known: encoding)
    self.output.write(header)
    if format == .csv, hasColumns {
      let columns = Self.columns(of: kinds, isCounted: isCounted, hasBeats: hasBeats)
      self.output.write(columns.joined(separator: ","))
      self.output.write("\n")
    }
    self.output.flush()
  }

  /// The text behind the time in each line.
  private static func ending(_ format: OutputFormat, _ ring: String) -> String {
    switch format {
    case .jsonl: "\",\"ring\":\(Field.text(ring).json),\"seq\":"
    case .csv: ",\(Field.text(ring).csv),"
    case .text: ""
    }
  }

  /// The columns of csv.
  package static func columns(
    of kinds: SampleKinds, isCounted: Bool = false, hasBeats: Bool = false
  ) -> [String] {
    // Statement by statement: one expression takes some compilers seconds.
    var columns = ["t", "time", "ring", "seq", "kind"]
    if kinds != .accelerometer { columns += ["raw", "max", "min", "diff"] }
    if isCounted { columns += countedLightColumns(kinds) }
    if kinds.contains(.accelerometer) { columns += ["x_g", "y_g", "z_g", "raw_x", "raw_y", "raw_z"] }
    if isCounted { columns += ["packet", "sent"] }
    if hasBeats { columns += ["beat_s", "interval_s", "bpm", "quality"] }
    return columns + ["note"]
  }

  /// The columns of counted samples of light alone.
  static func countedLightColumns(_ kinds: SampleKinds) -> [String] {
    (kinds.contains(.ppg) ? ["heart_rate_bpm"] : [])
      + (kinds.contains(.spo2) ? ["infrared", "spo2_percent"] : [])
  }

  /// How acceleration is encoded; nil while unknown.
  package var encoding: AccelerometerEncoding? { detector.encoding }

  /// The result for a sample.
  package enum Outcome: Sendable {
    case printed
    /// Its kind is not selected.
    case filtered
    /// Dropped, because the output was not read in time.
    case dropped
  }

  /// Prints a sample of a selected kind, after the number of samples dropped before it.
  package mutating func print(_ sample: RawSample, at time: Instant) -> Outcome {
    guard collect(sample, at: time) else { return .filtered }
    return flush() == 0 ? .printed : .dropped
  }

  /// Prints the collected samples, with one write if possible.
  ///
  /// - Returns: the number of samples that were dropped, because the output was not read in time
  @usableFromInline package mutating func flush() -> Int { output.flush() }

  /// Makes the line of a sample of a selected kind, which ``flush()`` prints together with others.
  ///
  /// - Returns: whether its kind is selected
  package mutating func collect(_ sample: RawSample, at time: Instant) -> Bool {
    beginLine(at: time)
    switch sample {
    case .ppg(let optical) where kinds.contains(.ppg): print(optical, "ppg", 0, at: time)
    case .spo2(let optical) where kinds.contains(.spo2): print(optical, "spo2", 1, at: time)
    case .accelerometer(let acceleration) where kinds.contains(.accelerometer):
      detector.observe(acceleration)
      print(acceleration, at: time)
    default: return false
    }
    output.endLine()
    return true
  }

  /// Prints first the events before a sample.
  @inline(__always)
  mutating func beginLine(at time: Instant) {
    if output.droppedLines > 0, output.pending == 0 { writeDropped(at: time) }
    noteStep(at: time)
  }

  private mutating func writeDropped(at time: Instant) {
    write(.dropped(output.droppedLines), at: time)
    output.endDropCount()
  }

  /// Prints the number of samples that were dropped after the last line, if there are any: call it after the last ``flush()``.
  package mutating func finish(at time: Instant) {
    guard output.droppedLines > 0 else { return }
    _ = clock.prepare(time)
    writeDropped(at: time)
    output.flushEnd()
  }

  /// Prints an event between samples, after the samples collected so far.
  package mutating func mark(_ mark: Mark, at time: Instant) {
    noteStep(at: time)
    write(mark, at: time)
    output.flush()
  }

  /// Marks that the clock was set.
  @inline(__always)
  mutating func noteStep(at time: Instant) {
    _ = clock.prepare(time)
    guard clock.hasStep else { return }
    write(.clock(clock.takeStep()), at: time)
    output.endLine()
  }

  private mutating func write(_ mark: Mark, at time: Instant) {
    begin(mark.kind, mark.index, at: time)
    switch format {
    case .jsonl:
      output.write(",")
      if case .beat(let beat, let rate) = mark { writeMembers(of: beat, rate) }
      output.write(mark.json)
      output.write("}")
    case .csv:
      skipLight()
      skipAcceleration()
      if isCounted {
        output.write(",")
        if let packet = mark.packet { output.write(packet) }
        output.write(",")
      }
      if case .beat(let beat, let rate) = mark { writeColumns(of: beat, rate) } else { skipBeat() }
      output.write(",")
      output.write(Field.text(mark.note).csv)
    case .text: output.write(mark.text)
    }
    output.write("\n")
  }

  /// Writes the start of every line: the time since the first one, the time of day, the ring, the number and the kind.
  mutating func begin(_ kind: StaticString, _ index: Int, at time: Instant) {
    let start = origin ?? begin(at: time)
    let number = counts[index]
    counts[index] = number &+ 1
    let elapsed = time.nanoseconds(since: start)
    switch format {
    case .jsonl:
      output.write("{\"t\":")
      output.writeSeconds(elapsed)
      output.write(",\"time\":\"")
      clock.write(time, into: &output)
      output.write(number)
      output.write(",\"kind\":\"")
      output.write(kind)
      output.write("\"")
    case .csv:
      output.writeSeconds(elapsed)
      output.write(",")
      clock.write(time, into: &output)
      output.write(number)
      output.write(",")
      output.write(kind)
    case .text:
      output.writeSeconds(elapsed)
      output.write(" s  ")
      if !label.isEmpty { output.write(label) }
      output.write(kind)
      output.pad(to: 22 + label.utf8.count)
    }
  }

  @inline(never)
  private mutating func begin(at time: Instant) -> Instant {
    let start = sharedOrigin.time(orNow: time)
    origin = start
    return start
  }

  private mutating func print(_ sample: OpticalSample, _ kind: StaticString, _ index: Int, at time: Instant) {
    begin(kind, index, at: time)
    // Isolated zeros are gaps of the sensor: the value is dropped, the frame is not (ring reference, 5.3).
    let raw = sample.raw == 0 ? nil : Int(sample.raw)
    switch format {
    case .jsonl:
      write(",\"raw\":", raw, missing: "null")
      write(",\"max\":", Int(sample.max))
      write(",\"min\":", Int(sample.min))
      write(",\"diff\":", Int(sample.diff))
      output.write("}\n")
    case .csv:
      write(",", raw)
      write(",", Int(sample.max))
      write(",", Int(sample.min))
      write(",", Int(sample.diff))
      skipCountedLight()
      skipAcceleration()
      endCSV()
    case .text:
      output.write(raw ?? 0, width: 6)
      if kind.utf8CodeUnitCount == 3, let raw {
        output.write("  ")
        plot.draw(raw, into: &output)
      } else {
        write("  max ", Int(sample.max))
        write("  min ", Int(sample.min))
      }
      output.write("\n")
    }
  }

  private mutating func print(_ sample: AccelerometerSample, at time: Instant) {
    begin("accel", 2, at: time)
    let counts = encoding.map { sample.counts($0) }
    let acceleration = encoding.map { sample.acceleration($0) }
    switch format {
    case .jsonl:
      writeAxes(acceleration, counts)
      output.write("}\n")
    case .csv:
      skipLight()
      writeAxes(acceleration, counts)
      endCSV()
    case .text:
      if let acceleration {
        writeText(acceleration)
      } else {
        output.write("(its encoding is not known yet)\n")
      }
    }
  }

  /// Writes acceleration in JSON and csv: in g, and in counts.
  mutating func writeAxes(_ g: Acceleration?, _ counts: AccelerationCounts?) {
    if format == .jsonl {
      output.write(",")
      output.writeMembers(g, counts)
    } else {
      write(",", g?.x)
      write(",", g?.y)
      write(",", g?.z)
      write(",", counts.map { Int($0.x) })
      write(",", counts.map { Int($0.y) })
      write(",", counts.map { Int($0.z) })
    }
  }

  /// Writes acceleration in text.
  mutating func writeText(_ g: Acceleration) {
    write("x ", g.x)
    write(" g  y ", g.y)
    write(" g  z ", g.z)
    output.write(" g\n")
  }

  // MARK: Columns without a value

  mutating func skipLight() {
    if kinds != .accelerometer { output.write(",,,,") }
    skipCountedLight()
  }

  mutating func skipCountedLight() {
    guard isCounted else { return }
    if kinds.contains(.ppg) { output.write(",") }
    if kinds.contains(.spo2) { output.write(",,") }
  }

  mutating func skipAcceleration() {
    if kinds.contains(.accelerometer) { output.write(",,,,,,") }
  }

  /// Ends a line of csv of a sample that is not counted.
  private mutating func endCSV() {
    if isCounted { output.write(",,") }
    endSample()
  }

  /// Ends a line of csv of any sample.
  mutating func endSample() {
    skipBeat()
    output.write(",\n")
  }

  private mutating func skipBeat() { if hasBeats { output.write(",,,,") } }

  // MARK: Beats

  /// The time of a beat on the clock of `t`, in seconds.
  private func seconds(of beat: Beat) -> Double { beat.time - (origin ?? .zero).inSeconds }

  private mutating func writeColumns(of beat: Beat, _ rate: Double?) {
    guard hasBeats else { return }
    write(",", seconds(of: beat))
    write(",", beat.interval)
    write(",", rate)
    write(",", beat.quality)
  }

  private mutating func writeMembers(of beat: Beat, _ rate: Double?) {
    output.write("\"beat_s\":", seconds(of: beat), missing: "null")
    output.write(",\"interval_s\":", beat.interval, missing: "null")
    output.write(",\"bpm\":", rate, missing: "null")
    output.write(",\"quality\":", beat.quality, missing: "null")
    output.write(",")
  }

  mutating func write(_ label: StaticString, _ value: Int?, missing: StaticString = "") {
    output.write(label, value, missing: missing)
  }

  mutating func write(_ label: StaticString, _ value: Double?) { output.write(label, value, missing: "") }
}

extension LineWriter {
  /// Writes acceleration as members of a JSON object, in g and in counts; null while its encoding is not known.
  package mutating func writeMembers(_ g: Acceleration?, _ counts: AccelerationCounts?) {
    write("\"x_g\":", g?.x, missing: "null")
    write(",\"y_g\":", g?.y, missing: "null")
    write(",\"z_g\":", g?.z, missing: "null")
    write(",\"raw_x\":", counts.map { Int($0.x) }, missing: "null")
    write(",\"raw_y\":", counts.map { Int($0.y) }, missing: "null")
    write(",\"raw_z\":", counts.map { Int($0.z) }, missing: "null")
  }

  fileprivate mutating func write(_ label: StaticString, _ value: Int?, missing: StaticString) {
    write(label)
    if let value { write(value) } else { write(missing) }
  }

  fileprivate mutating func write(_ label: StaticString, _ value: Double?, missing: StaticString) {
    write(label)
    if let value { write(value) } else { write(missing) }
  }
}

/// Draws a value as a dot between the smallest and the largest recent value, so that a pulse is visible on a terminal.
struct DotPlot {
  private static let width = 48
  private var low = 0.0
  private var high = 0.0

  mutating func draw(_ value: Int, into output: inout LineWriter) {
    let value = Double(value)
    if high <= low {
      low = value - 1
      high = value + 1
    }
    // The limits follow the signal: immediately when it exceeds them, slowly when it stays within.
    let slack = (high - low) / 100
    low = min(value, low + slack)
    high = max(value, high - slack)
    let place = Int((value - low) / max(high - low, 1) * Double(Self.width - 1))
    for _ in 0..<min(max(place, 0), Self.width - 1) { output.write(" ") }
    output.write("●")
  }
}
