import RingLink

/// What the samples of a ring say of its green light, for a search of the pulse: the light, and how the hand moves beside it.
package struct RingLight: Sendable {
  /// A sample of green light.
  package struct Sample: Sendable {
    /// In counts; 0 if the sensor has no value.
    package var light: Double
    /// In g, of the last sample that has it; nil before the first one, and while its encoding is not known.
    package var acceleration: SIMD3<Double>?
    /// The counter of its packet; nil in the raw stream.
    package var counter: UInt8?
  }

  private var encoding: AccelerometerEncodingDetector
  private var acceleration: SIMD3<Double>?

  /// - Parameter encoding: how the ring encodes acceleration; nil to find it out from the samples
  package init(encoding: AccelerometerEncoding?) {
    self.encoding = AccelerometerEncodingDetector(known: encoding)
  }

  /// - Returns: nil for a sample of another sensor
  package mutating func take(_ sample: RawSample) -> Sample? {
    switch sample {
    case .ppg(let optical): return Sample(light: Double(optical.raw), acceleration: acceleration)
    case .accelerometer(let counts):
      encoding.observe(counts)
      if let encoding = encoding.encoding { take(counts.acceleration(encoding)) }
      return nil
    default: return nil
    }
  }

  /// - Parameter packet: the unwrapped number of the sample's packet
  /// - Returns: nil for a sample of red light
  package mutating func take(_ sample: CountedSample, packet: Int) -> Sample? {
    if let g = sample.acceleration(encoding.encoding) { take(g) }
    guard sample.light == .green else { return nil }
    return Sample(
      light: Double(sample.raw), acceleration: acceleration, counter: UInt8(truncatingIfNeeded: packet))
  }

  private mutating func take(_ g: Acceleration) { acceleration = SIMD3(g.x, g.y, g.z) }
}
