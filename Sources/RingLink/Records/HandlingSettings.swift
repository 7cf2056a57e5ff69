/// The display of rings that have one (ring reference, 4.13).
public struct Display: FrameRecord {
  public var isEnabled = false
  public var hand: UInt8 = 1
  /// 1 to ``levels``.
  public var brightness: UInt8 = 1
  /// How many levels of brightness there are.
  public var levels: UInt8 = 5
  /// 1: within the window of time; 2: always.
  public var hours: UInt8 = 2
  public var startHour: UInt8 = 0
  public var startMinute: UInt8 = 0
  public var endHour: UInt8 = 0
  public var endMinute: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("hand", \.hand, at: 3, words: [1: "left", 2: "right"], settable: 1...2),
    RecordField("brightness", \.brightness, at: 4, settable: 1...5),
    RecordField("levels", \.levels, at: 5, settable: 1...255),
    RecordField("hours", \.hours, at: 6, words: [1: "window", 2: "always"], settable: 1...2),
    RecordField("start-hour", \.startHour, at: 7, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 8, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 9, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 10, settable: 0...59),
  ]
}

/// When the ring is to be silent (ring reference, 4.7).
public struct DoNotDisturb: FrameRecord {
  public var isEnabled = false
  public var startHour: UInt8 = 0
  public var startMinute: UInt8 = 0
  public var endHour: UInt8 = 0
  public var endMinute: UInt8 = 0
  public var isManual = false

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("start-hour", \.startHour, at: 3, settable: 0...23),
    RecordField("start-minute", \.startMinute, at: 4, settable: 0...59),
    RecordField("end-hour", \.endHour, at: 5, settable: 0...23),
    RecordField("end-minute", \.endMinute, at: 6, settable: 0...59),
    RecordField("manual", \.isManual, at: 7),
  ]
}

/// Whether a raised hand switches the display on (ring reference, 4.7).
public struct RaiseToWake: FrameRecord {
  public var isEnabled = false
  public var delaySeconds: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("enabled", \.isEnabled, at: 2, .flag(on: 1, off: 2)),
    RecordField("delay", \.delaySeconds, at: 3, .uint8, .seconds),
  ]
}

/// What touching or waving the ring does (ring reference, 4.13). Rings forget it when they restart.
public struct TouchControl: FrameRecord {
  /// 0 is off; the others choose what a phone is told: music, video, e-book, camera, ...
  public var mode: UInt8 = 0
  /// 1 to 30.
  public var sensitivity: UInt8 = 1
  public var sleep: UInt8 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("mode", \.mode, at: 3, words: [0: "off"]),
    RecordField("sensitivity", \.sensitivity, at: 4, settable: 1...30),
    RecordField("sleep", \.sleep, at: 5),
  ]
}
