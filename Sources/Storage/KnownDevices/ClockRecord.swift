import HaloJSON
import RingLink

/// What this computer set a ring's clock to. The ring does not report it.
public struct ClockRecord: Equatable, Sendable {
  /// The time of the setting, in seconds since 1970-01-01 UTC.
  public var set: Int
  /// `local` or `utc`.
  public var policy: String
  /// The offset of the ring's wall clock from UTC, in seconds; positive if it is ahead.
  public var utcOffset: Int

  public init(set: Int, policy: TimePolicy, utcOffset: Int) {
    self.set = set
    self.policy = policy.rawValue
    self.utcOffset = utcOffset
  }

  /// Whether the time fits into the 32 bits of a ring and the offset is one of a time zone.
  var isPlausible: Bool {
    (0...Int(UInt32.max)).contains(set) && (-86400...86400).contains(utcOffset)
      && TimePolicy(rawValue: policy) != nil
  }

  public var timePolicy: TimePolicy { TimePolicy(rawValue: policy) ?? .local }

  /// The time on the ring's clock, if no other program set it and its quartz is exact.
  public func ringTime(atUnix seconds: Int) -> RingTime { RingTime(seconds: seconds + utcOffset) }
}

extension ClockRecord: JSONDecodable {
  public init(_ json: JSONValue) throws(JSONError) {
    set = try json.member("set")
    policy = try json.member("policy")
    utcOffset = try json.member("utcOffset")
  }

  var json: JSONValue {
    .object(["set": .integer(set), "policy": .string(policy), "utcOffset": .integer(utcOffset)])
  }
}
