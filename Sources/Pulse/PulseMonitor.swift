/// A pulse as a screen shows it: beats, their rate and their variability, and how good the light is.
public struct PulseMonitor: Sendable {
  public private(set) var detector = PulseDetector()
  public private(set) var rate = PulseRate()
  public private(set) var variability: PulseVariability
  /// The quality of the last second that is known.
  public private(set) var second: PulseSecond?
  /// In seconds: the arrival of the last sample.
  public private(set) var time = 0.0

  /// - Parameter window: of the variability, in seconds, from 60 to 300
  public init(window: Double = PulseVariability.usualWindow) {
    variability = PulseVariability(window: window)
  }

  /// Adds a sample, as `PulseDetector.add` does, and hands on its events.
  public mutating func add(
    at time: Double, light: Double, acceleration: SIMD3<Double>? = nil, counter: UInt8? = nil,
    to sink: (PulseEvent) -> Void = { _ in }
  ) {
    self.time = time
    detector.add(at: time, light: light, acceleration: acceleration, counter: counter) { event in
      switch event {
      case .beat(let beat):
        rate.add(beat)
        variability.add(beat)
      case .second(let second): self.second = second
      case .wave, .interruption: break
      }
      sink(event)
    }
  }

  /// The stream was interrupted: no interval leads across.
  public mutating func interrupt(to sink: (PulseEvent) -> Void = { _ in }) {
    detector.interrupt { event in
      if case .beat(let beat) = event {
        rate.add(beat)
        variability.add(beat)
      }
      sink(event)
    }
    second = nil
  }

  /// Beats a minute, at the last sample; nil if the last ten seconds do not show it.
  public var beatsPerMinute: Double? { rate.beatsPerMinute(at: time) }
}
