/// A day of the ring's calendar (proleptic Gregorian). A ring knows no time zone: its days begin at its own midnight.
public struct RingDay: Hashable, Comparable, Sendable {
  /// Days since 1970-01-01.
  public var number: Int

  public init(number: Int) {
    self.number = number
  }

  /// - Returns: nil if there is no such day
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
    // Years are counted from March, so that the leap day comes last; eras have 400 years.
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
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }

  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  public func adding(days: Int) -> RingDay { RingDay(number: number + days) }

  /// Its first moment.
  public var midnight: RingTime { RingTime(seconds: number * 86400) }
}

extension RingDay: CustomStringConvertible, LosslessStringConvertible {
  /// `2026-11-21`
  public var description: String {
    let (year, month, day) = civil
    return "\(RingTime.padded(year, 4))-\(RingTime.padded(month))-\(RingTime.padded(day))"
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
