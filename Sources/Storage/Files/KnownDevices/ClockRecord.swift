import RingLink

/// The time to which this computer has set a ring's clock. The ring does not report it.
package struct ClockRecord: Equatable, Sendable {
  /// The time of the setting, in seconds since 1970-01-01 UTC.
  package var set: Int
  /// `local` or `utc`.
  package var policy: String
  /// The offset of the ring's wall clock from UTC, in seconds; positive if it is ahead.
  package var utcOffset: Int

  package init(set: Int, policy: TimePolicy, utcOffset: Int) {
    self.set = set
    self.policy = policy.rawValue
    self.utcOffset = utcOffset
  }

  /// Whether the time fits into the 32 bits of a ring and the offset is one of a time zone.
  var isPlausible: Bool {
    (0...Int(UInt32.max)).contains(set) && (-86400...86400).contains(utcOffset)
      && TimePolicy(rawValue: policy) != nil
  }

  package var timePolicy: TimePolicy { TimePolicy(rawValue: policy) ?? .local }

  /// The time on the ring's clock, if no other program set it and its quartz is exact.
  package func ringTime(atUnix seconds: Int) -> RingTime { RingTime(seconds: seconds + utcOffset) }
}

extension ClockRecord: JSONDecodable {
  package init(_ json: JSONValue) throws(JSONError) {
    set = try json.member("set")
    policy = try json.member("policy")
    utcOffset = try json.member("utcOffset")
  }

  var json: JSONValue {
    .object(["set": .integer(set), "policy": .string(policy), "utcOffset": .integer(utcOffset)])
  }
}
