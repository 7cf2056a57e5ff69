import HaloBluetoothCore

/// The centrals that a peripheral admits and keeps: silent ones would take all links permanently.
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
  /// The longest time in which a central sends no ATT PDU; nil for no limit. The limit does not apply to a central that has
  /// subscribed to a value. A subscription to Service Changed does not count, as most centrals have it.
  package var idleLimit: Duration?

  package init(allowed: [BluetoothAddress]? = nil, idleLimit: Duration? = nil) {
    self.allowed = allowed
    self.idleLimit = idleLimit
  }

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
