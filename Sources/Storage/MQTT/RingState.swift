import HaloBluetoothCore
import HaloStorage

/// The state of a ring at a time: the newest value of each kind.
package struct RingState: Equatable, Sendable {
  private var values: [RingValue: JSONValue] = [:]

  /// The values that belong to it, with their names and units.
  private static let names: [RingValue: String] = [
    .battery: "battery_percent", .charging: "charging", .heartRate: "heart_rate_bpm", .steps: "steps",
    .counter: "counter",
  ]

  package init() {}

  /// Takes a value, if it belongs to it.
  package mutating func take(_ kind: RingValue, _ value: JSONValue) {
    if Self.names[kind] != nil { values[kind] = value }
  }

  /// The message; `time` is that of the newest value, in ISO 8601.
  package func message(_ topics: Topics, of ring: BluetoothAddress, time: String) -> Message {
    var members = ["time": JSONValue.string(time)]
    for (kind, name) in Self.names { members[name] = values[kind] }
    return Message(topic: topics.state(of: ring), text: JSONValue.object(members).line, kind: .state)
  }
}

/// A value of a ring that has a topic of its own, by the end of that topic.
package enum RingValue: String, CaseIterable, Hashable, Sendable {
  /// In percent.
  case battery
  /// True or false.
  case charging
  /// In beats per minute.
  case heartRate = "heart_rate"
  /// Since the ring's midnight.
  case steps
  /// The wearer's counter.
  case counter
  /// In percent.
  case spo2
  /// In degrees Celsius.
  case temperature
  /// In milliseconds.
  case hrv
  /// 1 to 99, on the vendor's scale.
  case stress
  /// The minutes of the last night that were slept.
  case sleep

  /// Whether a ring has it at any time; others are described when there is a first one.
  var isAlwaysThere: Bool {
    switch self {
    case .battery, .charging, .steps: true
    case .heartRate, .counter, .spo2, .temperature, .hrv, .stress, .sleep: false
    }
  }

  /// Whether it is measured now and then, and so stays of use while no program has the ring.
  package var isResult: Bool {
    switch self {
    case .battery, .charging, .heartRate, .steps, .counter: false
    case .spo2, .temperature, .hrv, .stress, .sleep: true
    }
  }
}

/// A value at a time.
package struct RingReading: Equatable, Sendable {
  package var value: JSONValue
  /// Whether firmware may have made it up.
  package var isEstimate: Bool

  package init(_ value: JSONValue, isEstimate: Bool = false) {
    self.value = value
    self.isEstimate = isEstimate
  }

  /// The message; `time` is in ISO 8601.
  package func message(
    _ topics: Topics, _ kind: RingValue, of ring: BluetoothAddress, time: String
  ) -> Message {
    var members = ["value": value, "time": .string(time)]
    if isEstimate { members["estimate"] = .bool(true) }
    return Message(topic: topics.value(kind, of: ring), text: JSONValue.object(members).line, kind: .state)
  }
}

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
