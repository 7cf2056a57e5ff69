import BluetoothCore
import JSON
import MQTT
import Testing

@Suite struct BatchTests {
  private let ring = BluetoothAddress(0x3035_3841_BEEF, .public)

  private func add(_ text: String, to maker: inout BatchMaker) -> [UInt8]? {
    let bytes = Array(text.utf8)
    return maker.add(bytes.span.bytes)
  }

  private func object(_ batch: [UInt8]) throws -> [String: JSONValue] {
    guard case .object(let members) = try JSONValue(parsing: batch) else { return [:] }
    return members
  }

  @Test func aBatchHasItsRecordsInOrder() throws {
    var maker = BatchMaker(ring: ring, name: "R02 \"x\"", session: "0123")
    #expect(maker.isEmpty)
    #expect(add("{\"seq\":0}\n", to: &maker) == nil)
    #expect(add("{\"seq\":1}", to: &maker) == nil)
    #expect(add("\n", to: &maker) == nil)
    #expect(!maker.isEmpty)
    #expect(
      String(decoding: maker.take(), as: UTF8.self)
        == #"{"session":"0123","batch":0,"ring":{"address":"30:35:38:41:BE:EF","name":"R02 \"x\""},"#
        + #""records":[{"seq":0},{"seq":1}]}"#)
    #expect(maker.isEmpty)
    _ = add("{}", to: &maker)
    let second = try object(maker.take())
    #expect(second["batch"] == .integer(1))
    #expect(second["records"] == .array([.object([:])]))
  }

  @Test func noBatchIsLargerThanTheLimitAndNoRecordIsLost() throws {
    var maker = BatchMaker(ring: ring, name: nil)
    var batches: [[UInt8]] = []
    for number in 0..<2000 {
      let record = "{\"seq\":\(number),\"text\":\"\(String(repeating: "x", count: 90))\"}\n"
      if let batch = add(record, to: &maker) { batches.append(batch) }
    }
    batches.append(maker.take())
    #expect(batches.count > 2)
    var numbers: [JSONValue] = []
    for (number, batch) in batches.enumerated() {
      #expect(batch.count <= BatchMaker.largestBatch)
      let members = try object(batch)
      #expect(members["batch"] == .integer(number))
      #expect(members["session"] == .string(maker.session))
      guard case .array(let records)? = members["records"] else { continue }
      numbers += try records.map { .integer(try $0.member("seq", as: Int.self)) }
    }
    #expect(numbers == (0..<2000).map { .integer($0) })
  }

  @Test func eachMakerHasASessionOfItsOwn() {
    let sessions = (0..<100).map { _ in BatchMaker(ring: ring, name: nil).session }
    #expect(Set(sessions).count == 100)
    #expect(sessions.allSatisfy { $0.utf8.count == 16 })
  }

  @Test func aStateHasWhatIsKnown() {
    var state = RingState()
    state.batteryPercent = 87
    state.isCharging = false
    let message = state.message(Topics("home/rings"), of: ring, time: "2026-11-21T13:45:00Z")
    #expect(message.isRetained)
    #expect(message.topic == "home/rings/30353841beef/state")
    #expect(
      String(decoding: message.payload, as: UTF8.self)
        == #"{"battery_percent":87,"charging":false,"time":"2026-11-21T13:45:00Z"}"#)
  }

  private let moments = RingMoments(
    buttons: ["down", "up", "tap", "long"], alarms: ["too-low", "too-high"])

  /// The messages that Home Assistant's `mqtt/event.py` takes: JSON with an `event_type` that was announced, not retained.
  @Test func aMomentIsAnEventThatWasAnnounced() throws {
    let topics = Topics("home/rings")
    let messages = HomeAssistant(
      ring, name: nil, model: nil, firmware: nil, topics: topics, moments: moments, version: "1"
    ).messages
    var announced: [String: [JSONValue]] = [:]
    for message in messages {
      let config = try object(message.payload)
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
      let event = try object(message.payload)
      let types = try #require(announced[message.topic])
      let type = try #require(event["event_type"])
      #expect(types.contains(type))
      #expect(event["time"] == .string("2026-11-21T13:45:00Z"))
    }
  }

  /// What Home Assistant reads is what is published: each template names a member of the state.
  @Test func homeAssistantIsToldOfEachValue() throws {
    let topics = Topics("home/rings")
    var state = RingState()
    (state.batteryPercent, state.isCharging, state.beatsPerMinute, state.steps) = (87, true, 60, 5147)
    state.counter = 19
    let members = try object(state.message(topics, of: ring, time: "now").payload)
    let messages = HomeAssistant(
      ring, name: nil, model: nil, firmware: "R02_3", topics: topics, moments: moments, version: "1"
    ).messages
    #expect(messages.count == 7)
    #expect(Set(messages.map(\.topic)).count == 7)
    var read: Set<String> = []
    for message in messages {
      #expect(message.isRetained)
      #expect(message.topic.hasPrefix("homeassistant/") && message.topic.hasSuffix("/config"))
      let config = try object(message.payload)
      #expect(config["availability_topic"] == .string(topics.status))
      guard config["event_types"] == nil else {
        #expect(message.topic.hasPrefix("homeassistant/event/") && config["value_template"] == nil)
        continue
      }
      #expect(config["state_topic"] == .string(topics.state(of: ring)))
      guard case .string(let template)? = config["value_template"] else { continue }
      read.formUnion(members.keys.filter { template.contains("value_json.\($0) ") })
    }
    #expect(read == Set(members.keys).subtracting(["time"]))
  }
}
