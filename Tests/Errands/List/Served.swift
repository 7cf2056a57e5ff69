import HaloRaw

/// What a door offers to clients: a service with one value, which is read, written, notified and indicated.
package enum ServedValue {
  package static let name = "Served"
  package static let service = "B000"
  package static let uuid = "B001"
  package static let first = (0..<300).map { UInt8($0 % 251) }
}

/// What clients do with the served value.
@BluetoothActor
package protocol ServedEvents: AnyObject, Sendable {
  var user: User { get }
  /// It is advertised.
  func began(_ server: any Served)
  func written(_ bytes: [UInt8])
  /// So many clients have subscribed.
  func subscribed(_ count: Int)
  /// A client has connected, or has used the value first: the device that it is can be used by its address.
  func met(_ client: String)
}

extension ServedEvents {
  package func began(_ server: any Served) { user.say("begun") }
  package func written(_ bytes: [UInt8]) { user.say("written", bytes) }
  package func subscribed(_ count: Int) {}
  package func met(_ client: String) {}
}

/// A served value.
@BluetoothActor
package protocol Served: AnyObject, Sendable {
  /// Sends a value to all that have subscribed, and returns when the next one can be sent.
  func send(_ bytes: [UInt8]) async throws
}
