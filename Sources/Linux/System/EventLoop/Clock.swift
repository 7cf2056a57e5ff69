import Glibc
import HaloBluetoothCore

/// The kernel's clocks. Only the loop and code that opens captures read them.
package enum SystemClock {
  /// Nanoseconds since the machine started (`CLOCK_MONOTONIC`).
  package static var monotonic: Instant { read(CLOCK_MONOTONIC) }

  /// Microseconds since 1970-01-01 UTC (`CLOCK_REALTIME`).
  package static var wallMicroseconds: Int64 { wallNanoseconds / 1000 }

  /// Nanoseconds since 1970-01-01 UTC (`CLOCK_REALTIME`).
  package static var wallNanoseconds: Int64 { read(CLOCK_REALTIME).nanoseconds }

  /// The offset from the microseconds of `timers` to those of the time of day, now.
  package static func wallOffset(of timers: Timers) -> Int64 {
    wallMicroseconds - timers.current.nanoseconds / 1000
  }

  /// The wall clock of this machine minus UTC, in seconds.
  ///
  /// - Parameter seconds: when, since 1970-01-01 UTC
  package static func utcOffset(atUnix seconds: Int) -> Int {
    var time = time_t(seconds)
    var parts = tm()
    return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
  }

  /// The same as ``wallMicroseconds``, in seconds, if the clock is known to be right, as that of a time server; else nil. A
  /// computer without a clock of its own begins with any time of day.
  package static var synchronizedSeconds: Int? {
    switch Linux.isClockSynchronized() {
    case 1: break
    // A service may not ask the kernel: systemd's time service leaves this file.
    case ..<0 where access("/run/systemd/timesync/synchronized", F_OK) == 0: break
    default: return nil
    }
    return Int(wallMicroseconds / 1_000_000)
  }

  private static func read(_ clock: clockid_t) -> Instant {
    var time = timespec()
    clock_gettime(clock, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
