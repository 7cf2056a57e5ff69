import RingLink

/// What a ring's clock was set to by this computer. The ring cannot be asked.
struct ClockRecord: Codable, Equatable, Sendable {
  /// When: seconds since 1970-01-01 UTC.
  var set: Int
  /// `local` or `utc`.
  var policy: String
  /// How far the wall clock that the ring got was ahead of UTC, in seconds.
  var utcOffset: Int

  init(set: Int, policy: TimePolicy, utcOffset: Int) {
    self.set = set
    self.policy = policy.rawValue
    self.utcOffset = utcOffset
  }

  /// Whether there is such a time and such a zone; a ring counts 32 bits of seconds.
  var isPlausible: Bool {
    (0...Int(UInt32.max)).contains(set) && (-86400...86400).contains(utcOffset)
      && TimePolicy(rawValue: policy) != nil
  }

  var timePolicy: TimePolicy { TimePolicy(rawValue: policy) ?? .local }

  /// What the ring's clock shows, if nobody else has set it and its quartz is right.
  func ringTime(atUnix seconds: Int) -> RingTime { RingTime(seconds: seconds + utcOffset) }
}
