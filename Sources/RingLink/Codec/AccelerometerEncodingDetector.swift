/// Finds out from the stream itself how a ring encodes acceleration, for firmware whose name does not say it
/// (ring reference, 5.4).
///
/// In the 12-bit form the upper half of each second byte is always zero; in the 16-bit form it is seldom. A
/// ring that lies still repeats one frame for minutes, which proves nothing: only frames that differ from
/// the one before count. Until ``encoding`` is decided, values must not be shown in g.
public struct AccelerometerEncodingDetector: Hashable, Sendable {
  /// The first frames after a start are often stale; fewer than these decide nothing.
  public static let leastFrames = 8
  /// So many different frames with an empty upper half are no accident.
  public static let framesForTwelveBit = 32

  /// What the ring uses; nil as long as it is not known.
  public private(set) var encoding: AccelerometerEncoding?

  private var last: AccelerometerSample?
  private var frames = 0
  private var moving = 0
  private var usesUpperHalf = false

  /// - Parameter encoding: what is known already, from the firmware's name.
  public init(known encoding: AccelerometerEncoding? = nil) {
    self.encoding = encoding
  }

  /// Looks at one more frame. Costs next to nothing once the encoding is known.
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
    // A ring may lie still for days: the count stops where it has said all it can.
    frames = min(frames, Self.leastFrames)
  }
}
