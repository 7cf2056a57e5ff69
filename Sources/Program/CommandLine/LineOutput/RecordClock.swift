import HaloBluetoothCore
import RingLink

/// The time of day of receive stamps: ISO 8601 with microseconds and the offset from UTC,
/// `2026-11-21T13:45:00.030000+01:00`. The text of a second is made once; a stamp within it costs two copies and six digits,
/// and allocates nothing.
package struct RecordClock: ~Copyable {
  /// Unix time minus the time of the stamps, in microseconds.
  package private(set) var offset: Int64
  /// Determines ``offset`` anew; nil if it never changes.
  private let measure: (() -> Int64)?
  /// The offset from UTC, in seconds, at a time in seconds since 1970-01-01 UTC.
  private let zone: (Int) -> Int

  /// The second whose text is ``before``; in microseconds since 1970-01-01 UTC.
  private var second = Int64.min
  /// The time up to the fraction.
  private var before = TextBuffer(capacity: 32)
  /// The offset from UTC, and the text behind it in each record.
  private var after = TextBuffer(capacity: 96)
  private let ending: String
  /// The quarter of an hour whose offset from UTC is known. Zones change at its end, if they do.
  private var quarter = Int64.min
  private var utcOffset = 0
  private var pendingStep: Int64 = 0

  /// In microseconds. A clock that is set by less follows later: two readings of two clocks are not simultaneous.
  private static let smallestStep: Int64 = 100_000

  /// - Parameters:
  ///   - offset: Unix time minus the time of the stamps, in microseconds
  ///   - measure: determines it anew, once a second at most; nil if it never changes, as in a replay
  ///   - ending: the text behind the time in each record
  ///   - zone: the offset from UTC, in seconds, at a time in seconds since 1970-01-01 UTC
  package init(
    offset: Int64, measure: (() -> Int64)? = nil, ending: String = "", zone: @escaping (Int) -> Int
  ) {
    self.offset = offset
    self.measure = measure
    self.ending = ending
    self.zone = zone
  }

  /// Another of the same clock, with other text behind the time.
  package func ending(with ending: String = "") -> RecordClock {
    RecordClock(offset: offset, measure: measure, ending: ending, zone: zone)
  }

  /// Writes the time of a stamp, and the text that follows it.
  @inline(__always)
  mutating func write(_ time: Instant, into output: inout LineWriter) {
    let fraction = prepare(time)
    output.text.write(before.span)
    output.text.write(magnitude: UInt64(truncatingIfNeeded: fraction), digits: 6)
    output.text.write(after.span)
  }

  /// The time of a stamp as text.
  package mutating func text(_ time: Instant) -> String {
    let fraction = prepare(time)
    return before.string + DecimalText.padded(Int(fraction), 6) + after.string
  }

  /// The time of day of a stamp, with milliseconds: `13:45:00.030`.
  package mutating func timeOfDay(_ time: Instant) -> String {
    let fraction = prepare(time)
    return before.string.dropFirst("2026-11-21T".count) + DecimalText.padded(Int(fraction / 1000), 3)
  }

  /// Whether the machine's clock was set since the last ``takeStep()``.
  var hasStep: Bool { pendingStep != 0 }

  /// By how much the machine's clock was set since the last call, in microseconds; zero if it was not.
  mutating func takeStep() -> Int64 {
    defer { pendingStep = 0 }
    return pendingStep
  }

  /// - Returns: the microseconds within the second
  @inline(__always)
  mutating func prepare(_ time: Instant) -> Int64 {
    let fraction = (time.nanoseconds / 1000 &+ offset) &- second
    guard UInt64(bitPattern: fraction) < 1_000_000 else { return begin(time) }
    return fraction
  }

  /// Makes the text of another second.
  @inline(never)
  private mutating func begin(_ time: Instant) -> Int64 {
    if let measured = measure?(), (measured &- offset).magnitude >= Self.smallestStep {
      // A clock that is set before the first record changes no series of records.
      if second != .min { pendingStep &+= measured &- offset }
      offset = measured
    }
    let now = time.nanoseconds / 1000 &+ offset
    let fraction = ((now % 1_000_000) + 1_000_000) % 1_000_000
    second = now &- fraction
    let seconds = Int(second / 1_000_000)
    let quarter = Int64(seconds / 900)
    if quarter != self.quarter {
      self.quarter = quarter
      utcOffset = zone(seconds)
    }
    before.removeAll()
    before.write(RingTime(seconds: seconds &+ utcOffset))
    before.write(".")
    after.removeAll()
    after.write(utcOffset < 0 ? "-" : "+")
    after.write(magnitude: UInt64(utcOffset.magnitude / 3600), digits: 2)
    after.write(":")
    after.write(magnitude: UInt64(utcOffset.magnitude / 60 % 60), digits: 2)
    after.write(ending)
    return fraction
  }
}
