import HaloBluetoothCore

/// Which centrals a peripheral keeps: silent ones would take all links for ever.
package struct LinkAdmission: Hashable, Sendable {
  /// Why the link to a central is ended.
  package enum Refusal: Hashable, Sendable {
    /// It is not among those that may connect.
    case notAllowed
    /// It has sent nothing for this time, and wants no values.
    case idle(Duration)
  }

  /// The addresses of the centrals that may connect; nil for all. It does not count whether an address is random. A central
  /// that uses a resolvable private address has another one each quarter of an hour, and is only known to whom it is bonded with.
  package var allowed: [BluetoothAddress]?
  /// How long a central may send no ATT PDU. One that has subscribed to a value may for ever: it listens. A subscription to
  /// Service Changed does not count, as most centrals have it. Nil for no limit.
  package var idleLimit: Duration?

  package init(allowed: [BluetoothAddress]? = nil, idleLimit: Duration? = nil) {
    self.allowed = allowed
    self.idleLimit = idleLimit
  }

  /// Whether a central may connect.
  package func admits(_ central: BluetoothAddress) -> Bool {
    allowed?.contains { $0.value == central.value } ?? true
  }

  /// When a link has to be looked at again.
  ///
  /// - Parameters:
  ///   - limit: the ``idleLimit``
  ///   - activity: when the central has last sent an ATT PDU, or has connected
  ///   - isSubscribed: whether it wants values
  ///   - now: the time
  /// - Returns: nil if the link is idle and has to be ended
  static func nextLook(
    within limit: Duration, afterActivity activity: Instant, isSubscribed: Bool, at now: Instant
  ) -> Instant? {
    if now - activity < limit { return activity + limit }
    return isSubscribed ? now + limit : nil
  }
}
