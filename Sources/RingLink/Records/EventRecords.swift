/// The totals of the day, as told by the ring with each batch of steps (ring reference, 4.15).
public struct LiveTotals: FrameRecord {
  public var steps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  public var meters: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 2, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 5, .uint24BigEndian, .calories),
    RecordField("distance", \.meters, at: 8, .uint24BigEndian, .meters),
  ]
}

/// An event that carries one small number.
public struct EventValue: FrameRecord {
  public var value: UInt8 = 0

  public init() {}

  public init(_ value: UInt8) {
    self.value = value
  }

  public static let fields: [RecordField<Self>] = [RecordField("value", \.value, at: 2)]
}

/// A battery event: ``RingBattery``, a byte further back than in the answer.
public struct BatteryEvent: FrameRecord {
  public var battery = RingBattery()

  public init() {}

  public init(_ battery: RingBattery) {
    self.battery = battery
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("percent", \.battery.percent, at: 2, .uint8, .percent, in: 0...100),
    RecordField("charging", \.battery.isCharging, at: 3),
  ]
}

/// A number in the byte behind the command.
public struct SingleByte: FrameRecord {
  public var value: UInt8 = 0

  public init() {}

  public init(_ value: UInt8) {
    self.value = value
  }

  public static let fields: [RecordField<Self>] = [RecordField("value", \.value, at: 1)]
}
