import EventLoop
import Glibc
import RingLink
import VirtualRing

/// The time of this machine, as a ring would tell it.
struct HostClock {
  var policy = TimePolicy.local

  /// Now.
  var now: RingTime { time(ofUnix: Int(SystemClock.wallNanoseconds / 1_000_000_000)) }

  /// - Parameter seconds: since 1970-01-01 UTC
  func time(ofUnix seconds: Int) -> RingTime {
    RingTime(seconds: seconds + offset(atUnix: seconds))
  }

  /// How far the wall clock is ahead of UTC, in seconds.
  func offset(atUnix seconds: Int) -> Int {
    guard policy == .local else { return 0 }
    var moment = time_t(seconds)
    var parts = tm()
    return localtime_r(&moment, &parts) == nil ? 0 : parts.tm_gmtoff
  }
}

extension VirtualRingOptions {
  /// With this machine's time for the ring's clock, unless they say otherwise.
  var withClock: VirtualRingOptions {
    var options = self
    options.clock = clock ?? HostClock().now
    return options
  }
}
