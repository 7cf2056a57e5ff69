import BluetoothCore
import HaloJSON

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
      topic: topics.state(of: ring), text: JSONValue.members(members).line,
      kind: .state)
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

  /// - Parameter time: ISO 8601
  package func message(
    _ topics: Topics, _ kind: RingValue, of ring: BluetoothAddress, time: String
  ) -> Message {
    var members = ["value": value, "time": .string(time)]
    if isEstimate { members["estimate"] = .bool(true) }
    return Message(topic: topics.value(kind, of: ring), text: JSONValue.object(members).line, kind: .state)
  }
}
