import HaloBluetoothCore
import HaloStorage

/// Describes a ring to Home Assistant, so that its values appear there (MQTT discovery): an announcement for each.
package struct HomeAssistant {
  /// The start of its topics, unless its integration is set to another one.
  package static let standardPrefix = "homeassistant"

  /// The facts about a ring that its announcements need.
  package struct Device: Sendable {
    /// Its name, if it is known.
    package var name: String?
    /// The name of its hardware, if it was read.
    package var model: String?
    /// The name of its firmware, if it was read.
    package var firmware: String?
    /// The events that the ring can report.
    package var moments: RingMoments
    /// Whether the program has the ring as long as it runs, so that its values are old when it ends.
    package var isFollowed: Bool

    package init(name: String?, model: String?, firmware: String?, moments: RingMoments, isFollowed: Bool) {
      self.name = name
      self.model = model
      self.firmware = firmware
      self.moments = moments
      self.isFollowed = isFollowed
    }
  }

  private let ring: BluetoothAddress
  private let topics: Topics
  /// The start of its topics.
  private let prefix: String
  /// The version of this program.
  private let version: String

  /// - Parameters:
  ///   - ring: the address of the ring
  ///   - topics: where its state is published
  ///   - prefix: the start of Home Assistant's topics
  ///   - version: that of the program
  package init(_ ring: BluetoothAddress, _ topics: Topics, prefix: String = standardPrefix, version: String) {
    self.ring = ring
    self.topics = topics
    self.prefix = prefix
    self.version = version
  }

  private var id: String { "halo_\(Topics.name(of: ring))" }

  /// The announcements of a ring: of the values that it has at any time, of its events, and of the other values that were
  /// published.
  package func messages(_ device: Device, published: Set<RingValue> = []) -> [Message] {
    let values = RingValue.allCases.filter { $0.isAlwaysThere || published.contains($0) }
    return values.map { message($0, device) } + [button(device), alarm(device)]
  }

  private func message(_ value: RingValue, _ device: Device) -> Message {
    let entity = ValueEntity(value)
    let topic = topics.value(value, of: ring)
    var members = entity.others
    members["state_topic"] = .string(topic)
    members["value_template"] = .string(entity.template)
    members["json_attributes_topic"] = .string(topic)
    members["expire_after"] = .integer(entity.lifetime)
    if !value.isResult { members["availability"] = availability(hasStatus: device.isFollowed) }
    return announcement(entity.component, value.rawValue, entity.name, device, members)
  }

  private func button(_ device: Device) -> Message {
    event(
      "button", "Button", topics.button(of: ring), device.moments.buttons, device,
      ["device_class": .string("button")])
  }

  private func alarm(_ device: Device) -> Message {
    event(
      "heart_rate_alarm", "Heart rate alarm", topics.alarm(of: ring), device.moments.alarms, device,
      ["icon": .string("mdi:heart-flash")])
  }

  /// An event, with the words for it.
  private func event(
    _ key: String, _ name: String, _ topic: String, _ words: [String], _ device: Device,
    _ look: [String: JSONValue]
  ) -> Message {
    var members = look
    members["state_topic"] = .string(topic)
    members["event_types"] = .array(words.map { .string($0) })
    members["availability"] = availability(hasStatus: true)
    return announcement("event", key, name, device, members)
  }

  /// All of these topics have to say `online`, as `availability_mode` has it.
  private func availability(hasStatus: Bool) -> JSONValue {
    let topics = (hasStatus ? [topics.status] : []) + [topics.availability(of: ring)]
    return .array(topics.map { .object(["topic": .string($0)]) })
  }

  private func announcement(
    _ component: String, _ what: String, _ name: String, _ device: Device, _ others: [String: JSONValue]
  ) -> Message {
    var members = others
    members["name"] = .string(name)
    members["unique_id"] = .string("\(id)_\(what)")
    members["default_entity_id"] = .string("\(component).\(id)_\(what)")
    if others["availability"] != nil { members["availability_mode"] = .string("all") }
    // Step by step: one expression would take the compiler a third of a second.
    let address = JSONValue.string(ring.description)
    let firmware: JSONValue? = device.firmware.map { .string($0) }
    let model = JSONValue.string(device.model ?? "R02 family")
    members["device"] = .members([
      "identifiers": .array([.string(id)]), "connections": .array([.array([.string("bluetooth"), address])]),
      "name": device.name.map { .string($0) } ?? address, "manufacturer": .string("COLMI"), "model": model,
      "sw_version": firmware,
    ])
    members["origin"] = .object(["name": .string("halo-raw"), "sw_version": .string(version)])
    return Message(
      topic: "\(prefix)/\(component)/\(id)_\(what)/config", text: JSONValue.object(members).line,
      kind: .announcement)
  }
}

/// How Home Assistant shows a value.
private struct ValueEntity {
  var component = "sensor"
  var name: String
  var template = "{{ value_json.value }}"
  /// How long the value holds without a new one, in seconds.
  var lifetime = day
  var others: [String: JSONValue] = ["state_class": .string("measurement")]

  private static let hour = 3600
  private static let day = 24 * hour

  init(_ value: RingValue) {
    switch value {
    case .battery:
      name = "Battery"
      add(device: "battery", unit: "%")
      others["entity_category"] = .string("diagnostic")
    case .charging:
      (component, name) = ("binary_sensor", "Charging")
      template = "{{ 'ON' if value_json.value else 'OFF' }}"
      others = ["device_class": .string("battery_charging"), "entity_category": .string("diagnostic")]
    case .heartRate:
      (name, lifetime) = ("Heart rate", Self.hour)
      add(unit: "bpm", icon: "heart-pulse")
    case .steps:
      name = "Steps"
      add(unit: "steps", icon: "walk")
      others["state_class"] = .string("total_increasing")
    case .counter:
      name = "Counter"
      add(icon: "counter")
      // Few wearers count anything.
      others["enabled_by_default"] = .bool(false)
    case .spo2:
      name = "SpO2"
      add(unit: "%", icon: "water-percent")
    case .temperature:
      name = "Temperature"
      add(device: "temperature", unit: "°C")
    case .hrv:
      name = "HRV"
      add(unit: "ms", icon: "heart-cog")
      // Firmware makes up part of it.
      others["enabled_by_default"] = .bool(false)
    case .stress:
      name = "Stress"
      add(icon: "head-flash")
      others["enabled_by_default"] = .bool(false)
    case .sleep:
      (name, lifetime) = ("Sleep", 2 * Self.day)
      add(device: "duration", unit: "min", icon: "sleep")
    }
  }

  private mutating func add(device: String? = nil, unit: String? = nil, icon: String? = nil) {
    if let device { others["device_class"] = .string(device) }
    if let unit { others["unit_of_measurement"] = .string(unit) }
    if let icon { others["icon"] = .string("mdi:\(icon)") }
  }
}
