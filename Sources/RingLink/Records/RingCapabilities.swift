/// What a ring says it can do, in answer to Set Time (ring reference, 4.1). Rings without a display claim watch faces
/// and contacts, too: take it for a hint.
public struct RingCapabilities: FrameRecord {
  public var temperature = false
  public var watchFaces = false
  public var menstruation = false
  public var bloodOxygen = false
  public var bloodPressure = false
  public var oneKeyCheck = false
  public var weather = false
  /// In pixels.
  public var displayWidth: UInt16 = 0
  /// In pixels.
  public var displayHeight: UInt16 = 0
  /// Sleep is asked for with bulk id 0x27.
  public var newSleepProtocol = false
  public var maximumWatchFaces: UInt8 = 0
  /// Bits 0 to 4: contacts, lyrics, album, GPS, JieLi music; the rest see the ring reference.
  public var companionFeatures: UInt8 = 0
  public var manualHeartRate = false
  public var music = false
  public var realtek = false
  public var bloodSugar = false
  /// Tens of contacts; 0 means 20.
  public var tensOfContacts: UInt8 = 0
  public var stress = false
  public var variability = false

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("temperature", \.temperature, at: 1),
    RecordField("watch-faces", \.watchFaces, at: 2),
    RecordField("menstruation", \.menstruation, at: 3),
    RecordField("spo2", \.bloodOxygen, at: 4, .bit(1)),
    RecordField("blood-pressure", \.bloodPressure, at: 4, .bit(2)),
    RecordField("one-key-check", \.oneKeyCheck, at: 4, .bit(4)),
    RecordField("weather", \.weather, at: 4, .bit(5)),
    RecordField("display-width", \.displayWidth, at: 5, .uint16LittleEndian),
    RecordField("display-height", \.displayHeight, at: 7, .uint16LittleEndian),
    RecordField("new-sleep-protocol", \.newSleepProtocol, at: 9),
    RecordField("maximum-watch-faces", \.maximumWatchFaces, at: 10),
    RecordField("companion-features", \.companionFeatures, at: 11),
    RecordField("manual-heart-rate", \.manualHeartRate, at: 12, .bit(0)),
    RecordField("music", \.music, at: 12, .bit(4)),
    RecordField("realtek", \.realtek, at: 12, .bit(5)),
    RecordField("blood-sugar", \.bloodSugar, at: 12, .bit(7)),
    RecordField("tens-of-contacts", \.tensOfContacts, at: 13),
    RecordField("stress", \.stress, at: 14, .bit(4)),
    RecordField("hrv", \.variability, at: 14, .bit(5)),
  ]
}
