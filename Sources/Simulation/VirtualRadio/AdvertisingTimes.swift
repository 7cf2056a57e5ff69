import HaloBluetoothCore

/// When a device sends its advertising events: after each interval and a delay of up to 10 ms, so that two advertisers do not
/// collide permanently (Core Specification Vol 6, Part B, 4.4.2.2.1).
package struct AdvertisingTimes: Sendable {
  private let seed: UInt64
  private let interval: Int64
  private let start: Instant

  /// - Parameters:
  ///   - seed: decides the delays
  ///   - interval: at least 20 ms; a shorter one counts as that
  ///   - start: the time from which the intervals count
  package init(seed: UInt64, interval: Duration, start: Instant) {
    self.seed = seed
    self.interval = max(20_000_000, interval.wholeNanoseconds)
    self.start = start
  }

  /// The first advertising event after `now`.
  package func nextEvent(after now: Instant) -> Instant {
    var number = max(0, now.nanoseconds(since: start) / interval - 1)
    while true {
      let delay = Int64(SplitMix.mix(seed &+ UInt64(number)) % 10_000_000)
      let event = start + .nanoseconds(number * interval + delay)
      if event > now { return event }
      number += 1
    }
  }
}
