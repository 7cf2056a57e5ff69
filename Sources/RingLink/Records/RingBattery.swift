/// How full a ring is (ring reference, 4.2 and 4.15).
public struct RingBattery: FrameRecord {
  /// 0 to 100.
  public var percent: UInt8
  public var isCharging: Bool

  public init(percent: UInt8, isCharging: Bool) {
    self.percent = percent
    self.isCharging = isCharging
  }

  public init() {
    self.init(percent: 0, isCharging: false)
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("percent", \.percent, at: 1, .uint8, .percent, in: 0...100),
    RecordField("charging", \.isCharging, at: 2),
  ]
}

extension RingBattery: CustomStringConvertible {
  public var description: String { "\(percent) %\(isCharging ? ", charging" : "")" }
}
