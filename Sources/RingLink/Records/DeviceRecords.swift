/// What the ring asks of its host (ring reference, 4.4). Of its 14 bytes, these are understood.
public struct DeviceSupport: FrameRecord {
  /// It offers to bond. Nothing here needs that.
  public var wantsBond = false
  /// It keeps temperatures in the newer form, bulk id 0x77.
  public var hasIntervalTemperature = false
  /// All 14 bytes.
  public var bytes: [UInt8] = Array(repeating: 0, count: 14)

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("bytes", \.bytes, at: 1, count: 14),
    RecordField("wants-bond", \.wantsBond, at: 2, .bit(3)),
    RecordField("interval-temperature", \.hasIntervalTemperature, at: 9, .bit(7)),
  ]
}

/// What a host says of itself (ring reference, 4.3). No ring is known to care.
public struct HostInformation: FrameRecord {
  /// 2 is Android, which is what rings expect.
  public var system: UInt8 = 2
  public var version: UInt8 = 10
  /// Up to 12 bytes of UTF-8.
  public var name: [UInt8] = []

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("system", \.system, at: 1, words: [1: "iOS", 2: "Android"]),
    RecordField("version", \.version, at: 2),
    RecordField("name", \.name, at: 3, count: 12),
  ]
}

/// Of which messages of a phone a ring is told; only rings that vibrate look at it (ring reference, 4.3).
public struct NotificationMask: FrameRecord {
  /// A bit for each kind.
  public var mask: UInt16 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("mask", \.mask, at: 1, .uint16LittleEndian)
  ]
}

/// The days for which a ring has something stored (ring reference, 4.14).
public struct StoredDays: FrameRecord {
  /// Bit n stands for n days ago.
  public var mask: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("mask", \.mask, at: 1, .uint32BigEndian)
  ]

  /// 0 is today.
  public var daysAgo: [Int] { (0..<32).filter { mask >> $0 & 1 == 1 } }
}
