import HaloBluetoothCore

/// A time in the ring's representation: the wall clock that was set, without zone and without daylight saving time
/// (ring reference, 4.1). It is sent as seconds since 1970 as if that wall clock were UTC.
public struct RingTime: Hashable, Comparable, Sendable, TextWritable, LosslessStringConvertible {
  /// Since 1970-01-01 00:00:00 of the same wall clock.
  public var seconds: Int

  public init(seconds: Int) { self.seconds = seconds }

  /// - Returns: nil if the time does not exist
  public init?(_ day: RingDay, hour: Int, minute: Int, second: Int = 0) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
    seconds = day.number * 86400 + hour * 3600 + minute * 60 + second
  }

  public static func < (a: Self, b: Self) -> Bool { a.seconds < b.seconds }

  /// The day of the ring's calendar.
  public var day: RingDay { RingDay(number: (seconds - secondOfDay) / 86400) }

  /// 0 to 86399.
  public var secondOfDay: Int { ((seconds % 86400) + 86400) % 86400 }

  /// 0 to 23.
  public var hour: Int { secondOfDay / 3600 }
  /// 0 to 59.
  public var minute: Int { secondOfDay / 60 % 60 }
  /// 0 to 59.
  public var second: Int { secondOfDay % 60 }

  public func adding(minutes: Int) -> RingTime { RingTime(seconds: seconds + minutes * 60) }

  /// `2026-11-21T13:45:00`
  public var description: String { TextBuffer.string { $0.write(self) } }

  /// Writes ``description``.
  @usableFromInline package func write(to text: inout TextBuffer) {
    text.write(day)
    text.write("T")
    text.write(magnitude: UInt64(hour), digits: 2)
    text.write(":")
    text.write(magnitude: UInt64(minute), digits: 2)
    text.write(":")
    text.write(magnitude: UInt64(second), digits: 2)
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

  /// The number of days before today; nil for the future and for numbers that exceed a byte.
  func daysSince(_ day: RingDay) -> UInt8? { UInt8(exactly: self.day.number - day.number) }
}

/// A day of the ring's calendar (proleptic Gregorian). A ring has no time zone: its days begin at its own midnight.
public struct RingDay: Hashable, Comparable, Sendable, TextWritable, LosslessStringConvertible {
  /// Days since 1970-01-01.
  package var number: Int

  package init(number: Int) { self.number = number }

  /// - Returns: nil if the day does not exist
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
    // Years are counted from March, so that the leap day is the last; eras have 400 years.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    guard civil == (year, month, day) else { return nil }
  }

  /// Year, month 1 to 12, day 1 to 31.
  public var civil: (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  public func adding(days: Int) -> RingDay { RingDay(number: number + days) }

  /// Its first moment.
  public var midnight: RingTime { RingTime(seconds: number * 86400) }

  /// `2026-11-21`
  public var description: String { TextBuffer.string { $0.write(self) } }

  /// Writes ``description``.
  @usableFromInline package func write(to text: inout TextBuffer) {
    let (year, month, day) = civil
    if year < 0 { text.write("-") }
    text.write(magnitude: UInt64(year.magnitude), digits: 4)
    text.write("-")
    text.write(magnitude: UInt64(month), digits: 2)
    text.write("-")
    text.write(magnitude: UInt64(day), digits: 2)
  }

  /// Reads `2026-11-21`.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }
}

/// Which wall clock a ring gets. A ring has no time zone: its days begin at the midnight of this clock, and all times
/// that it reports refer to this clock (ring reference, 4.1). This is decided only here.
package enum TimePolicy: String, Hashable, Sendable, CaseIterable {
  /// The wearer's local time: days are the wearer's days, as in the manufacturer's app.
  case local
  /// Coordinated Universal Time: no hour is lost or repeated, but days are not the wearer's.
  case utc
}
