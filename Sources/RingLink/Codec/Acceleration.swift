/// The encoding of one accelerometer axis in a pair of bytes (ring reference, 5.4).
public enum AccelerometerEncoding: Hashable, Sendable, CaseIterable {
  /// Twelve bits, two's complement: eight in the first byte, four at the bottom of the second. 512 counts
  /// a g.
  case twelveBit
  /// Sixteen bits, two's complement, big-endian. 8192 counts a g, nominally.
  case sixteenBit

  /// The counts at an acceleration of 1 g.
  public var countsPerG: Double {
    switch self {
    case .twelveBit: 512
    case .sixteenBit: 8192
    }
  }

  /// The signed value of a pair.
  package func counts(_ pair: UInt16) -> Int16 {
    switch self {
    case .twelveBit:
      // The sign is the top bit of the first byte. Readers that use another bit turn +189 into -1859.
      Int16(bitPattern: pair & 0xFF00 | (pair & 0x000F) << 4) >> 4
    case .sixteenBit: Int16(bitPattern: pair)
    }
  }

  /// The pair for a signed value; a value outside the range is held at its end.
  package func pair(_ counts: Int) -> UInt16 {
    switch self {
    case .twelveBit:
      let value = UInt16(bitPattern: Int16(clamping: Swift.min(2047, Swift.max(-2048, counts))))
      return (value & 0x0FF0) << 4 | value & 0x000F
    case .sixteenBit: return UInt16(bitPattern: Int16(clamping: counts))
    }
  }
}

/// Acceleration in counts of the sensor.
package struct AccelerationCounts: Hashable, Sendable {
  package var x: Int16
  package var y: Int16
  package var z: Int16

  package init(x: Int16, y: Int16, z: Int16) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The same in g, in the scale of an encoding.
  @inline(__always)
  func acceleration(_ encoding: AccelerometerEncoding) -> Acceleration {
    let scale = encoding.countsPerG
    return Acceleration(x: Double(x) / scale, y: Double(y) / scale, z: Double(z) / scale)
  }
}

/// Acceleration in multiples of the standard gravity.
public struct Acceleration: Hashable, Sendable {
  /// In g.
  public var x: Double
  /// In g.
  public var y: Double
  /// In g.
  public var z: Double

  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }
}

extension AccelerometerSample {
  /// The encoded form of an acceleration.
  public init(_ acceleration: Acceleration, encoding: AccelerometerEncoding) {
    func pair(_ g: Double) -> UInt16 {
      let counts = g * encoding.countsPerG
      // Not a number has no place on the scale; a value beyond its ends is held there.
      guard !counts.isNaN else { return 0 }
      let held = max(-40000, min(40000, counts))
      return encoding.pair(Int(held < 0 ? held - 0.5 : held + 0.5))
    }
    self.init(x: pair(acceleration.x), y: pair(acceleration.y), z: pair(acceleration.z))
  }

  package func counts(_ encoding: AccelerometerEncoding) -> AccelerationCounts {
    AccelerationCounts(x: encoding.counts(x), y: encoding.counts(y), z: encoding.counts(z))
  }

  /// The acceleration, in g.
  ///
  /// - Parameter encoding: that of the ring
  public func acceleration(_ encoding: AccelerometerEncoding) -> Acceleration {
    counts(encoding).acceleration(encoding)
  }
}

/// Detects from the stream how a ring encodes acceleration, for firmware whose name does not identify it (ring
/// reference, 5.4).
///
/// In the 12-bit form the upper half of each second byte is always zero; in the 16-bit form it seldom is. A ring that
/// lies still repeats one frame for minutes, which proves nothing: only frames that differ from the one before count.
/// Until ``encoding`` is determined, values must not be shown in g.
public struct AccelerometerEncodingDetector: Hashable, Sendable {
  /// The first frames after a start are often stale; fewer than these are not conclusive.
  package static let leastFrames = 8
  /// This many different frames with an empty upper half are not a coincidence.
  package static let framesForTwelveBit = 32

  /// The encoding; nil until it is known.
  public private(set) var encoding: AccelerometerEncoding?

  private var last: AccelerometerSample?
  private var frames = 0
  private var moving = 0
  private var usesUpperHalf = false

  /// - Parameter encoding: the known encoding, from the firmware's name.
  public init(known encoding: AccelerometerEncoding? = nil) { self.encoding = encoding }

  /// Examines one more frame. Costs next to nothing once the encoding is known.
  public mutating func observe(_ sample: AccelerometerSample) {
    guard encoding == nil else { return }
    if (sample.x | sample.y | sample.z) & 0x00F0 != 0 { usesUpperHalf = true }
    frames += 1
    if sample != last { moving += 1 }
    last = sample
    if usesUpperHalf {
      if frames >= Self.leastFrames { encoding = .sixteenBit }
    } else if moving >= Self.framesForTwelveBit {
      encoding = .twelveBit
    }
    // A ring may lie still for days: the count stops once more frames make no difference.
    frames = min(frames, Self.leastFrames)
  }
}
