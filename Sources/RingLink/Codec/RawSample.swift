/// One frame of the raw stream, command 0xA1 (ring reference, 5). Decoding does not allocate.
public enum RawSample: Hashable, Sendable {
  /// Red and infrared light, sub-type 1.
  case spo2(OpticalSample)
  /// Green light, sub-type 2: the photoplethysmogram.
  case ppg(OpticalSample)
  /// Sub-type 3. The meaning of its bits depends on the firmware, see ``AccelerometerEncoding``.
  case accelerometer(AccelerometerSample)
  /// The ring refuses to stream: it is on its charger, or does not support the request.
  case refused
  /// The end of a wear calibration, with two counters.
  case wearCalibrationEnd(first: UInt16, second: UInt16)
  /// A sub-type of unknown meaning; some firmware sends 5 with every set. To be skipped.
  case unknown(subtype: UInt8)

  /// Reads a frame; nil if it is not of the raw stream.
  package init?(_ frame: RingFrame) {
    guard frame.command == .rawStream else { return nil }
    switch Kind(rawValue: frame.byte(at: 1)) {
    case .spo2: self = .spo2(OpticalSample(frame))
    case .ppg: self = .ppg(OpticalSample(frame))
    case .accelerometer: self = .accelerometer(AccelerometerSample(frame))
    case .wearCalibrationEnd:
      self = .wearCalibrationEnd(
        first: WearCalibration.first.word(frame), second: WearCalibration.second.word(frame))
    case .refused, .notSupported: self = .refused
    case nil: self = .unknown(subtype: frame.byte(at: 1))
    }
  }

  /// The frame that a ring sends for this sample.
  package var frame: RingFrame {
    switch self {
    case .spo2(let sample): RingFrame(.rawStream, sample, form: Kind.spo2.form)
    case .ppg(let sample): RingFrame(.rawStream, sample, form: Kind.ppg.form)
    case .accelerometer(let sample): RingFrame(.rawStream, sample, form: Kind.accelerometer.form)
    case .wearCalibrationEnd(let first, let second):
      RingFrame(.rawStream, WearCalibration(first: first, second: second), form: Kind.wearCalibrationEnd.form)
    case .refused: RingFrame(.rawStream, Kind.refused.rawValue)
    case .unknown(let subtype): RingFrame(.rawStream, subtype)
    }
  }

  /// The second byte of a frame, and the form of the bytes behind it.
  enum Kind: UInt8, CaseIterable {
    case spo2 = 1
    case ppg = 2
    case accelerometer = 3
    case wearCalibrationEnd = 8
    case refused = 0xFF
    /// The code of refusals in general (ring reference, 2).
    case notSupported = 0xEE

    var form: FrameForm {
      switch self {
      case .spo2: FrameForm("SpO2", startingWith: [rawValue], OpticalSample.self)
      case .ppg: FrameForm("PPG", startingWith: [rawValue], OpticalSample.self)
      case .accelerometer: FrameForm("acceleration", startingWith: [rawValue], AccelerometerSample.self)
      case .wearCalibrationEnd:
        FrameForm("wear calibration", startingWith: [rawValue], WearCalibration.self)
      case .refused, .notSupported: FrameForm("refused", startingWith: [rawValue])
      }
    }
  }
}

/// A value of the optical sensor, in counts of its converter, with the ring's own statistics (ring reference,
/// 5.2 and 5.3).
public struct OpticalSample: FrameRecord {
  /// The latest value. Isolated zeros are gaps of the sensor, not light.
  public var raw: UInt16
  /// Largest value of an earlier window: `raw` may exceed it.
  public var max: UInt16
  /// Smallest value of an earlier window: `raw` may be below it.
  public var min: UInt16
  /// A third statistic. On most firmware it is `max` - `min`; on the oldest, for SpO2, it is not.
  public var diff: UInt16
  /// Whether the ring marks its statistics as valid. Some firmware never does while streaming.
  public var isValid: Bool

  public init(raw: UInt16, max: UInt16, min: UInt16, diff: UInt16, isValid: Bool) {
    self.raw = raw
    self.max = max
    self.min = min
    self.diff = diff
    self.isValid = isValid
  }

  private static let raw = FramePlace(name: "raw", offset: 2)
  private static let max = FramePlace(name: "max", offset: 4)
  private static let min = FramePlace(name: "min", offset: 6)
  private static let diff = FramePlace(name: "diff", offset: 8)
  private static let valid = FramePlace(name: "valid", offset: 10)

