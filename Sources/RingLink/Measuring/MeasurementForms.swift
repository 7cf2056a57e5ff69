/// The forms of the updates of a measurement: each kind has fields of its own (ring reference, 4.9). ``MeasurementUpdate``
/// holds those that a measurement uses.
enum MeasurementForms {
  /// The command that starts a measurement, and that its updates have.
  static let command: RingCommand = 0x69

  /// The forms of the request, which the byte of the kind distinguishes.
  static let requests: [FrameForm] =
    CountedSample.Light.allCases.map {
      FrameForm("stream", startingWith: [$0.rawValue], CountedStreamStart.self)
    } + [FrameForm("request", MeasurementStart.self)]

  /// The forms of the known kinds, which the byte of the kind distinguishes; the last one is that of any other kind.
  static let all: [FrameForm] =
    [
      form(.heartRate, [value(.beatsPerMinute), interval]),
      form(
        .bloodPressure,
        [
          value(nil), number("systolic", at: 4, .millimetersOfMercury),
          number("diastolic", at: 5, .millimetersOfMercury),
        ]
      ),
      form(.oxygen, [value(.percent), FrameField("final", at: 4, .flag(on: 1, off: 0))]),
      form(.fatigue, [value(nil)]),
      form(.oneKeyCheck, [value(nil)]),
      form(.continuousHeartRate, [value(.beatsPerMinute), interval]),
      form(.stress, [value(nil), interval]),
      form(.bloodSugar, [value(nil)]),
      form(.variability, [value(.milliseconds), interval]),
      form(.combined, CombinedMeasurement.fields.map(\.field)),
    ] + unproved + [
      FrameForm(
        "update", head + [FrameField("bytes", at: contents.lowerBound, .bytes(UInt8(contents.count)))])
    ]

  /// The place of the bytes behind the kind and the status in the frame.
  static let contents = 3..<15

  /// The forms that only the vendor's software describes. There is no capture of them: the order of the bytes of a pair and the
  /// sign of acceleration are not proved.
  private static let unproved: [FrameForm] =
    CountedSample.Light.allCases.map { form($0.kind, CountedSample.fields($0).map { $0.field.only(.sdk) }) }
    + [
      form(
        .temperatures,
        [pair("first", at: 3), pair("second", at: 5), pair("third", at: 7)].map { $0.only(.sdk) })
    ]

  /// The fields that every kind has.
  private static let head = [MeasurementUpdate.kindField.field, MeasurementUpdate.statusField.field]
  private static let interval = MeasurementUpdate.intervalField.field

  private static func form(_ kind: MeasurementKind, _ fields: [FrameField]) -> FrameForm {
    FrameForm("update", startingWith: [kind.rawValue], head + fields)
  }

  private static func value(_ unit: RingUnit?) -> FrameField { number("value", at: 3, unit) }

  private static func number(_ name: String, at offset: Int, _ unit: RingUnit? = nil) -> FrameField {
    FrameField(name, at: offset, .uint8, unit)
  }

  private static func pair(_ name: String, at offset: Int) -> FrameField {
    FrameField(name, at: offset, .uint16LittleEndian)
  }
}

/// The update of a combined measurement, kind 12, of the vendor's software and of RT11CR.
public struct CombinedMeasurement: FrameRecord {
  /// In beats per minute; 0 for none, here and below.
  public var beatsPerMinute: UInt8 = 0
  /// Heart rate variability in milliseconds. Firmware is known to invent it.
  public var variability: UInt8 = 0
  /// 1 to 99. Firmware is known to invent it.
  public var stress: UInt8 = 0
  /// The latest beat-to-beat interval in milliseconds.
  public var beatInterval: UInt16 = 0
  /// The temperature of the skin; its unit is not stated.
  public var temperature: UInt8 = 0
  /// In mmHg. No ring can measure it.
  public var systolic: UInt8 = 0
  /// In mmHg. No ring can measure it.
  public var diastolic: UInt8 = 0

  public init() {}

  /// The interval between beats comes before the results.
  var hasResult: Bool {
    [beatsPerMinute, variability, stress, temperature, systolic, diastolic].contains { $0 > 0 }
  }

  /// The update that a ring sends.
  package var frame: RingFrame {
    RingFrame(MeasurementForms.command) { frame in
      MeasurementUpdate.fields.store(MeasurementUpdate(.combined), in: &frame)
      Self.fields.store(self, in: &frame)
    }
  }

  package static let fields: Fields = Fields(Self()) {
    RecordField("heart-rate", \.beatsPerMinute, at: 3, .uint8, .beatsPerMinute)
    RecordField("hrv", \.variability, at: 4, .uint8, .milliseconds)
    RecordField("stress", \.stress, at: 5)
    RecordField("interval", \.beatInterval, at: 6, .uint16LittleEndian, .milliseconds)
    RecordField("temperature", \.temperature, at: 8)
    RecordField("systolic", \.systolic, at: 9, .uint8, .millimetersOfMercury)
    RecordField("diastolic", \.diastolic, at: 10, .uint8, .millimetersOfMercury)
  }
}
