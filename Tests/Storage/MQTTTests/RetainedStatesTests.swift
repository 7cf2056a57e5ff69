import Testing

@testable import HaloMQTT

/// A broker without persistence forgets what it retained when it is started anew. (unixorn/ha-mqtt-discoverable 512,
/// mrlt8/docker-wyze-bridge 920, SAIC-iSmart-API/saic-python-mqtt-gateway 292 and 402)
@Suite struct RetainedStatesTests {
  private func announcement(_ text: String, _ topic: String = "config") -> Message {
    Message(topic: topic, text: text, kind: .announcement)
  }
  private func state(_ text: String, _ topic: String = "state") -> Message {
    Message(topic: topic, text: text, kind: .state)
  }

  @Test func theNewestOfEachTopicIsSentAgainAnnouncementsFirst() {
    var states = RetainedStates()
    states.set(state("1"))
    states.set(announcement("a"))
    states.set(state("2"))
    states.delivered(state("2"))
    #expect(states.takeNew() == [announcement("a")])
    // Once for each connection.
    states.set(announcement("a"))
    #expect(states.takeNew().isEmpty)
    #expect(states.takeAll() == [announcement("a"), state("2")])
    #expect(states.takeNew().isEmpty)
  }

  @Test func doesNotRepeatStatesSentByQueue() {
    var states = RetainedStates()
    states.set(state("1"))
    #expect(states.takeAll().isEmpty)
    states.delivered(state("1"))
    states.set(state("2"))
    // The answer to an older state says nothing of the newer one.
    states.delivered(state("1"))
    #expect(states.takeAll().isEmpty)
    states.delivered(state("2"))
    #expect(states.takeNew().isEmpty)
    #expect(states.takeAll() == [state("2")])
  }

  @Test func doesNotRepeatWithdrawnStates() {
    var states = RetainedStates()
    states.set(announcement("a"))
    states.set(announcement("b", "other"))
    states.withdraw(["config", "unknown"])
    #expect(states.takeAll() == [announcement("b", "other")])
    // It can be said again, by a program that has the ring again.
    states.set(announcement("a"))
    #expect(states.takeNew() == [announcement("a")])
  }
}
