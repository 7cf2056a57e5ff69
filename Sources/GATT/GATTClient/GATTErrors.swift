import ATT
import HaloBluetoothCore

/// Why a GATT operation failed.
extension StackError {
  /// The server's response violates the specification and cannot be used.
  package static func misbehaved(_ what: String) -> StackError {
    StackError(.misbehaved, .final, "the peer's GATT server breaks the rules: \(what)")
  }

  /// The server has no such service, characteristic or descriptor.
  package static func notFound(_ what: String) -> StackError {
    StackError(.notFound, .final, "the peer has no \(what)")
  }

  /// The characteristic's properties do not allow it.
  package static func notSupported(_ uuid: BluetoothUUID, _ what: String) -> StackError {
    StackError(.notSupported, .final, "characteristic \(uuid) does not support \(what)")
  }

  /// The ``WritePolicy`` refuses the value, with the reason; it was not sent.
  package static func forbidden(_ reason: String) -> StackError { StackError(.forbidden, .final, reason) }

  /// The server indicated that its attributes have changed: discovered handles are no longer valid.
  package static let servicesChanged = StackError(
    .servicesChanged, .link, "the peer's services have changed; discover them again")

  /// The attribute was discovered on another link: its handle means something else here, or nothing.
  package static func discoveredElsewhere(_ handle: AttributeHandle) -> StackError {
    StackError(
      .discoveredElsewhere, .final,
      "handle \(handle) was discovered on another link; discover the attribute on this one")
  }

  /// The server indicated that its attributes have changed, and a characteristic with a subscription no longer exists:
  /// the subscription has ended.
  package static func characteristicGone(_ uuid: BluetoothUUID) -> StackError {
    StackError(
      .characteristicGone, .final,
      "the peer's services have changed, and characteristic \(uuid) is gone: its values do not come any more")
  }

  /// This link has no keys for signatures.
  package static let signingNotOffered = StackError(
    .notOffered, .final, "writes can't be signed on this link: encrypt it, or pair on another adapter")

  /// The link has no room for another write without response now; nothing was sent.
  package static let noRoom = StackError(
    .noRoom, .final,
    "the link has no room for another write without response now; wait for room, and write again")

  /// There was no room for a write without response for this long; it was not sent.
  package static func noRoomInTime(seconds: Double) -> StackError {
    StackError(
      .noRoom, .silence,
      "the link took no write without response for \(Int(seconds.rounded())) s; is the peer too far away?")
  }
}
