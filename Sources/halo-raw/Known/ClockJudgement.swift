import RingLink

/// How a ring's clock stands, by what this computer remembers and by what the ring lets know. It cannot be read.
struct ClockJudgement {
  /// When the clock was set by this computer, and to what.
  var record: ClockRecord?
  var evidence = ClockEvidence()
  /// Seconds since 1970-01-01 UTC.
  var unix: Int
  /// The wall clock that the ring should have.
  var policy: TimePolicy
  /// How far that is ahead of UTC now, in seconds.
  var utcOffset: Int

  /// Within so many seconds, clocks are equal.
  static let tolerance = 2
  /// A quartz that gains or loses 20 in a million is off by the tolerance after about a day.
  static let trustedAge = 86400
  /// Around midnight, the ring's day says nothing.
  static let midnightSlack = 60

  /// What the ring's clock should say.
  var wanted: RingTime { RingTime(seconds: unix + utcOffset) }

  /// By how much the ring is ahead since its clock was set, as daylight saving time began or ended, the zone is another
  /// one, or the policy is; nil if this computer has not set it.
  var lead: Int? { record.map { $0.utcOffset - utcOffset } }

  /// How long ago the clock was set, in seconds; negative if this computer's own clock was set back.
  var age: Int? { record.map { unix - $0.set } }

  /// What the ring's day proves: by so much it is ahead at least, or behind at least (negative).
  var provenLead: Int? {
    guard let range = evidence.lead(over: wanted) else { return nil }
    if range.lowerBound > Self.midnightSlack { return range.lowerBound }
    if range.upperBound < -Self.midnightSlack { return range.upperBound }
    return nil
  }

  /// What heart rates of the future suggest.
  var suggestedLead: Int? {
    evidence.suggestedLead(over: wanted).flatMap { $0 > Self.midnightSlack ? $0 : nil }
  }

  /// Why the clock should be set; nil if there is nothing to be gained.
  var reasonToSet: String? {
    if let day = evidence.day, let proven = provenLead {
      return "the ring's day is \(day): it is \(Self.span(proven)) at least"
    }
    guard let record, let lead, let age else { return "this computer has not set it yet" }
    if record.timePolicy != policy, lead == 0 { return "it is to keep \(policy.title) from now on" }
    if abs(lead) > Self.tolerance {
      let cause =
        record.timePolicy == policy ? "the offset from UTC has changed" : "it has \(record.timePolicy.title)"
      return "\(cause): it is \(Self.span(lead))"
    }
    if age < 0 { return "this computer's clock has been set back since" }
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
  /// As a person calls it.
  var title: String { self == .local ? "local time" : "UTC" }
}
