import HaloBluetoothCore
import RingLink

/// Samples of the counted stream. Beside the values, a line has the bytes as they were sent: neither the order of bytes nor the
/// sign of acceleration is proved.
extension SampleWriter {
  /// Makes the lines of a counted sample: one of its light and one of its acceleration, as far as they are selected.
  ///
  /// - Parameters:
  ///   - packet: its unwrapped number
  ///   - limit: makes no more lines
  /// - Returns: the number of lines
  package mutating func collect(
    _ sample: CountedSample, packet: Int, at time: Instant, atMost limit: Int = .max
  ) -> Int {
    beginLine(at: time)
    var lines = 0
    let light = sample.light == .green ? SampleKinds.ppg : .spo2
    if kinds.contains(light), limit > 0 {
      printLight(sample, packet, at: time)
      output.endLine()
      lines = 1
    }
    if kinds.contains(.accelerometer), limit > lines {
      printAcceleration(sample, packet, at: time)
      output.endLine()
      lines += 1
    }
    return lines
  }

  private mutating func printLight(_ sample: CountedSample, _ packet: Int, at time: Instant) {
    let isGreen = sample.light == .green
    begin(isGreen ? "ppg" : "spo2", isGreen ? 0 : 1, at: time)
    let raw = sample.raw == 0 ? nil : Int(sample.raw)
    let vital = sample.vital == 0 ? nil : Int(sample.vital)
    switch format {
    case .jsonl:
      write(",\"raw\":", raw, missing: "null")
      if !isGreen { write(",\"infrared\":", Int(sample.infrared)) }
      output.write(isGreen ? ",\"heart_rate_bpm\":" : ",\"spo2_percent\":")
      write("", vital, missing: "null")
      endJSON(packet)
      writeSent(sample.raw)
      if !isGreen { writeSent(sample.infrared) }
      output.write("\"}\n")
    case .csv:
      write(",", raw)
      output.write(",,,")
      if isCounted, kinds.contains(.ppg) { write(",", isGreen ? vital : nil) }
      if isCounted, kinds.contains(.spo2) {
        write(",", isGreen ? nil : Int(sample.infrared))
        write(",", isGreen ? nil : vital)
      }
      skipAcceleration()
      if beginPacket(packet) {
        writeSent(sample.raw)
        if !isGreen { writeSent(sample.infrared) }
      }
      endSample()
    case .text:
      output.write(raw ?? 0, width: 6)
      if isGreen, let raw {
        output.write("  ")
        plot.draw(raw, into: &output)
      } else {
        write("  infrared ", Int(sample.infrared))
      }
      output.write("\n")
    }
  }

  private mutating func printAcceleration(_ sample: CountedSample, _ packet: Int, at time: Instant) {
    begin("accel", 2, at: time)
    let counts = sample.acceleration
    let g = sample.acceleration(encoding)
    switch format {
    case .jsonl:
      writeAxes(g, counts)
      endJSON(packet)
      writeSent(sample.x)
      writeSent(sample.y)
      writeSent(sample.z)
      output.write("\"}\n")
    case .csv:
      skipLight()
      writeAxes(g, counts)
      if beginPacket(packet) {
        writeSent(sample.x)
        writeSent(sample.y)
        writeSent(sample.z)
      }
      endSample()
    case .text:
      if let g {
        writeText(g)
      } else {
        write("x ", Int(counts.x))
        write("  y ", Int(counts.y))
        write("  z ", Int(counts.z))
        output.write("\n")
      }
    }
  }

  /// Writes the number of the packet, unless csv was begun without a column for it.
  private mutating func beginPacket(_ packet: Int) -> Bool {
    guard isCounted else { return false }
    write(",", packet)
    output.write(",")
    return true
  }

  private mutating func endJSON(_ packet: Int) {
    write(",\"packet\":", packet)
    output.write(",\"sent\":\"")
  }

  /// Two bytes in the order in which the ring has sent them.
  private mutating func writeSent(_ value: UInt16) {
    withUnsafeBytes(of: value.littleEndian) { output.writeHex($0.bytes) }
  }
}
