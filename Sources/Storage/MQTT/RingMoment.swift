import HaloBluetoothCore
import HaloStorage

/// Something that has happened to a ring, for those who listen at that moment: Home Assistant takes no event from a
/// retained message, and one that has waited would come at the wrong time.
package enum RingMoment: Hashable, Sendable {
  /// `tap`, for example.
  case button(String)
  /// `too-high` or `too-low`, and the heart rate in beats per minute.
  case alarm(String, beatsPerMinute: Int)

  /// The message; `time` is in ISO 8601.
  package func message(_ topics: Topics, of ring: BluetoothAddress, time: String) -> Message {
    let (topic, type, rate): (String, String, Int?) =
      switch self {
      case .button(let type): (topics.button(of: ring), type, nil)
      case .alarm(let type, let rate): (topics.alarm(of: ring), type, rate)
      }
    let members: [String: JSONValue?] = [
      "event_type": .string(type), "heart_rate_bpm": rate.map { .integer($0) }, "time": .string(time),
    ]
    return Message(
      topic: topic, text: JSONValue.members(members).line, kind: .momentary)
  }
}

/// The types of the events of a ring.
package struct RingMoments: Hashable, Sendable {
  package var buttons: [String]
  package var alarms: [String]

  package init(buttons: [String], alarms: [String]) {
    self.buttons = buttons
    self.alarms = alarms
  }
}
