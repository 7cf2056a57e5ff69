/// Why a measurement has ended without a value.
public enum MeasurementFailure: Hashable, Sendable {
  case notWorn
  /// The ring has measured for so long and found nothing.
  case noValue(seconds: Double)
  /// The ring has said nothing more for so long.
  case fellSilent(seconds: Double)
  /// Rings measure one thing at a time.
  case takenOver(by: MeasurementKind)
  /// A status that nobody has explained.
  case status(UInt8)
}

extension MeasurementFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notWorn:
      "the ring does not touch the skin; wear it with its sensor on the inner side of the finger, and keep still"
    case .noValue(let seconds):
      "the ring has measured for \(Int(seconds.rounded())) s and found no value; is it worn? Keep the hand still, and try again"
    case .fellSilent(let seconds):
      "the ring has told nothing for \(Int(seconds.rounded())) s; another measurement may have taken the sensor, "
        + "or the ring was put on its charger"
    case .takenOver(let kind):
      "\(kind == .continuousHeartRate ? "a \(kind)" : "\(kind)") measurement has taken the sensor"
    case .status(let status): "the ring has ended it with status \(status), of which nobody knows the meaning"
    }
  }
}
