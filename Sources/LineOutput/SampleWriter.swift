import BluetoothCore
import RingLink

/// Kinds of samples.
public struct SampleKinds: OptionSet, Sendable {
  public var rawValue: UInt8

  public static let ppg = SampleKinds(rawValue: 1)
  public static let accelerometer = SampleKinds(rawValue: 2)
  public static let spo2 = SampleKinds(rawValue: 4)
  public static let all: SampleKinds = [.ppg, .accelerometer, .spo2]

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }
}

/// Prints samples, one per line. The end of the hot path: nothing is allocated for a sample.
public struct SampleWriter: ~Copyable {
  private let format: OutputFormat
  private let kinds: SampleKinds
  public private(set) var output: LineWriter
  private var detector: AccelerometerEncodingDetector
  private var origin: Instant?
  private var plot = DotPlot()

  /// - Parameters:
  ///   - encoding: how the ring encodes acceleration; nil to detect it from the samples
  ///   - output: the destination
  public init(
    _ format: OutputFormat, kinds: SampleKinds, encoding: AccelerometerEncoding?,
    output: consuming LineWriter = LineWriter()
  ) {
    self.output = output
    self.format = format
    self.kinds = kinds
    detector = AccelerometerEncodingDetector(known: encoding)
    guard format == .csv else { return }
    self.output.write("t_s,kind")
    if kinds.contains(.ppg) || kinds.contains(.spo2) { self.output.write(",raw,max,min,diff") }
    if kinds.contains(.accelerometer) { self.output.write(",x_g,y_g,z_g,raw_x,raw_y,raw_z") }
    self.output.write("\n")
    self.output.flush()
  }

  /// How acceleration is encoded; nil while unknown.
  public var encoding: AccelerometerEncoding? { detector.encoding }

  /// The result for a sample.
  public enum Outcome: Sendable {
    case printed
    /// Its kind is not selected.
    case filtered
    /// Dropped, because the output was not read in time.
    case dropped
  }

  /// Prints a sample of a selected kind, after the number of samples dropped before it.
  public mutating func print(_ sample: RawSample, at time: Instant) -> Outcome {
    guard collect(sample, at: time) else { return .filtered }
    return flush() == 0 ? .printed : .dropped
  }

  /// Prints the collected samples, with one write if possible.
  ///
  /// - Returns: the number of samples that were dropped, because the output was not read in time
  public mutating func flush() -> Int { output.flush() }

  /// Makes the line of a sample of a selected kind, which ``flush()`` prints together with others.
  ///
  /// - Returns: whether its kind is selected
  public mutating func collect(_ sample: RawSample, at time: Instant) -> Bool {
    if output.droppedLines > 0, output.pending == 0 { printDropped(output.droppedLines, at: time) }
    switch sample {
    case .ppg(let optical) where kinds.contains(.ppg): print(optical, "ppg", at: time)
    case .spo2(let optical) where kinds.contains(.spo2): print(optical, "spo2", at: time)
    case .accelerometer(let acceleration) where kinds.contains(.accelerometer):
      detector.observe(acceleration)
      print(acceleration, at: time)
    default: return false
    }
    output.endLine()
    return true
  }

  /// Prints the number of samples that are missing here.
  private mutating func printDropped(_ count: Int, at time: Instant) {
    begin("dropped", at: time)
    switch format {
    case .jsonl:
      write(",\"count\":", count)
      output.write("}\n")
    case .csv:
      write("=", count)
      writeEmptyFields()
    case .text:
      write("", count)
      output.write(" samples: the output was not read in time\n")
    }
    output.endDropCount()
  }

  private mutating func writeEmptyFields() {
    if kinds != .accelerometer { output.write(",,,,") }
    if kinds.contains(.accelerometer) { output.write(",,,,,,") }
    output.write("\n")
  }

  /// Prints that the stream was interrupted; later samples are from another link.
  public mutating func printGap(_ reason: String, at time: Instant) {
    begin("gap", at: time)
    switch format {
    case .jsonl:
      output.write(",\"reason\":")
      output.write(Field.text(reason).json)
      output.write("}\n")
    case .csv: writeEmptyFields()
    case .text:
      output.write(reason)
      output.write("\n")
    }
    output.flush()
  }

  /// Writes the start of every line: the time since the first sample, and the kind.
  private mutating func begin(_ kind: StaticString, at time: Instant) {
    let start = origin ?? time
    origin = start
    let elapsed = time.nanoseconds(since: start)
    switch format {
    case .jsonl:
      output.write("{\"t\":")
      output.writeSeconds(elapsed)
      output.write(",\"kind\":\"")
      output.write(kind)
      output.write("\"")
    case .csv:
      output.writeSeconds(elapsed)
      output.write(",")
      output.write(kind)
    case .text:
      output.writeSeconds(elapsed)
      output.write(" s  ")
      output.write(kind)
      output.pad(to: 22)
    }
  }

  private mutating func print(_ sample: OpticalSample, _ kind: StaticString, at time: Instant) {
    begin(kind, at: time)
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
      if kinds.contains(.accelerometer) { output.write(",,,,,,") }
      output.write("\n")
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
    begin("accel", at: time)
    let counts = encoding.map { sample.counts($0) }
    let acceleration = encoding.map { sample.acceleration($0) }
    switch format {
    case .jsonl:
      write(",\"x\":", acceleration?.x, missing: "null")
      write(",\"y\":", acceleration?.y, missing: "null")
      write(",\"z\":", acceleration?.z, missing: "null")
      write(",\"raw_x\":", counts.map { Int($0.x) }, missing: "null")
      write(",\"raw_y\":", counts.map { Int($0.y) }, missing: "null")
      write(",\"raw_z\":", counts.map { Int($0.z) }, missing: "null")
      output.write("}\n")
    case .csv:
      if kinds != .accelerometer { output.write(",,,,") }
      write(",", acceleration?.x)
      write(",", acceleration?.y)
      write(",", acceleration?.z)
      write(",", counts.map { Int($0.x) })
      write(",", counts.map { Int($0.y) })
      write(",", counts.map { Int($0.z) })
      output.write("\n")
    case .text:
      if let acceleration {
        write("x ", acceleration.x)
        write(" g  y ", acceleration.y)
        write(" g  z ", acceleration.z)
        output.write(" g\n")
      } else {
        output.write("(its encoding is not known yet)\n")
      }
    }
  }

  private mutating func write(_ label: StaticString, _ value: Int?, missing: StaticString = "") {
    output.write(label)
    if let value { output.write(value) } else { output.write(missing) }
  }

  private mutating func write(_ label: StaticString, _ value: Double?, missing: StaticString = "") {
    output.write(label)
    if let value { output.write(value) } else { output.write(missing) }
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
