/// How full a ring is (ring reference, 4.2 and 4.15).
public struct RingBattery: Hashable, Sendable {
  /// 0 to 100.
  public var percent: UInt8
  public var isCharging: Bool

  public init(percent: UInt8, isCharging: Bool) {
    self.percent = percent
    self.isCharging = isCharging
  }

  /// Asks a ring for it.
  public static var request: RingFrame { RingFrame(.battery) }

  /// Reads the answer to ``request``.
  public init(reply frame: RingFrame) throws(RingFrameError) {
    guard frame.command == .battery else { throw .unexpected(frame.command) }
    try self.init(percent: frame.byte(at: 1), charging: frame.byte(at: 2))
  }

  /// Reads what a ring tells by itself, a ``RingEvent``.
  init(event frame: RingFrame) throws(RingFrameError) {
    try self.init(percent: frame.byte(at: 2), charging: frame.byte(at: 3))
  }

  private init(percent: UInt8, charging: UInt8) throws(RingFrameError) {
    guard percent <= 100 else { throw .value("a battery cannot be at \(percent) %") }
    self.init(percent: percent, isCharging: charging != 0)
  }

  /// The answer that a ring gives.
  public var reply: RingFrame { RingFrame(.battery, percent, isCharging ? 1 : 0) }

  /// What a ring tells when this changes.
  public var event: RingFrame {
    RingFrame(.notification, RingEvent.Kind.battery.rawValue, percent, isCharging ? 1 : 0)
  }
}

extension RingBattery: CustomStringConvertible {
  public var description: String { "\(percent) %\(isCharging ? ", charging" : "")" }
}
