/// How the ring measures heart rate by itself (ring reference, 4.7). It is the one switch that says 2 for off.
public struct HeartRateSchedule: FrameRecord {
  public var isEnabled = false
  /// Rings know 5, 10, 15, 30 and 60; some keep slots of five minutes whatever it is.
  public var intervalMinutes: UInt8 = 5
  public var startMinutes: UInt8 = 0
  /// In beats per minute; 0 is none.
  public var lowAlarm: UInt8 = 0
  /// In beats per minute; 0 is none.
  public var highAlarm: UInt8 = 0
  public var alarms: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("interval", \.intervalMinutes, at: 3, .uint8, .minutes, settable: 1...255),
    RecordField("start", \.startMinutes, at: 4, .uint8, .minutes),
    RecordField("low-alarm", \.lowAlarm, at: 5, .uint8, .beatsPerMinute),
    RecordField("high-alarm", \.highAlarm, at: 6, .uint8, .beatsPerMinute),
    RecordField("alarms", \.alarms, at: 7),
  ]
}

/// Whether the ring measures something by itself (ring reference, 4.7).
public struct Switch: FrameRecord {
  public var isEnabled = false

  public init() {}

  public static let fields: [RecordField<Self>] = [RecordField("enabled", \.isEnabled, at: 2)]
}

/// How the ring measures the skin's temperature by itself (ring reference, 4.7).
public struct TemperatureSchedule: FrameRecord {
  public var isEnabled = false
  public var intervalMinutes: UInt8 = 30
  public var startMinutes: UInt8 = 5
  public var remindMinutes: UInt8 = 10
  public var alarms: UInt8 = 0
  /// Tenths of a degree above 20 °C.
  public var alarm: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 3),
    RecordField("interval", \.intervalMinutes, at: 4, .uint8, .minutes, settable: 1...255),
    RecordField("start", \.startMinutes, at: 5, .uint8, .minutes),
    RecordField("remind", \.remindMinutes, at: 6, .uint8, .minutes),
    RecordField("alarms", \.alarms, at: 7),
    RecordField("alarm", \.alarm, at: 8),
  ]
}

/// When blood pressure is to be made up (ring reference, 4.7 and 4.9: no ring can measure it).
public struct BloodPressureSchedule: FrameRecord {
  public var isEnabled = false
  public var startHour: UInt8 = 0
  public var startMinute: UInt8 = 0
  public var endHour: UInt8 = 0
  public var endMinute: UInt8 = 0
  public var intervalMinutes: UInt8 = 60

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2),
    RecordField("start-hour", \.startHour, at: 3, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 4, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 5, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 6, settable: 0...59),
    RecordField("interval", \.intervalMinutes, at: 7, .uint8, .minutes, settable: 1...255),
  ]
}