  package static let fields: Fields = Fields(Self(raw: 0, max: 0, min: 0, diff: 0, isValid: false)) {
    RecordField(raw, \.raw)
    RecordField(max, \.max)
    RecordField(min, \.min)
    RecordField(diff, \.diff)
    RecordField("\(valid.name)", \.isValid, at: valid.offset)
  }

  @inline(__always)
  fileprivate init(_ frame: RingFrame) {
    self.init(
      raw: Self.raw.word(frame), max: Self.max.word(frame), min: Self.min.word(frame),
      diff: Self.diff.word(frame), isValid: Self.valid.flag(frame))
  }
}

/// The three axes as sent: pairs of bytes, the first in the upper half, not decoded yet, since one frame does not
/// identify its encoding (ring reference, 5.4).
///
/// Z runs along the axis through the ring's hole, Y through the charging contacts, X is vertical when the hand lies
/// flat.
public struct AccelerometerSample: FrameRecord {
  public var x: UInt16
  public var y: UInt16
  public var z: UInt16

  public init(x: UInt16, y: UInt16, z: UInt16) {
    self.x = x
    self.y = y
    self.z = z
  }

  private static let y = FramePlace(name: "y", offset: 2)
  private static let z = FramePlace(name: "z", offset: 4)
  private static let x = FramePlace(name: "x", offset: 6)

  package static let fields: Fields = Fields(Self(x: 0, y: 0, z: 0)) {
    RecordField(bytesOf: y, \.y)
    RecordField(bytesOf: z, \.z)
    RecordField(bytesOf: x, \.x)
  }

  @inline(__always)
  fileprivate init(_ frame: RingFrame) {
    self.init(x: Self.x.word(frame), y: Self.y.word(frame), z: Self.z.word(frame))
  }
}

/// The counters at the end of a wear calibration.
struct WearCalibration: FrameRecord {
  var first: UInt16 = 0
  var second: UInt16 = 0

  fileprivate static let first = FramePlace(name: "first", offset: 2)
  fileprivate static let second = FramePlace(name: "second", offset: 4)

  static let fields: Fields = Fields(Self()) {
    RecordField(first, \.first)
    RecordField(second, \.second)
  }
}

/// The raw stream request of the host: the second byte of a 0xA1 request (ring reference, 5.1).
package struct RawControl: RawRepresentable, FrameRecord {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ends a stream; on newer firmware it leaves the light on that ``stream`` switched on.
  package static let stop = RawControl(rawValue: 2)
  /// One set of samples, without a stream.
  package static let once = RawControl(rawValue: 3)
  /// All sensors until stopped. Ends any running measurement.
  package static let stream = RawControl(rawValue: 4)
  /// Releases the light that ``stream`` took.
  package static let release = RawControl(rawValue: 5)

  package static let fields: Fields = Fields(Self(rawValue: 0)) {
    RecordField(
      "control", \.rawValue, at: 1,
      words: [
        Int(stop.rawValue): "stop", Int(once.rawValue): "once", Int(stream.rawValue): "stream",
        Int(release.rawValue): "release the light",
      ])
  }

  /// The request. Its third byte stays zero, as captured from working hosts; some write 4 there, and no examined
  /// firmware reads it.
  package var frame: RingFrame { RingFrame(.rawStream, self) }

  /// Starts the stream. It is not acknowledged: the ring answers with the first samples, or with ``RawSample/refused``.
  package static var start: RingFrame { stream.frame }

  /// The commands that end the stream, to be sent in this order and without waiting: the oldest rings need only the
  /// second, newer ones keep their light on without the first.
  package static var stopSequence: [RingFrame] { [release.frame, stop.frame] }
}

/// The raw stream has code of its own, ``RawControl`` and ``RawSample``: it must not cost an allocation.
final class RawStreamCommands: CommandGroup {
  static let shared = RawStreamCommands()

  let rawStream = CommandEntry(
    subject: .frame(.rawStream), name: "raw stream", purpose: "The sensors as they are, sample by sample.",
    group: .rawStream, shape: .stream, requests: [FrameForm("control", RawControl.self)],
    replies: RawSample.Kind.allCases.map(\.form), source: "5 [F][C]")

  var entries: [CommandEntry] { [rawStream] }
}
