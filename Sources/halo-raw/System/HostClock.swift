import BluetoothCore
import EventLoop
import Glibc
import RingLink
import VirtualRing

/// The time of this machine, as a ring would tell it. In a replay it is the time of the recording, and the zone is the
/// recording's: a replay is the same on every machine and every day.
struct HostClock: Sendable {
  /// Where the time comes from.
  private enum Source: Sendable {
    case machine
    /// The loop's time, which a recording stamps its packets with.
    ///
    /// - Parameters:
    ///   - wallOffset: what makes Unix time of it, in microseconds
    ///   - utcOffset: how far the wall clock is ahead of UTC, in seconds
    case session(wallOffset: Int64, utcOffset: Int)
  }

  /// Which wall clock the ring has.
  var policy = TimePolicy.local
  private var source = Source.machine

  /// This machine's clock and zone, as they are whenever one asks.
  init(_ policy: TimePolicy = .local) {
    self.policy = policy
  }

  /// The clock of a session that is recorded or replayed: what happens at the same time of the loop happens at the
  /// same time of day, and the zone stays what it is at the start.
  init(wallOffset: Int64, utcOffset: Int) {
    source = .session(wallOffset: wallOffset, utcOffset: utcOffset)
  }

  /// What makes Unix time of the loop's time, in microseconds; nil for this machine's clock.
  var wallOffset: Int64? {
    if case .session(let wallOffset, _) = source { wallOffset } else { nil }
  }

  /// Now.
  @BluetoothActor var now: RingTime { time(ofUnix: unixSeconds) }

  /// Seconds since 1970-01-01 UTC.
  @BluetoothActor var unixSeconds: Int { Int(unixMicroseconds / 1_000_000) }

  /// Microseconds since 1970-01-01 UTC.
  @BluetoothActor var unixMicroseconds: Int64 {
    switch source {
    case .machine: SystemClock.wallMicroseconds
    case .session(let wallOffset, _): EventLoop.shared.timers.now.nanoseconds / 1000 &+ wallOffset
    }
  }

  /// - Parameter seconds: since 1970-01-01 UTC
  func time(ofUnix seconds: Int) -> RingTime {
    RingTime(seconds: seconds + offset(atUnix: seconds))
  }

  /// How far the ring's wall clock is ahead of UTC, in seconds.
  func offset(atUnix seconds: Int) -> Int {
    guard policy == .local else { return 0 }
    switch source {
    case .machine: return Self.machineOffset(atUnix: seconds)
    case .session(_, let offset): return offset
    }
  }

  /// How far this machine's wall clock is ahead of UTC, in seconds.
  static func machineOffset(atUnix seconds: Int) -> Int {
    var moment = time_t(seconds)
    var parts = tm()
    return localtime_r(&moment, &parts) == nil ? 0 : parts.tm_gmtoff
  }
}

extension VirtualRingOptions {
  /// With this machine's time for the ring's clock, unless they say otherwise.
  @BluetoothActor func set(by clock: HostClock) -> VirtualRingOptions {
    var options = self
    options.clock = options.clock ?? clock.now
    return options
  }
}
