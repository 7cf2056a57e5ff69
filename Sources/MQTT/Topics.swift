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

  /// What a finger does.
  package func button(of ring: BluetoothAddress) -> String { batches(of: ring, "button") }

  /// The heart rate has left its limits.
  package func alarm(of ring: BluetoothAddress) -> String { batches(of: ring, "alarm") }
}

/// What is known of a ring at a time; the newest value of each.
package struct RingState: Hashable, Sendable {
  package var batteryPercent: Int?
  package var isCharging: Bool?
  package var beatsPerMinute: Int?
  /// Since the ring's midnight.
  package var steps: Int?
  /// The wearer's counter.
  package var counter: Int?

  package init() {}

  /// - Parameter time: of the newest value, ISO 8601
  package func message(_ topics: Topics, of ring: BluetoothAddress, time: String) -> Message {
    let members: [String: JSONValue?] = [
      "battery_percent": batteryPercent.map { .integer($0) }, "charging": isCharging.map { .bool($0) },
      "heart_rate_bpm": beatsPerMinute.map { .integer($0) }, "steps": steps.map { .integer($0) },
      "counter": counter.map { .integer($0) }, "time": .string(time),
    ]
    return Message(
      topic: topics.state(of: ring), text: JSONValue.object(members.compactMapValues(\.self)).line,
      isRetained: true)
  }
}

/// Something that has happened to a ring, for those who listen at that moment: Home Assistant takes no event from a retained
/// message, and one that has waited would come at the wrong time.
package enum RingMoment: Hashable, Sendable {
  /// `tap`, for example.
  case button(String)
  /// `too-high` or `too-low`, and the heart rate in beats per minute.
  case alarm(String, beatsPerMinute: Int)

  /// - Parameter time: ISO 8601
  package func message(_ topics: Topics, of ring: BluetoothAddress, time: String) -> Message {
    let (topic, type, rate): (String, String, Int?) =
      switch self {
      case .button(let type): (topics.button(of: ring), type, nil)
      case .alarm(let type, let rate): (topics.alarm(of: ring), type, rate)
      }
    let members: [String: JSONValue?] = [
      "event_type": .string(type), "heart_rate_bpm": rate.map { .integer($0) }, "time": .string(time),
    ]
    return Message(momentary: topic, text: JSONValue.object(members.compactMapValues(\.self)).line)
  }
}

/// The types of what can happen to a ring.
package struct RingMoments: Hashable, Sendable {
  package var buttons: [String]
  package var alarms: [String]

  package init(buttons: [String], alarms: [String]) {
    self.buttons = buttons
    self.alarms = alarms
  }
}
