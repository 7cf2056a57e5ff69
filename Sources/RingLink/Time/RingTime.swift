/// A time as the ring keeps it: the wall clock that it was given, without zone and without daylight saving time
/// (ring reference, 4.1). It goes over the air as seconds since 1970 as if that wall clock were UTC.
public struct RingTime: Hashable, Comparable, Sendable {
  /// Since 1970-01-01 00:00:00 of the same wall clock.
  public var seconds: Int

  public init(seconds: Int) {
    self.seconds = seconds
  }

  /// - Returns: nil if there is no such time
  public init?(_ day: RingDay, hour: Int, minute: Int, second: Int = 0) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
    seconds = day.number * 86400 + hour * 3600 + minute * 60 + second
  }

  public static func < (a: Self, b: Self) -> Bool { a.seconds < b.seconds }

  public var day: RingDay { RingDay(number: (seconds - secondOfDay) / 86400) }

  /// 0 to 86399.
  public var secondOfDay: Int { ((seconds % 86400) + 86400) % 86400 }

  public var hour: Int { secondOfDay / 3600 }
  public var minute: Int { secondOfDay / 60 % 60 }
  public var second: Int { secondOfDay % 60 }

  public func adding(minutes: Int) -> RingTime { RingTime(seconds: seconds + minutes * 60) }

  static func padded(_ number: Int, _ width: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}

extension RingTime: CustomStringConvertible, LosslessStringConvertible {
  /// `2026-11-21T13:45:00`
  public var description: String {
    "\(day)T\(Self.padded(hour)):\(Self.padded(minute)):\(Self.padded(second))"
  }

  /// Reads `2026-11-21T13:45:00`.
  public init?(_ description: String) {
    let parts = description.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let day = RingDay(String(parts[0])) else { return nil }
    let clock = parts[1].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3,
      clock.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let hour = Int(clock[0]), let minute = Int(clock[1]), let second = Int(clock[2])
    else { return nil }
    self.init(day, hour: hour, minute: minute, second: second)
  }
}
