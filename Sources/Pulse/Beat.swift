/// A beat of the pulse, as light has shown it.
public struct Beat: Sendable, Equatable {
  /// In seconds, on the clock of the samples: the middle of the rise of the wave.
  public var time: Double
  /// In seconds since the beat before. nil unless both are good for a rate, and no sample between them is missing.
  public var interval: Double?
  /// From 0 to 1. A beat is accepted from 0.5 on.
  public var quality: Double
  /// What limits the quality, or what is special in an accepted beat.
  public var reason: PulseReason
  /// In seconds: the estimated standard deviation of the time, from the noise of the light and the slope of the rise.
  public var timingError: Double
  /// In seconds: the time of the sample after which the beat was known.
  public var said: Double

  public init(
    time: Double, interval: Double?, quality: Double, reason: PulseReason, timingError: Double, said: Double
  ) {
    (self.time, self.interval, self.quality) = (time, interval, quality)
    (self.reason, self.timingError, self.said) = (reason, timingError, said)
  }

  /// Whether it may be counted as a beat of the heart.
  public var isAccepted: Bool { quality >= Beat.acceptance }

  /// Whether its interval belongs to a rate: the time of a weak beat is good enough for a mean of ten seconds.
  public var isGoodForRate: Bool { isAccepted || reason == .weak && quality >= Beat.weakQuality }

  /// Whether its interval belongs to a variability: no extra beat is next to it.
  public var isGoodForVariability: Bool { isAccepted && reason != .ectopic && reason != .irregular }

  /// The quality from which on a beat is accepted.
  public static let acceptance = 0.5
  static let weakQuality = 0.45
}

/// Why a quality is what it is.
public enum PulseReason: String, Sendable, CaseIterable {
  /// Nothing is wrong.
  case good
  /// The beat is an extra one, or next to one. A variability leaves it out.
  case ectopic
  /// The interval differs much from those before, and the waves are good. A variability leaves it out.
  case irregular
  /// The first good wave after a stretch without.
  case settling
  /// The hand moves.
  case motion
  /// The light stands still at one value: it is as high or as low as the sensor can tell.
  case saturation
  /// The wave is unlike those before.
  case shape
  /// The wave is much larger or smaller than those before.
  case size
  /// The rise is too short, too long, or not whole.
  case rise
  /// The noise is too large for the wave.
  case weak
  /// No heart beats at this interval, or nothing says why it differs from those before.
  case interval
  /// Samples are missing.
  case gap
  /// The beat after this one is disturbed, and the disturbance may have begun in this one.
  case disturbed
  /// The sensor sees no skin.
  case noContact = "no contact"
  /// There is light, but no wave in it.
  case noWave = "no wave"
  /// The stream has fewer samples a second than beats need.
  case rateTooLow = "rate too low"
}

/// How far the light of one second shows a pulse.
public struct PulseSecond: Sendable, Equatable {
  /// In seconds, on the clock of the samples: its beginning.
  public var start: Double
  /// From 0 to 1: that of the beats whose interval covers most of it. It is below 0.5 if no accepted interval does.
  public var quality: Double
  public var reason: PulseReason
}

/// What a `PulseDetector` says.
public enum PulseEvent: Sendable {
  /// A wave is complete, 0.6 seconds after its rise. What follows it is not known yet, so this is no beat to be counted.
  case wave(Beat)
  /// A beat, in the order of time, when the next one shows that it is one.
  case beat(Beat)
  /// A second, three seconds after its end.
  case second(PulseSecond)
  /// No interval leads across this time, in seconds: samples are missing, the clock was set, the contact was lost.
  case interruption(Double)
}
