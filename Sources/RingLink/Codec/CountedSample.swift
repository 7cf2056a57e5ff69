/// One frame of the counted stream: command 0x69, kinds 13 and 14 (ring reference, 5.7). It is the only stream whose frames
/// have a number. Only the vendor's software describes it: that pairs of bytes are little-endian and that acceleration has
/// a sign is not proved. Decoding does not allocate.
package struct CountedSample: Hashable, Sendable {
  /// The light that is measured. A ring has one at a time.
  package enum Light: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// Green light: the photoplethysmogram.
    case green = 13
    /// Red and infrared light.
    case red = 14

    package var kind: MeasurementKind { MeasurementKind(rawValue: rawValue) }

    package var description: String { MeasurementKind.words[Int(rawValue)] ?? "" }
  }

  package var light: Light
  /// 0, or an error: the rest is no sample then.
  package var status: UInt8 = 0
  /// Counts the frames, modulo 256; see ``PacketCounter``.
  package var packet: UInt8 = 0
  /// With green light the ring's heart rate in beats per minute, with red light its SpO2 in percent; 0 for none.
  package var vital: UInt8 = 0
  /// Green or red light, in counts of the sensor's converter.
  package var raw: UInt16 = 0
  /// In counts; 0 with green light.
  package var infrared: UInt16 = 0
  /// The axes as sent: each pair of bytes read as a little-endian number.
  package var x: UInt16 = 0
  package var y: UInt16 = 0
  package var z: UInt16 = 0

  /// How many samples a frame holds: one of light, and one of acceleration.
  package static let samples = 2

  package init(_ light: Light) { self.light = light }

  private static let packet = FramePlace(name: "packet", offset: 3)
  private static let vital = FramePlace(name: "vital", offset: 4)
  private static let raw = FramePlace(name: "raw", offset: 5)
  private static let infrared = FramePlace(name: "infrared", offset: 7)
  private static let x = FramePlace(name: "x", offset: 9)
  private static let y = FramePlace(name: "y", offset: 11)
  private static let z = FramePlace(name: "z", offset: 13)

  /// Reads a frame; nil if it is not of the counted stream.
  @inline(__always)
  package init?(_ frame: RingFrame) {
    guard frame.command == MeasurementForms.command, let light = Light(rawValue: frame.byte(at: 1)) else {
      return nil
    }
    self.light = light
    status = frame.byte(at: 2)
    packet = frame.byte(at: Self.packet.offset)
    vital = frame.byte(at: Self.vital.offset)
    raw = Self.raw.littleEndianWord(frame)
    if light == .red { infrared = Self.infrared.littleEndianWord(frame) }
    x = Self.x.littleEndianWord(frame)
    y = Self.y.littleEndianWord(frame)
    z = Self.z.littleEndianWord(frame)
  }

  /// The frame that a ring sends for this sample.
  package var frame: RingFrame {
    RingFrame(MeasurementForms.command) { frame in
      frame.store(light.rawValue, at: 1)
      frame.store(status, at: 2)
      Self.fields(light).store(self, in: &frame)
    }
  }

  /// The fields from byte 3 on.
  static func fields(_ light: Light) -> [RecordField<Self>] { light == .green ? greenFields : redFields }

  private static let greenFields: [RecordField<Self>] =
    [
      RecordField("packet", \.packet, at: packet.offset),
      RecordField("heart-rate", \.vital, at: vital.offset, .uint8, .beatsPerMinute),
      RecordField("green", \.raw, at: raw.offset, .uint16LittleEndian),
    ] + axes
  private static let redFields: [RecordField<Self>] =
    [
      RecordField("packet", \.packet, at: packet.offset),
      RecordField("spo2", \.vital, at: vital.offset, .uint8, .percent),
      RecordField("red", \.raw, at: raw.offset, .uint16LittleEndian),
      RecordField("infrared", \.infrared, at: infrared.offset, .uint16LittleEndian),
    ] + axes
  private static let axes: [RecordField<Self>] = [
    RecordField("x", \.x, at: x.offset, .uint16LittleEndian),
    RecordField("y", \.y, at: y.offset, .uint16LittleEndian),
    RecordField("z", \.z, at: z.offset, .uint16LittleEndian),
  ]

  /// The axes with a sign.
  package var acceleration: AccelerationCounts {
    AccelerationCounts(x: Int16(bitPattern: x), y: Int16(bitPattern: y), z: Int16(bitPattern: z))
  }

  /// Acceleration in g, if the counts are those of the sensor in 16 bits; nil for another encoding, whose place in these
  /// frames is not known.
  package func acceleration(_ encoding: AccelerometerEncoding?) -> Acceleration? {
    encoding == .sixteenBit ? acceleration.acceleration(.sixteenBit) : nil
  }

  /// Whether it has no value: not even gravity. Firmware that does not know the kind may send such frames.
  var isEmpty: Bool { raw | infrared | x | y | z == 0 }

  /// Distinguishes frames that have the same number.
  var fingerprint: UInt64 {
    UInt64(packet) << 56 | UInt64(vital) << 48 | UInt64(raw) << 32 | UInt64(x ^ infrared) << 16
      | UInt64(y ^ z)
  }
}

/// Starts the counted stream, or lets it go on for that time from now.
package struct CountedStreamStart: FrameRecord {
  package var kind = MeasurementKind.greenStream
  /// How long the ring streams.
  package var seconds: UInt8 = 0

  package init(_ light: CountedSample.Light, seconds: UInt8) {
    kind = light.kind
    self.seconds = seconds
  }

  /// Reads a request; nil if it is one for another measurement.
  package init?(_ frame: RingFrame) {
    guard let start = try? Self.fields.read(frame, of: MeasurementForms.command), start.light != nil else {
      return nil
    }
    self = start
  }

  /// The light to measure with; nil for another kind of measurement.
  package var light: CountedSample.Light? { CountedSample.Light(rawValue: kind.rawValue) }

  package static let fields: Fields = Fields(Self(.green, seconds: 0)) {
    RecordField("kind", \.kind, at: 1, words: MeasurementKind.words).only(.sdk)
    RecordField("seconds", \.seconds, at: 2, .uint8, .seconds).only(.sdk)
  }
}
