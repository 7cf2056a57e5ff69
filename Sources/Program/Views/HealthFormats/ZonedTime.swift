import HaloBluetoothCore
import RingLink

/// A time of a ring's clock, with that clock's offset from UTC.
package struct ZonedTime: Hashable, Sendable {
  var wallClock: RingTime
  /// The clock minus UTC, in seconds.
  var utcOffset: Int

  package init(_ wallClock: RingTime, utcOffset: Int) {
    (self.wallClock, self.utcOffset) = (wallClock, utcOffset)
  }

  func adding(seconds: Int) -> ZonedTime {
    ZonedTime(RingTime(seconds: wallClock.seconds + seconds), utcOffset: utcOffset)
  }

  /// Seconds since 1970-01-01 UTC.
  var unix: Int { wallClock.seconds - utcOffset }

  /// `2026-11-28T17:27:00Z`
  var utc: String { RingTime(seconds: unix).description + "Z" }

  /// `2026-11-28T18:27:00+01:00` (RFC 3339); in UTC, if the offset is that of no zone.
  var rfc3339: String { zone.map { "\(wallClock)\($0.sign)\($0.hours):\($0.minutes)" } ?? utc }

  /// `2026-11-28 18:27:00 +0100`, as Apple's Health writes times.
  var spaced: String {
    let (time, zone) = (zone == nil ? RingTime(seconds: unix) : wallClock, zone ?? ("+", "00", "00"))
    return "\(time.day) \(time.description.suffix(8)) \(zone.sign)\(zone.hours)\(zone.minutes)"
  }

  /// The compact form in the names of files: `20261128T182700`.
  package var fileName: String { wallClock.description.filter { $0 != "-" && $0 != ":" } }

  /// Nil if the offset is not one of minutes, or more than that of any zone.
  private var zone: (sign: String, hours: String, minutes: String)? {
    guard utcOffset % 60 == 0, utcOffset.magnitude <= 14 * 3600 else { return nil }
    let minutes = Int(utcOffset.magnitude) / 60
    return (
      utcOffset < 0 ? "-" : "+", DecimalText.padded(minutes / 60, 2), DecimalText.padded(minutes % 60, 2)
    )
  }
}
