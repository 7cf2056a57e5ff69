import HaloStorage
import RingLink

/// The evidence about a ring's clock: the record of this computer, and the ring's data. No command reads the clock.
struct ClockAssessment {
  /// The time at which this computer set the clock, and the value.
  var record: ClockRecord?
  var evidence = ClockEvidence()
  /// Seconds since 1970-01-01 UTC.
  var unix: Int
  /// The wall clock that the ring should have.
  var policy: TimePolicy
  /// The offset of that wall clock from UTC now, in seconds; positive if it is ahead.
  var utcOffset: Int

  /// Clocks that differ by at most this many seconds are equal.
  static let tolerance = 2
  /// In seconds. A quartz of 20 ppm is off by the tolerance after about a day.
  static let trustedAge = 86400
  /// In seconds. This close to midnight, the ring's day proves nothing.
  static let midnightSlack = 60

  /// The time that the ring's clock should have.
  var wanted: RingTime { RingTime(seconds: unix + utcOffset) }

  /// How many seconds the ring is ahead because daylight saving time, the zone or the policy changed since its clock was
  /// set; nil if this computer has not set it.
  var lead: Int? { record.map { $0.utcOffset - utcOffset } }

  /// How many seconds ago the clock was set; negative if this computer's own clock was set back.
  var age: Int? { record.map { unix - $0.set } }

  /// The proof of the ring's day: the number of seconds that it is at least ahead, or (negative) behind.
  var provenLead: Int? {
    guard let range = evidence.lead(over: wanted) else { return nil }
    if range.lowerBound > Self.midnightSlack { return range.lowerBound }
    if range.upperBound < -Self.midnightSlack { return range.upperBound }
    return nil
  }

  /// The lead that heart rates with future times suggest, in seconds.
  var suggestedLead: Int? {
    evidence.suggestedLead(over: wanted).flatMap { $0 > Self.midnightSlack ? $0 : nil }
  }

  /// Why the clock should be set; nil if it is right as far as known.
  var reasonToSet: String? {
    if let day = evidence.day, let proven = provenLead {
      return "the ring's day is \(day): it is at least \(Self.span(proven))"
    }
    guard let record, let lead, let age else { return "this computer has not set it yet" }
    if record.timePolicy != policy, lead == 0 { return "it will keep \(policy.title) from now on" }
    if abs(lead) > Self.tolerance {
      let cause =
        record.timePolicy == policy ? "the offset from UTC has changed" : "it has \(record.timePolicy.title)"
      return "\(cause): it is \(Self.span(lead))"
    }
    if age < 0 { return "this computer's clock was set back since then" }
    if age > Self.trustedAge { return "it was set \(Self.duration(age)) ago, and a quartz drifts" }
    return nil
  }

  /// `1 h ahead`, `25 min behind`
  static func span(_ lead: Int) -> String { "\(duration(abs(lead))) \(lead < 0 ? "behind" : "ahead")" }

  /// `50 s`, `25 min`, `1 h 30 min`, `3 days`
  static func duration(_ seconds: Int) -> String {
    if seconds < 120 { return "\(seconds) s" }
    let minutes = seconds / 60
    if minutes < 60 { return "\(minutes) min" }
    if minutes < 48 * 60 { return "\(minutes / 60) h" + (minutes % 60 == 0 ? "" : " \(minutes % 60) min") }
    return "\(minutes / 1440) days"
  }
}

extension TimePolicy {
  /// The name in messages.
  var title: String { self == .local ? "local time" : "UTC" }
}
