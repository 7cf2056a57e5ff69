import ATT
import HaloBluetoothCore

/// Why a GATT operation failed.
package enum GATTError: Error, Hashable, Sendable {
  /// A transaction failed: refused, not answered, or the link is gone.
  case att(ATTError)
  /// The server's response violates the specification and cannot be used.
  case misbehaved(String)
  /// The server has no such service, characteristic or descriptor.
  case notFound(String)
  /// The characteristic's properties do not allow it.
  case notSupported(BluetoothUUID, String)
  /// No attribute value is longer than 512 bytes (Core Specification Vol 3, Part F, 3.2.9).
  case tooLong(Int)
  /// The ``WritePolicy`` refuses the value, with the reason; it was not sent.
  case forbidden(String)
  /// The server indicated that its attributes have changed: discovered handles are no longer valid.
  case servicesChanged
  /// The attribute was discovered on another link: its handle means something else here, or nothing.
  case discoveredElsewhere(AttributeHandle)
  /// The server indicated that its attributes have changed, and a characteristic with a subscription no longer exists:
  /// the subscription has ended.
  case characteristicGone(BluetoothUUID)
  /// The link has no room for another write without response now; nothing was sent.
  case noRoom
  /// There was no room for a write without response for this long; it was not sent.
  case noRoomInTime(seconds: Double)
  /// The task was cancelled.
  case cancelled
}

extension GATTError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .att(let error): error.description
    case .misbehaved(let what): "the peer's GATT server breaks the rules: \(what)"
    case .notFound(let what): "the peer has no \(what)"
    case .notSupported(let uuid, let what): "characteristic \(uuid) does not support \(what)"
    case .tooLong(let count):
      "\(count) bytes are too many: an attribute value holds \(ATTBearer.maximumValueLength) at most"
    case .forbidden(let reason): reason
    case .servicesChanged: "the peer's services have changed; discover them again"
    case .discoveredElsewhere(let handle):
      "handle \(handle) was discovered on another link; discover the attribute on this one"
    case .characteristicGone(let uuid):
      "the peer's services have changed, and characteristic \(uuid) is gone: its values do not come any more"
    case .noRoom:
      "the link has no room for another write without response now; wait for room, and write again"
    case .noRoomInTime(let seconds):
      "the link took no write without response for \(Int(seconds.rounded())) s; is the peer too far away?"
    case .cancelled: "cancelled"
    }
  }
}
