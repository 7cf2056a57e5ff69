import HaloDissection
import HaloCommandLine
import RingLink

/// How the script of a report reads a ring's samples in the bytes of its packets: the forms of the streams' frames,
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
  private var hasCounted = false

  mutating func add(_ packet: DissectedPacket) {
    named = packet.accelerometerEncoding ?? named
    if packet.ring?.countedSample != nil { hasCounted = true }
    guard let sample = packet.ring?.sample else { return }
    hasSamples = true
    if case .accelerometer(let acceleration) = sample { detector.observe(acceleration) }
  }

  func write(into output: inout LineWriter) {
    var drawings: [Drawing] = []
    if hasSamples {
      drawings += CommandTable.entries(for: .frame(.rawStream)).flatMap(\.replies).compactMap(drawing(of:))
    }
    if hasCounted { drawings += CountedSample.Light.allCases.flatMap(countedDrawings(of:)) }
    output.array(drawings) { write($1, &$0) }
  }

  // MARK: One form

  /// A drawing of a form: the fields, and how their bytes are read.
  private struct Drawing {
    var name: String
    var command = RingCommand.rawStream
    var marks: [FrameForm.Mark]
    var fields: [FrameField]
    var unit = ""
    var countsPerUnit = 1
    /// The weight of a bit of the two bytes, which are read as a big-endian number.
    var weight: (UInt16) -> Int
  }

  /// - Returns: nil if the form has no sample that can be drawn
  private func drawing(of form: FrameForm) -> Drawing? {
    if form.fields == AccelerometerSample.fields.map(\.field) {
      guard let encoding = named ?? detector.encoding else {
        // The first byte is the same in both encodings: this has the shape, but no unit.
        return Drawing(name: form.name, marks: form.marks, fields: form.fields) {
          Int(AccelerometerEncoding.sixteenBit.counts($0))
        }
      }
      return Drawing(
        name: form.name, marks: form.marks, fields: form.fields, unit: "g",
        countsPerUnit: Int(encoding.countsPerG)
      ) { Int(encoding.counts($0)) }
    }
    guard form.fields == OpticalSample.fields.map(\.field) else { return nil }
    return Drawing(name: form.name, marks: form.marks, fields: form.fields.filter { $0.name == "raw" }) {
      Int($0)
    }
  }

  /// The drawings of the counted stream: its light and its acceleration, in counts.
  private func countedDrawings(of light: CountedSample.Light) -> [Drawing] {
    let frame = CountedSample(light).frame
    let fields =
      CommandTable.entries(for: .frame(frame.command)).flatMap(\.replies)
      .first { $0.matches(frame) }?.fields.filter { $0.form == .uint16LittleEndian } ?? []
    let axes: Set = ["x", "y", "z"]
    let marks = FrameForm("sample", startingWith: [light.rawValue, 0]).marks
    return [
      Drawing(
        name: light.description, command: frame.command, marks: marks,
        fields: fields.filter { !axes.contains($0.name) }
      ) { Int($0.byteSwapped) },
      Drawing(
        name: "acceleration beside \(light)", command: frame.command, marks: marks,
        fields: fields.filter { axes.contains($0.name) }
      ) { Int(Int16(bitPattern: $0.byteSwapped)) },
    ]
  }

  private func write(_ drawing: Drawing, _ output: inout LineWriter) {
    output.write("{")
    output.member("name", drawing.name)
    output.key("marks")
    output.array([(0, drawing.command.rawValue)] + drawing.marks.map { ($0.offset, $0.byte) }) {
      $0.write("[\($1.0),\($1.1)]")
    }
    output.member("unit", drawing.unit)
    output.member("perUnit", drawing.countsPerUnit)
    output.key("values")
    output.array(drawing.fields) { output, field in
      output.write("[")
      output.writeQuoted(field.name)
      output.write(",\(field.offset),")
      output.array(stride(from: 15, through: 0, by: -1)) { $0.write(drawing.weight(1 << $1)) }
      output.write("]")
    }
    output.write("}")
  }
}
