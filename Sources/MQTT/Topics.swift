import BluetoothCore
import JSON

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

  /// Retained: what is known of the ring.
  package func state(of ring: BluetoothAddress) -> String { batches(of: ring, "state") }
}

/// What is known of a ring at a time; the newest value of each.
package struct RingState: Hashable, Sendable {
  package var batteryPercent: Int?
  package var isCharging: Bool?
  package var beatsPerMinute: Int?
  /// Since the ring's midnight.
  package var steps: Int?

  package init() {}

  /// - Parameter time: of the newest value, ISO 8601
  package func message(_ topics: Topics, of ring: BluetoothAddress, time: String) -> Message {
    let members: [String: JSONValue?] = [
      "battery_percent": batteryPercent.map { .integer($0) }, "charging": isCharging.map { .bool($0) },
      "heart_rate_bpm": beatsPerMinute.map { .integer($0) }, "steps": steps.map { .integer($0) },
      "time": .string(time),
    ]
    return Message(
      topic: topics.state(of: ring), text: JSONValue.object(members.compactMapValues(\.self)).line,
      isRetained: true)
  }
}
