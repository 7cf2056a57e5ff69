/// What a ring lets know of its clock. No command reads the clock (ring reference, 4.1): but what is stored has
/// dates, and nothing is stored before its time.
public struct ClockEvidence: Hashable, Sendable {
  /// The ring's own today.
  public var day: RingDay?
  /// When the newest slot begins that has a heart rate and is not in the future.
  public var newest: RingTime?
  /// The same of the newest slot that is in the future. Firmware is known to leave old values in slots that are still to
  /// come (ring reference, 4.10): it means that the clock is ahead, or nothing.
  public var future: RingTime?

  public init(day: RingDay? = nil, newest: RingTime? = nil, future: RingTime? = nil) {
    self.day = day
    self.newest = newest
    self.future = future
  }

  /// By how many seconds the ring's clock is ahead of a time, as far as its day tells: at least and at most so many.
  /// Negative numbers mean that it is behind.
  public func lead(over time: RingTime) -> ClosedRange<Int>? {
    day.map { ($0.midnight.seconds - time.seconds)...($0.midnight.seconds + 86399 - time.seconds) }
  }

  /// The same, as heart rates of the future suggest: at least so many, unless they are remnants.
  public func suggestedLead(over time: RingTime) -> Int? {
    future.map { $0.seconds - time.seconds }
  }
}
