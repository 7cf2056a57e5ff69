/// A point in time on a monotonic clock: nanoseconds since an unspecified origin. Protocol code never reads a clock;
/// its caller passes the time.
public struct Instant: Hashable, Sendable, InstantProtocol {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The clock's origin.
  public static let zero = Instant(nanoseconds: 0)

  /// This instant rounded down to whole microseconds, the resolution of capture files, so that recorded and live
  /// receive times are equal.
  package var wholeMicroseconds: Instant {
    Instant(nanoseconds: nanoseconds - nanoseconds % 1000)
  }

  /// Seconds since the clock's origin.
  package var inSeconds: Double { Double(nanoseconds) / 1e9 }

  /// Nanoseconds from `earlier` to this instant.
  package func nanoseconds(since earlier: Instant) -> Int64 {
    nanoseconds &- earlier.nanoseconds
  }

  /// The instant after a duration; the last one there is if it overflows.
  public static func + (instant: Instant, duration: Duration) -> Instant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// The duration from `earlier` to `later`.
  public static func - (later: Instant, earlier: Instant) -> Duration {
    .nanoseconds(later.nanoseconds(since: earlier))
  }

  public func advanced(by duration: Duration) -> Instant { self + duration }

  public func duration(to later: Instant) -> Duration { later - self }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// This duration in nanoseconds, clamped to the range of `Int64` (292 years).
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carry ? (seconds < 0 ? .min : .max) : sum
  }

  /// This duration in seconds.
  package var inSeconds: Double {
    Double(wholeNanoseconds) / 1e9
  }

  /// A duration treated as no limit (100 years).
  package static let forever = Duration.seconds(100 * 365 * 86400)
}

/// The time of a packet's reception, and the read that has brought it. The packets of one read were there before a request that
/// is sent while they are handled, and so do not answer it.
package struct Arrival: Hashable, Sendable {
  package var time: Instant
  /// The number of the read; 0 if the transport does not count.
  package var read: UInt64

  package init(_ time: Instant, read: UInt64 = 0) {
    (self.time, self.read) = (time, read)
  }
}
