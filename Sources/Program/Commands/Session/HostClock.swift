import HaloBluetoothCore
import HaloSystem
import HaloCommandLine
import RingLink
import HaloSimulation

/// The time of this machine on the wall clock of a ring. In a replay, time and zone are those of the recording, so that a
/// replay is the same on every machine and every day.
struct HostClock {
  /// The wall clock that the ring has.
  var policy = TimePolicy.local
  /// The time of a session, which is also in the packets of a recording: Unix time minus session time, in microseconds, and
  /// the wall clock minus UTC, in seconds. Nil for the time of this machine.
  private var session: (timers: Timers, wallOffset: Int64, utcOffset: Int)?

  /// This machine's current clock and zone.
  init(_ policy: TimePolicy = .local) {
    self.policy = policy
  }

  /// The clock of a session that is recorded or replayed: the time of day depends only on the time of the loop, and the
  /// zone does not change.
  init(_ timers: Timers, wallOffset: Int64, utcOffset: Int) {
    session = (timers, wallOffset, utcOffset)
  }

  /// The time of day of the records of this session, in this computer's zone.
  var recordClock: RecordClock {
    if let session { return RecordClock(offset: session.wallOffset) { _ in session.utcOffset } }
    let measure = { SystemClock.wallMicroseconds - SystemClock.monotonic.nanoseconds / 1000 }
    return RecordClock(offset: measure(), measure: measure) { SystemClock.utcOffset(atUnix: $0) }
  }

  /// Unix time minus session time, in microseconds; nil for this machine's clock.
  var wallOffset: Int64? { session?.wallOffset }

  /// Now.
  @BluetoothActor var now: RingTime { time(ofUnix: unixSeconds) }

  /// Seconds since 1970-01-01 UTC.
  @BluetoothActor var unixSeconds: Int { Int(unixMicroseconds / 1_000_000) }

  /// Microseconds since 1970-01-01 UTC.
  @BluetoothActor var unixMicroseconds: Int64 {
    guard let session else { return SystemClock.wallMicroseconds }
    return session.timers.now.nanoseconds / 1000 &+ session.wallOffset
  }

  /// The time for a series of files.
  @BluetoothActor var fileTime: FileTime {
    session == nil ? .machine : FileTime(unix: unixSeconds, steady: unixSeconds)
  }

  /// - Parameter seconds: since 1970-01-01 UTC
  func time(ofUnix seconds: Int) -> RingTime {
    RingTime(seconds: seconds + offset(atUnix: seconds))
  }

  /// The ring's wall clock minus UTC, in seconds.
  func offset(atUnix seconds: Int) -> Int {
    policy == .local ? session?.utcOffset ?? SystemClock.utcOffset(atUnix: seconds) : 0
  }
}

extension FileTime {
  /// This machine's clocks.
  static var machine: FileTime {
    FileTime(
      unix: Int(SystemClock.wallMicroseconds / 1_000_000),
      steady: Int(SystemClock.monotonic.nanoseconds / 1_000_000_000))
  }
}

extension VirtualRingOptions {
  /// These options with the host's time for the ring's clock, unless they set it.
  @BluetoothActor func set(by clock: HostClock) -> VirtualRingOptions {
    var options = self
    options.clock = options.clock ?? clock.now
    options.others = others.map { $0.set(by: clock) }
    return options
  }
}
