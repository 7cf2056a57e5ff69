import Testing

@testable import HaloMQTT

/// What one message does that a broker does not take: it must not stop the others.
/// (mqttjs/MQTT.js 768, eclipse-paho/paho.mqtt.python 760, nanomq/nanomq 1236)
@Suite struct DeliveryTests {
  private let file: TemporaryQueue
  private let queue: MessageQueue

  init() throws {
    file = try TemporaryQueue()
    queue = try MessageQueue(path: file.path)
  }

  private func stored(_ texts: [String]) throws -> [Delivery.Item] {
    _ = try queue.add(texts.map { Message(topic: "t", text: $0) })
    return try queue.next(texts.count).map { Delivery.Item($0) }
  }

  private func text(_ item: Delivery.Item?) -> String? {
    guard case .message(let message)? = item?.content else { return nil }
    return String(decoding: message.payload, as: UTF8.self)
  }

  /// A broker that ends the connection when it gets what it does not take, and says nothing else.
  private struct Peer {
    var poison: Set<String>
    var taken: [String] = []
    var connections = 0
    var setAside: [String] = []
  }

  /// One connection, until nothing is left or it is ended.
  private func connect(_ delivery: inout Delivery, _ peer: inout Peer, _ first: [Delivery.Item] = []) -> Bool
  {
    peer.connections += 1
    delivery.begin(first)
    var number: Int32 = 0
    while true {
      var sent: [(Int32, String)] = []
      while let item = delivery.next() {
        number += 1
        delivery.sent(item, as: number)
        sent.append((number, text(item) ?? "?"))
      }
      if sent.isEmpty { return true }
      for (number, name) in sent {
        guard !peer.poison.contains(name) else {
          if let item = delivery.end(byBroker: true) { peer.setAside.append(text(item) ?? "?") }
          return false
        }
        peer.taken.append(name)
        _ = delivery.answered(number)
      }
    }
  }

  @Test func setsAsideMessageThatEndsThreeConnections() throws {
    let names = (0..<40).map { "\($0)" }
    var delivery = Delivery(window: 16)
    delivery.add(try stored(names))
    var peer = Peer(poison: ["17"])
    var isDone = false
    for _ in 0..<10 where !isDone { isDone = connect(&delivery, &peer) }
    #expect(isDone && delivery.isEmpty)
    #expect(peer.setAside == ["17"])
    // The first end has several suspects; then it is alone.
    #expect(peer.connections <= 5)
    var unique: [String] = []
    for name in peer.taken where !unique.contains(name) { unique.append(name) }
    #expect(unique == names.filter { $0 != "17" })
  }

  @Test func twoBadMessagesAreFoundOneAfterTheOther() throws {
    var delivery = Delivery(window: 4)
    delivery.add(try stored(["a", "b", "c", "d", "e"]))
    var peer = Peer(poison: ["a", "d"])
    var isDone = false
    for _ in 0..<20 where !isDone { isDone = connect(&delivery, &peer) }
    #expect(isDone)
    #expect(peer.setAside == ["a", "d"])
    #expect(Set(peer.taken) == ["b", "c", "e"])
  }

  /// A network that fails is no reason to set a message aside.
  @Test func anEndThatIsNotTheBrokersAccusesNoMessage() throws {
    var delivery = Delivery(window: 16)
    delivery.add(try stored(["a"]))
    for number in 0..<10 {
      delivery.begin([])
      let next = delivery.next()
      delivery.sent(try #require(next), as: Int32(number))
      #expect(delivery.end(byBroker: false) == nil)
    }
    delivery.begin([])
    #expect(text(delivery.next()) == "a")
  }

  @Test func aStateThatIsNotTakenIsNotSentAgain() throws {
    let bad = Delivery.Item(.message(Message(topic: "s", text: "bad", kind: .announcement)))
    var delivery = Delivery(window: 16)
    var peer = Peer(poison: ["bad"])
    delivery.add(try stored(["a"]))
    var isDone = false
    for _ in 0..<6 where !isDone { isDone = connect(&delivery, &peer, [bad]) }
    #expect(isDone)
    #expect(peer.setAside == ["bad"])
    #expect(Set(peer.taken) == ["a"])
    delivery.begin([bad])
    #expect(delivery.next() == nil)
  }

  /// Some brokers end the connection of a client that subscribes to what it may not read.
  @Test func aSubscriptionCanBeLeftOut() throws {
    let subscription = Delivery.Item(.subscription("homeassistant/status"))
    var delivery = Delivery(window: 16)
    delivery.add(try stored(["a"]))
    var ends = 0
    while ends < 6 {
      delivery.begin([subscription])
      guard let item = delivery.next(), case .subscription = item.content else { break }
      delivery.sent(item, as: 1)
      ends += 1
      if delivery.end(byBroker: true) != nil { break }
    }
    #expect(ends == 3)
    delivery.begin([subscription])
    #expect(text(delivery.next()) == "a")
  }

  @Test func noMoreThanTheWindowIsUnderWay() throws {
    var delivery = Delivery(window: 3)
    delivery.add(try stored(["a", "b", "c", "d"]))
    for number in 0..<3 {
      let next = delivery.next()
      delivery.sent(try #require(next), as: Int32(number))
    }
    #expect(delivery.next() == nil)
    #expect(text(delivery.answered(1)) == "b")
    #expect(delivery.answered(1) == nil)
    #expect(text(delivery.next()) == "d")
  }
}
