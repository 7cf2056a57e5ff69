import BluetoothCore
import Dissection
import LineOutput
import RingLink

/// How the script of a report reads a ring's samples in the bytes of its packets: the forms of the raw stream's frames,
/// from ``CommandTable``, and the encoding of acceleration.
///
///     [{"name":"PPG","marks":[[0,161],[1,2]],"unit":"","perUnit":1,"values":[["raw",2,[32768,...,1]]]}, ...]
///
/// - `marks`: byte offsets from the command's byte, and the bytes that are there
/// - `unit`: of the values; empty for counts. `perUnit` counts are one unit.
/// - `values`: a name, the offset of its two bytes, and the weight of each bit, that of the first byte's most significant
///   bit first. The value in counts is the sum of the weights of the bits that are 1.
///
/// series.js reads this format.
struct PageSamples {
  /// By the firmware in the capture.
  private var named: AccelerometerEncoding?
  private var detector = AccelerometerEncodingDetector()
  private var hasSamples = false

  mutating func add(_ packet: DissectedPacket) {
    if let firmware = packet.readText(of: RingGATT.firmwareRevision) {
      let ring = RingFirmware(firmwareRevision: firmware, hardwareRevision: nil)
      if let encoding = ring.accelerometerEncoding { named = encoding }
    }
    guard let sample = packet.ring?.sample else { return }
    hasSamples = true
    if case .accelerometer(let acceleration) = sample { detector.observe(acceleration) }
  }

  func write(into output: inout LineWriter) {
    let forms = hasSamples ? CommandTable.entries(for: .frame(.rawStream)).flatMap(\.replies) : []
    output.write("[")
    var isFirst = true
    for form in forms {
      guard let drawing = drawing(of: form) else { continue }
      if !isFirst { output.write(",") }
      isFirst = false
      write(form, drawing, &output)
    }
    output.write("]")
  }

  // MARK: One form

  /// What is drawn of a form: the fields, and how their bytes are read.
  private struct Drawing {
    var fields: [FrameField]
    var unit = ""
    var countsPerUnit = 1
    /// Of a bit of the two bytes, read as a big-endian number.
    var weight: (UInt16) -> Int
  }

  /// - Returns: nil if the form has no sample that can be drawn
  private func drawing(of form: FrameForm) -> Drawing? {
    if form.fields == AccelerometerSample.fields.map(\.field) {
      guard let encoding = named ?? detector.encoding else {
        // The first byte is the same in both encodings: this has the shape, but no unit.
        return Drawing(fields: form.fields) { Int(AccelerometerEncoding.sixteenBit.counts($0)) }
      }
      return Drawing(fields: form.fields, unit: "g", countsPerUnit: Int(encoding.countsPerG)) {
        Int(encoding.counts($0))
      }
    }
    guard form.fields == OpticalSample.fields.map(\.field) else { return nil }
    return Drawing(fields: form.fields.filter { $0.name == "raw" }) { Int($0) }
  }

  private func write(_ form: FrameForm, _ drawing: Drawing, _ output: inout LineWriter) {
    output.write("{\"name\":")
    output.writeQuoted(form.name)
    output.write(",\"marks\":[[0,")
    output.write(Int(RingCommand.rawStream.rawValue))
    for mark in form.marks {
      output.write("],[")
      output.write(mark.offset)
      output.write(",")
      output.write(Int(mark.byte))
    }
    output.write("]],\"unit\":")
    output.writeQuoted(drawing.unit)
    output.write(",\"perUnit\":")
    output.write(drawing.countsPerUnit)
    output.write(",\"values\":[")
    for (index, field) in drawing.fields.enumerated() {
      output.write(index > 0 ? ",[" : "[")
      output.writeQuoted(field.name)
      output.write(",")
      output.write(field.offset)
      output.write(",[")
      for bit in stride(from: 15, through: 0, by: -1) {
        output.write(drawing.weight(1 << bit))
        if bit > 0 { output.write(",") }
      }
      output.write("]]")
    }
    output.write("]}")
  }
}
