import BluetoothCore
import JSON

/// Describes a ring to Home Assistant, so that its values appear there (MQTT discovery): a retained message for each.
package struct HomeAssistant {
  /// The ring.
  private let ring: BluetoothAddress
  private let name: String?
  private let model: String?
  private let firmware: String?
  private let topics: Topics
  private let moments: RingMoments
  /// The version of this program.
  private let version: String

  /// - Parameters:
  ///   - ring: its address
  ///   - name: its name, if it is known
  ///   - model: the name of its hardware, if it was read
  ///   - firmware: the name of its firmware, if it was read
  ///   - topics: where its state is published
  ///   - moments: what can happen to it
  ///   - version: that of the program
  package init(
    _ ring: BluetoothAddress, name: String?, model: String?, firmware: String?, topics: Topics,
    moments: RingMoments, version: String
  ) {
    self.moments = moments
    self.ring = ring
    self.name = name
    self.model = model
    self.firmware = firmware
    self.topics = topics
    self.version = version
  }

  /// A value of ``RingState``, or a kind of ``RingMoment``.
  private struct Entity {
    var component = "sensor"
    /// In the identifier.
    var what: String
    var name: String
    var topic: @Sendable (Topics, BluetoothAddress) -> String = { $0.state(of: $1) }
    /// Nil if the message itself is what Home Assistant wants.
    var template: String?
    var others: [String: JSONValue]
    /// The types of an event.
    var types: (@Sendable (RingMoments) -> [String])?
  }

  // A value that is not in the state leaves the old one in Home Assistant, which ignores an empty text.
  private static let entities = [
    Entity(
      what: "battery", name: "Battery", template: "{{ value_json.battery_percent | default('') }}",
      others: [
        "device_class": .string("battery"), "unit_of_measurement": .string("%"),
        "state_class": .string("measurement"), "entity_category": .string("diagnostic"),
      ]),
    Entity(
      component: "binary_sensor", what: "charging", name: "Charging",
      template:
        "{% if value_json.charging is defined %}{{ 'ON' if value_json.charging else 'OFF' }}{% endif %}",
      others: ["device_class": .string("battery_charging"), "entity_category": .string("diagnostic")]),
    Entity(
      what: "heart_rate", name: "Heart rate", template: "{{ value_json.heart_rate_bpm | default('') }}",
      others: [
        "unit_of_measurement": .string("bpm"), "state_class": .string("measurement"),
        "icon": .string("mdi:heart-pulse"),
      ]),
    Entity(
      what: "steps", name: "Steps", template: "{{ value_json.steps | default('') }}",
      others: [
        "unit_of_measurement": .string("steps"), "state_class": .string("total_increasing"),
        "icon": .string("mdi:walk"),
      ]),
    // Few wearers count anything.
    Entity(
      what: "counter", name: "Counter", template: "{{ value_json.counter | default('') }}",
      others: [
        "state_class": .string("measurement"), "icon": .string("mdi:counter"),
        "enabled_by_default": .bool(false),
      ]),
    Entity(
      component: "event", what: "button", name: "Button", topic: { $0.button(of: $1) },
      others: ["device_class": .string("button")], types: \.buttons),
    Entity(
      component: "event", what: "heart_rate_alarm", name: "Heart rate alarm", topic: { $0.alarm(of: $1) },
      others: ["icon": .string("mdi:heart-flash")], types: \.alarms),
  ]

  package var messages: [Message] {
    let id = "halo_\(Topics.name(of: ring))"
    let device: JSONValue = .members([
      "identifiers": .array([.string(id)]),
      "connections": .array([.array([.string("bluetooth"), .string(ring.description)])]),
      "name": .string(name ?? ring.description), "manufacturer": .string("COLMI"),
      "model": .string(model ?? "R02 family"), "sw_version": firmware.map { .string($0) },
    ])
    return Self.entities.map { entity in
      var members = entity.others
      members["name"] = .string(entity.name)
      members["unique_id"] = .string("\(id)_\(entity.what)")
      members["object_id"] = .string("\(id)_\(entity.what)")
      members["state_topic"] = .string(entity.topic(topics, ring))
      members["value_template"] = entity.template.map { .string($0) }
      members["event_types"] = entity.types.map { .array($0(moments).map { .string($0) }) }
      members["availability_topic"] = .string(topics.status)
      members["device"] = device
      members["origin"] = .object(["name": .string("halo-raw"), "sw_version": .string(version)])
      return Message(
        topic: "homeassistant/\(entity.component)/\(id)_\(entity.what)/config",
        text: JSONValue.object(members).line, isRetained: true)
    }
  }
}
