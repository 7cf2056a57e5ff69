import Glibc
import RingLink

/// The sensor signals of a worn ring: a pulse of 66 to 72 beats per minute modulated by breathing, gravity, and
/// occasional movements that disturb both. A function of only the seed and the number of the sample.
package struct PulseWaveform {
  /// Samples in a second.
  package let rate: Double
  private let seed: UInt64
  private let family: RingFamily
  /// The statistics of the window before the one that is being sent.
  private var statistics: (window: Int, low: Double, high: Double)?

  /// The interval between two statistics of the ring, in seconds.
  private static let window = 4.0

  package init(seed: UInt64, rate: Double, family: RingFamily) {
    self.seed = seed
    self.rate = max(VirtualRingOptions.rates.lowerBound, min(rate, VirtualRingOptions.rates.upperBound))
    self.family = family
  }

  /// Green light; 10000 to 13000 counts.
  package mutating func ppg(at index: Int) -> OpticalSample {
    optical(at: index, base: 11500, depth: 420, noise: 8)
  }

  /// Red light; a weak signal of one or two hundred counts.
  package mutating func spo2(at index: Int) -> OpticalSample {
    optical(at: index, base: 150, depth: 24, noise: 2)
  }

  /// Gravity on a hand that hardly moves, and the movements.
  package func acceleration(at index: Int) -> Acceleration {
    let time = time(of: index)
    let (strength, swing) = motion(at: time)
    let sway = 0.01 * sin(2 * .pi * Self.breath * time)
    return Acceleration(
      x: 0.12 + sway + 0.30 * strength * swing + 0.002 * noise(index, 3),
      y: -0.98 + 0.18 * strength * swing + 0.002 * noise(index, 4),
      z: 0.15 - sway + 0.25 * strength * cos(17 * time) + 0.002 * noise(index, 5))
  }

  /// Beats a minute, at a time in seconds.
  func heartRate(at time: Double) -> Double {
    69 + 2 * sin(2 * .pi * Self.breath * time) + sin(2 * .pi * 0.02 * time)
  }

  private mutating func optical(at index: Int, base: Double, depth: Double, noise: Double) -> OpticalSample {
    let time = time(of: index)
    updateStatistics(at: time)
    let gap = family == .rf03 && hash(UInt64(bitPattern: Int64(index)), 1) % 97 == 0
    let raw = base - depth * volume(at: time) + noise * self.noise(index, 2)
    let low = base - depth * (statistics?.high ?? 0)
    let high = base - depth * (statistics?.low ?? 0)
    return OpticalSample(
      // The oldest rings leave out a value now and then.
      raw: gap ? 0 : Self.counts(raw), max: Self.counts(high), min: Self.counts(low),
      diff: Self.counts(high) &- Self.counts(low),
      // Newer firmware never marks its statistics as valid while it streams.
      isValid: family == .rf03)
  }

  /// Breaths in a second.
  private static let breath = 0.24

  /// Blood under the sensor, about 0 to 1.3, and the effect of a movement.
  private func volume(at time: Double) -> Double {
    // The integral of the heart's frequency, so that its beats stay whole while it changes.
    let omega = 2 * Double.pi * Self.breath
    let slow = 2 * Double.pi * 0.02
    let beats =
      69.0 / 60 * time - 2.0 / 60 / omega * cos(omega * time) - 1.0 / 60 / slow * cos(slow * time)
      + Double(seed % 1000) / 1000
    let phase = beats - floor(beats)
    let systole = exp(-pow((phase - 0.2) / 0.09, 2))
    let diastole = 0.4 * exp(-pow((phase - 0.47) / 0.12, 2))
    let (strength, swing) = motion(at: time)
    return systole + diastole + 0.28 * sin(omega * time) + 1.1 * strength * swing
  }

  /// One movement about every 20 seconds: its strength, 0 to 1, and its phase.
  private func motion(at time: Double) -> (strength: Double, swing: Double) {
    let period = 20.0
    let part = floor(time / period)
    let dice = hash(UInt64(max(0, part)), 7)
    let start = 4 + Double(dice & 0xFF) / 256 * 10
    let length = 1 + Double(dice >> 8 & 0xFF) / 256 * 3
    let place = (time - part * period - start) / length
    guard (0...1).contains(place) else { return (0, 0) }
    return (pow(sin(.pi * place), 2), sin(2 * .pi * (1.8 + Double(dice >> 16 & 0xFF) / 256) * time))
  }

  private mutating func updateStatistics(at time: Double) {
    let window = Int(time / Self.window)
    guard statistics?.window != window else { return }
    let start = Double(window - 1) * Self.window
    let values = (0..<64).map { volume(at: start + Double($0) / 64 * Self.window) }
    statistics = (window, values.min() ?? 0, values.max() ?? 0)
  }

  private func time(of index: Int) -> Double { Double(index) / rate }

  private static func counts(_ value: Double) -> UInt16 {
    UInt16(max(0, min(65535, value.rounded())))
  }

  /// -1 to 1, the same for the same sample.
  private func noise(_ index: Int, _ channel: UInt64) -> Double {
    Double(hash(UInt64(bitPattern: Int64(index)), channel) >> 11) / Double(1 << 52) - 1
  }

  private func hash(_ index: UInt64, _ channel: UInt64) -> UInt64 {
    SplitMix.mix(seed &+ SplitMix.mix(index &* 8 &+ channel))
  }
}
