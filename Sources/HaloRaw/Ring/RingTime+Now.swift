import HaloEventLoop
import RingLink

extension RingTime {
  /// The time on the wall clock of this machine, in its zone: what the clock of a ring is set to.
  public static var now: RingTime {
    let seconds = Int(SystemClock.wallMicroseconds / 1_000_000)
    return RingTime(seconds: seconds + SystemClock.utcOffset(atUnix: seconds))
  }
}
