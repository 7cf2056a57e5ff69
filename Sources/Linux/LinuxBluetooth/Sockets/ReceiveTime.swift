import HaloBluetoothCore

/// The receive time of a packet, on the loop's clock.
enum ReceiveTime {
  /// The longest plausible waiting time of a packet. A longer one means that the wall clock was set.
  static let longestWait: Int64 = 10_000_000_000

  /// The kernel timestamps packets with the time of day (`SO_TIMESTAMPNS`, `HCI_TIME_STAMP`), which may be set at any
  /// time; the loop counts from system start. Both clocks are read when the packet is read, and its waiting time is
  /// subtracted. Without a valid timestamp, the time of the read is used. The result is in whole microseconds, as in a
  /// capture.
  ///
  /// - Parameters:
  ///   - stamp: nanoseconds since 1970; zero if there is none
  ///   - now: the time of the read on the loop's clock
  ///   - wallNow: the same in nanoseconds since 1970
  static func instant(ofWallNanoseconds stamp: Int64, now: Instant, wallNow: Int64) -> Instant {
    let waited = wallNow &- stamp
    guard stamp > 0, (0...longestWait).contains(waited) else { return now.wholeMicroseconds }
    return Instant(nanoseconds: now.nanoseconds &- waited).wholeMicroseconds
  }
}
