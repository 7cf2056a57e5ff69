/// What was walked since the ring's midnight (ring reference, 4.14).
public struct TodayTotals: FrameRecord {
  public var steps: UInt32 = 0
  public var runningSteps: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  public var meters: UInt32 = 0
  public var activeMinutes: UInt16 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("steps", \.steps, at: 1, .uint24BigEndian, .steps),
    RecordField("running-steps", \.runningSteps, at: 4, .uint24BigEndian, .steps),
    RecordField("calories", \.calories, at: 7, .uint24BigEndian, .calories),
    RecordField("distance", \.meters, at: 10, .uint24BigEndian, .meters),
    RecordField("active", \.activeMinutes, at: 13, .uint16BigEndian, .minutes),
  ]
}
