import HaloBluetoothCore
import HaloGATT
import RingLink

/// The state of a heart-rate strap: events of a ring and the time in, measurements out.
///
/// A number is said only while it is one: a ring that has none, has lost the skin or is out of reach is a strap without
/// contact.
struct StrapState: Sendable {
  /// How old a heart rate may be.
  static let longestAge = Duration.seconds(5)

  private var latest: (beats: UInt16, time: Instant)?

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

  /// The ring measures no longer, or its link is lost.
  mutating func stop() { latest = nil }

  /// The measurement at a time: without contact the heart rate is 0.
  ///
  /// The intervals between beats are left out, as rings report some of them.
  func measurement(at now: Instant) -> HeartRateMeasurement {
    guard let latest, now - latest.time <= Self.longestAge else {
      return HeartRateMeasurement(beatsPerMinute: 0, hasContact: false)
    }
    return HeartRateMeasurement(beatsPerMinute: latest.beats, hasContact: true)
  }
}

extension MeasurementReading {
  /// The heart rate; nil for another quantity, and for one that the ring may have made up.
  fileprivate var strapBeats: UInt16? {
    guard estimate == nil, case .heartRate(let beats) = value, beats > 0 else { return nil }
    return UInt16(clamping: beats)
  }
}
