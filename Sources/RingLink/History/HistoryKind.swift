/// What a ring keeps a history of.
public enum HistoryKind: String, Hashable, Sendable, CaseIterable {
  case steps
  case heartRate = "heart-rate"
  case oxygen = "spo2"
  case sleep
  case stress
  case variability = "hrv"
  case temperature

  /// Firmware is known to make these up where the sensor gives nothing (ring reference, 4.9).
  public var isEstimate: Bool { self == .stress || self == .variability }
}
