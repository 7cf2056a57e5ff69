import BluetoothCore

/// One frame of the raw stream, command 0xA1 (ring reference, 5). Decoding one allocates nothing.
public enum RawSample: Hashable, Sendable {
  /// Red and infrared light, sub-type 1.
  case spo2(OpticalSample)
  /// Green light, sub-type 2: the photoplethysmogram.
  case ppg(OpticalSample)
  /// Sub-type 3. What its bits mean depends on the firmware, see ``AccelerometerEncoding``.
  case accelerometer(AccelerometerSample)
  /// The ring will not stream: it is on its charger, or does not know the request.
  case refused
  /// The end of a wear calibration, with two counters.
  case wearCalibrationEnd(first: UInt16, second: UInt16)
  /// A sub-type that nobody has explained; some firmware sends 5 with every set. To be skipped.
  case unknown(subtype: UInt8)

  /// Reads a frame; nil if it is not of the raw stream.
  public init?(_ frame: RingFrame) {
    guard frame.command == .rawStream else { return nil }
    switch frame.byte(at: 1) {
    case 1: self = .spo2(OpticalSample(frame))
    case 2: self = .ppg(OpticalSample(frame))
    case 3: self = .accelerometer(AccelerometerSample(frame))
    case 8:
      self = .wearCalibrationEnd(first: frame.uint16BigEndian(at: 2), second: frame.uint16BigEndian(at: 4))
    // 0xEE is the code of refusals in general (ring reference, 2).
    case 0xFF, 0xEE: self = .refused
    case let subtype: self = .unknown(subtype: subtype)
    }
  }

  /// The frame that a ring sends for this sample.
  public var frame: RingFrame {
    switch self {
    case .spo2(let sample): RingFrame(.rawStream) { sample.store(in: &$0, subtype: 1) }
    case .ppg(let sample): RingFrame(.rawStream) { sample.store(in: &$0, subtype: 2) }
    case .accelerometer(let sample):
      RingFrame(.rawStream) { frame in
        frame.store(3, at: 1)
        frame.storeBigEndian(sample.y, at: 2)
        frame.storeBigEndian(sample.z, at: 4)
        frame.storeBigEndian(sample.x, at: 6)
      }
    case .wearCalibrationEnd(let first, let second):
      RingFrame(.rawStream) { frame in
        frame.store(8, at: 1)
        frame.storeBigEndian(first, at: 2)
        frame.storeBigEndian(second, at: 4)
      }
    case .refused: RingFrame(.rawStream, 0xFF)
    case .unknown(let subtype): RingFrame(.rawStream, subtype)
    }
  }
}

/// A value of the optical sensor, in counts of its converter, with the ring's own statistics (ring reference,
/// 5.2 and 5.3).
public struct OpticalSample: Hashable, Sendable {
  /// The latest value. Isolated zeros are gaps of the sensor, not light.
  public var raw: UInt16
  /// Largest value of an earlier window: `raw` may lie above it.
  public var max: UInt16
  /// Smallest value of an earlier window: `raw` may lie below it.
  public var min: UInt16
  /// A third statistic. On most firmware it is `max` - `min`; on the oldest, for SpO2, it is not.
  public var diff: UInt16
  /// Whether the ring calls its statistics valid. Some firmware never does while streaming.
  public var isValid: Bool

  public init(raw: UInt16, max: UInt16, min: UInt16, diff: UInt16, isValid: Bool) {
    self.raw = raw
    self.max = max
    self.min = min
    self.diff = diff
    self.isValid = isValid
  }

  fileprivate init(_ frame: RingFrame) {
    raw = frame.uint16BigEndian(at: 2)
    max = frame.uint16BigEndian(at: 4)
    min = frame.uint16BigEndian(at: 6)
    diff = frame.uint16BigEndian(at: 8)
    isValid = frame.byte(at: 10) != 0
  }

  fileprivate func store(in frame: inout RingFrame, subtype: UInt8) {
    frame.store(subtype, at: 1)
    frame.storeBigEndian(raw, at: 2)
    frame.storeBigEndian(max, at: 4)
    frame.storeBigEndian(min, at: 6)
    frame.storeBigEndian(diff, at: 8)
    frame.store(isValid ? 1 : 0, at: 10)
  }
}

/// The three axes as they were sent: pairs of bytes, the first in the upper half, not decoded yet, since one
/// frame does not tell its encoding (ring reference, 5.4).
///
/// Z runs along the axis through the ring's hole, Y through the charging contacts, X stands upright when the
/// hand lies flat.
public struct AccelerometerSample: Hashable, Sendable {
  public var x: UInt16
  public var y: UInt16
  public var z: UInt16

  public init(x: UInt16, y: UInt16, z: UInt16) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The order in a frame is Y, Z, X.
  fileprivate init(_ frame: RingFrame) {
    y = frame.uint16BigEndian(at: 2)
    z = frame.uint16BigEndian(at: 4)
    x = frame.uint16BigEndian(at: 6)
  }
}
