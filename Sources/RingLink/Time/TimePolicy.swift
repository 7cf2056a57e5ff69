/// Which wall clock a ring is given. A ring has no time zone: its days begin at the midnight of this clock, and every
/// time that it tells is of this clock (ring reference, 4.1). The one place where that is decided.
public enum TimePolicy: String, Hashable, Sendable, CaseIterable {
  /// The wearer's own time: days are the wearer's days. What the makers' app does.
  case local
  /// Coordinated Universal Time: no hour is lost or told twice, but days are not the wearer's.
  case utc
}
