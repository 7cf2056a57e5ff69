import HaloBluetoothCore
import HaloStorage
import HaloMQTT
import Testing

/// What Home Assistant is told. Its own schema checks it in Tests/HomeAssistant.
@Suite struct HomeAssistantTests {
  private let ring = BluetoothAddress(0x3035_3841_BEEF, .public)
  private let topics = Topics("home/rings")

  private func object(_ message: Message) throws -> [String: JSONValue] {
    guard case .object(let members) = try JSONValue(parsing: message.payload) else { return [:] }
    return members
  }

  private func messages(
    follows: Bool = true, published: Set<RingValue> = Set(RingValue.allCases),
    prefix: String = "homeassistant"
  ) -> [Message] {
    HomeAssistant(ring, topics, prefix: prefix, version: "1").messages(
      HomeAssistant.Device(
        name: nil, model: nil, firmware: "R02_3",
        moments: RingMoments(buttons: ["down", "up", "tap", "long"], alarms: ["too-low", "too-high"]),
        isFollowed: follows), published: published)
  }

  /// The messages that Home Assistant's `mqtt/event.py` takes: JSON with an `event_type` that was announced, not
  /// retained.
  @Test func aMomentIsAnEventThatWasAnnounced() throws {
    var announced: [String: [JSONValue]] = [:]
    for message in messages() {
      let config = try object(message)
      guard case .array(let types)? = config["event_types"], case .string(let topic)? = config["state_topic"]
      else { continue }
      announced[topic] = types
    }
    #expect(announced.count == 2)
    let moments: [RingMoment] = [
      .button("down"), .button("up"), .button("tap"), .button("long"),
      .alarm("too-high", beatsPerMinute: 131),
      .alarm("too-low", beatsPerMinute: 38),
    ]
    for moment in moments {
      let message = moment.message(topics, of: ring, time: "2026-11-21T13:45:00Z")
      #expect(message.isMomentary && !message.isRetained)
      let event = try object(message)
      let types = try #require(announced[message.topic])
      let type = try #require(event["event_type"])
      #expect(types.contains(type))
      #expect(event["time"] == .string("2026-11-21T13:45:00Z"))
    }
  }

  /// The topic that Home Assistant reads is the one to which the value is published, and the template reads its member.
  @Test func eachValueIsReadWhereItIsPublished() throws {
    let configs = try messages().map { try object($0) }
    for value in RingValue.allCases {
      let published = RingReading(.integer(1), isEstimate: true).message(topics, value, of: ring, time: "now")
      #expect(published.kind == .state)
      let config = try #require(configs.first { $0["state_topic"] == .string(published.topic) })
      #expect(
        try object(published) == ["value": .integer(1), "time": .string("now"), "estimate": .bool(true)])
      guard case .string(let template)? = config["value_template"] else {
        Issue.record("no template of \(value)")
        continue
      }
      #expect(template.contains("value_json.value "))
      guard case .integer(let lifetime)? = config["expire_after"] else {
        Issue.record("\(value) never expires")
        continue
      }
      #expect(lifetime >= 3600)
    }
    #expect(configs.count == RingValue.allCases.count + 2)
    #expect(Set(messages().map(\.topic)).count == configs.count)
  }

  /// Home Assistant 2026.4 takes `default_entity_id` alone, which has the domain in front: esphome/esphome 12353.
  @Test func namesOfEntitiesAreWrittenAsIn2026() throws {
    for message in messages() {
      #expect(message.kind == .announcement)
      let config = try object(message)
      let parts = message.topic.split(separator: "/")
      #expect(parts.count == 4 && parts[0] == "homeassistant" && parts[3] == "config")
      #expect(config["unique_id"] == .string(String(parts[2])))
      #expect(config["default_entity_id"] == .string("\(parts[1]).\(parts[2])"))
      #expect(config["object_id"] == nil)
    }
    #expect(messages(prefix: "ha/disco").allSatisfy { $0.topic.hasPrefix("ha/disco/") })
  }

  /// A stream's values are old when the stream ends or is killed. A single measurement holds until it expires: its
  /// program ends at once, and its last state has to be shown all the same.
  @Test func availabilityIsThatOfTheRingAndOfTheProgram() throws {
    func topicsOf(_ config: [String: JSONValue]) -> [JSONValue]? {
      guard case .array(let all)? = config["availability"] else { return nil }
      return all
    }
    let status: JSONValue = .object(["topic": .string("home/rings/status")])
    let own: JSONValue = .object(["topic": .string("home/rings/30353841beef/availability")])
    for follows in [true, false] {
      for message in messages(follows: follows) {
        let config = try object(message)
        let name = message.topic.split(separator: "/")[2].dropFirst("halo_30353841beef_".count)
        let value = RingValue(rawValue: String(name))
        if value?.isResult == true {
          #expect(config["availability"] == nil && config["availability_mode"] == nil)
        } else {
          #expect(topicsOf(config) == (follows || value == nil ? [status, own] : [own]), "\(name)")
          #expect(config["availability_mode"] == .string("all"))
        }
      }
    }
  }

  /// A value that a ring does not have would be one that is never known.
  @Test func aValueThatNotEveryRingHasIsDescribedWithTheFirstOne() {
    let names = messages(published: [.sleep]).map { $0.topic.split(separator: "/")[2] }
    #expect(names.contains("halo_30353841beef_sleep"))
    #expect(!names.contains("halo_30353841beef_spo2") && !names.contains("halo_30353841beef_heart_rate"))
    #expect(names.contains("halo_30353841beef_battery"))
  }
}
