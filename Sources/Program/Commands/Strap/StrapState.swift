import HaloBluetoothCore
import HaloGATT
import HaloPulse
import RingLink

/// The state of a heart-rate strap: events of a ring and the time in, measurements out.
///
/// A number is said only while it is one: a ring that has none, has lost the skin or is out of reach is a strap without
/// contact.
struct StrapState: Sendable {
  /// How old a heart rate may be.
  static let longestAge = Duration.seconds(5)

  private var latest: (beats: UInt16, time: Instant)?
  /// The rate of beats that light has shown, which is newer than what the ring says.
  private var pulse: (beats: UInt16, time: Instant)?
  /// The times between beats that have not been said, oldest first, in 1/1024 s.
  private var intervals: [UInt16] = []

  /// As many as fit in a value of the smallest MTU.
  private static let mostIntervals = 9

  /// Takes an event of a measurement.
  ///
  /// - Parameters:
  ///   - event: the event
  ///   - time: when it was received
  mutating func take(_ event: MeasurementEvent, at time: Instant) {
    switch event {
    case .reading(let reading): latest = reading.strapBeats.map { ($0, time) }
    case .contactLost: latest = nil
    case .warmingUp, .beatInterval: break
    }
  }

  /// Takes the heart rate that comes with a counted sample; 0 for none.
  mutating func take(vital: UInt8, at time: Instant) {
    if vital > 0 { latest = (UInt16(vital), time) }
  }

  /// Takes a beat that light has shown.
  ///
  /// - Parameters:
  ///   - rate: that of the last ten seconds, in beats per minute; nil if they do not show it
  ///   - time: when it was known
  mutating func take(_ beat: Beat, rate: Double?, at time: Instant) {
    if let rate { pulse = (UInt16(rate.rounded()), time) }
    guard let interval = beat.interval, beat.isAccepted else { return }
    // The times of beats are rounded, and not the intervals: their sum does not drift.
    let (end, start) = ((beat.time * 1024).rounded(), ((beat.time - interval) * 1024).rounded())
    intervals.append(UInt16(max(0, min(end - start, 65535))))
    if intervals.count > Self.mostIntervals { intervals.removeFirst() }
  }

  /// The ring measures no longer, or its link is lost.
  mutating func stop() { self = StrapState() }

  /// The measurement at a time, with the intervals since the last one: without contact the heart rate is 0.
  ///
  /// The intervals that rings report are left out: they are some of them.
  mutating func measurement(at now: Instant) -> HeartRateMeasurement {
    let newest = [pulse, latest].lazy.compactMap(\.self).first { now - $0.time <= Self.longestAge }
    defer { intervals = [] }
    guard let newest else { return HeartRateMeasurement(beatsPerMinute: 0, hasContact: false) }
    return HeartRateMeasurement(beatsPerMinute: newest.beats, hasContact: true, intervals: intervals)
  }
}

extension MeasurementReading {
  /// The heart rate; nil for another quantity, and for one that the ring may have made up.
  fileprivate var strapBeats: UInt16? {
    guard estimate == nil, case .heartRate(let beats) = value, beats > 0 else { return nil }
    return UInt16(clamping: beats)
  }
}
