import BluetoothCore

/// When a packet was received, on the loop's clock.
enum ReceiveTime {
  /// The longest that a packet is believed to have waited. What looks older was not: the clock on the wall was set
  /// in the meantime.
  static let longestWait: Int64 = 10_000_000_000

  /// The kernel stamps a packet with the time of day (`SO_TIMESTAMPNS`, `HCI_TIME_STAMP`), which may be set at any
  /// moment; the loop counts from the start of the machine. Both clocks are asked when the packet is fetched, and
  /// how long it has waited by then is taken off. Without a stamp, or with one that can't be, the time of the read
  /// is what is known. Whole microseconds, so that a capture holds the same number.
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
