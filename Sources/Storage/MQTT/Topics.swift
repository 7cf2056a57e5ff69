import HaloBluetoothCore

/// The topics of this package below a prefix.
package struct Topics: Hashable, Sendable {
  package let prefix: String

  package init(_ prefix: String) {
    self.prefix = prefix
  }

  /// Retained: `online`, or `offline`.
  package var status: String { "\(prefix)/status" }
  package static let online = "online"
  package static let offline = "offline"

  /// The address without colons, in lower case: `30353841beef`.
  package static func name(of ring: BluetoothAddress) -> String {
    let digits = String(ring.value, radix: 16)
    return String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
  }

  /// The batches of a command's records.
  package func batches(of ring: BluetoothAddress, _ command: String) -> String {
    "\(prefix)/\(Self.name(of: ring))/\(command)"
  }

  /// Retained: the state of the ring.
  package func state(of ring: BluetoothAddress) -> String { batches(of: ring, "state") }

  /// Retained: the newest of one value of the ring.
  package func value(_ value: RingValue, of ring: BluetoothAddress) -> String {
    "\(state(of: ring))/\(value.rawValue)"
  }

  /// Retained: `online` while this program has the ring, `offline` after a stream of it has ended.
  package func availability(of ring: BluetoothAddress) -> String { batches(of: ring, "availability") }

  /// The actions of a finger.
  package func button(of ring: BluetoothAddress) -> String { batches(of: ring, "button") }

  /// The heart rate has left its limits.
  package func alarm(of ring: BluetoothAddress) -> String { batches(of: ring, "alarm") }
}
