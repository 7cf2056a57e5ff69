import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

@BluetoothActor
@Suite(.onTheLoop) struct SubscriptionTests {
  let link = FakeBearer()
  private let characteristic = Characteristic(
    uuid: uuid("2a37"), properties: .notify, declaration: 0x0F, valueHandle: 0x10, end: 0x11)

  private var ofBothKinds: Characteristic {
    Characteristic(
      uuid: uuid("2a37"), properties: [.notify, .indicate], declaration: 0x0F, valueHandle: 0x10, end: 0x11)
  }

  init() {
    link.answer("04 1100 1100", "05 01 1100 0229")
    link.answer("12 1100 0100", "13")
    link.answer("12 1100 0000", "13")
  }

  private final class Heard {
    var values: [[UInt8]] = []
  }

  /// Some peripherals notify before they have answered.
  @Test func theSinkStandsBeforeThePeripheralIsAsked() async throws {
    let client = link.client()
    link.answer("12 1100 0100", "1b 1000 01", "13", "1b 1000 02")
    let heard = Heard()
    _ = try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) }
    #expect(heard.values == [[1], [2]])
  }

  @Test func deliversNotificationReceivedJustBeforeSubscribing() async throws {
    let client = link.client()
    link.receive("1b 1000 01")
    await testTimers.sleep(for: .seconds(3))
    link.receive("1b 1000 02")
    link.receive("1b 2000 03")
    let heard = Heard()
    _ = try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) }
    #expect(heard.values == [[2]])
  }

  @Test func boundsBufferedUnclaimedNotifications() async throws {
    let client = link.client()
    for number in 0..<1000 { link.receive("1b 1000 " + Hex.string([UInt8(number & 0xFF)])) }
    let heard = Heard()
    _ = try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) }
    #expect(heard.values.count == 64)
    #expect(heard.values.last == [UInt8(999 & 0xFF)])
  }

  @Test func thePeripheralIsAskedToStopWhenTheLastLeaves() async throws {
    let client = link.client()
    let first = try await client.subscribe(to: characteristic) { _, _ in }
    let second = try await client.subscribe(to: characteristic) { _, _ in }
    #expect(link.takeSent() == ["0411001100", "1211000100"])
    try await client.unsubscribe(first)
    #expect(link.takeSent() == [])
    try await client.unsubscribe(second)
    #expect(link.takeSent() == ["1211000000"])
    try await client.unsubscribe(second)
    #expect(link.takeSent() == [])
  }

  /// The second wants indications where the first has notifications: both are configured, and each goes with its subscriber.
  @Test func bothKindsAreConfigured() async throws {
    let client = link.client()
    link.answer("12 1100 0300", "13")
    link.answer("12 1100 0200", "13")
    let first = try await client.subscribe(to: ofBothKinds, as: .notification) { _, _ in }
    let heard = Heard()
    let second = try await client.subscribe(to: ofBothKinds, as: .indication) { value, _ in
      heard.values.append(Array(value))
    }
    let third = try await client.subscribe(to: ofBothKinds, as: .indication) { _, _ in }
    #expect(link.takeSent() == ["0411001100", "1211000100", "1211000300"])
    link.receive("1d 1000 07")
    #expect(heard.values == [[7]] && link.takeSent() == ["1e"])
    try await client.unsubscribe(first)
    #expect(link.takeSent() == ["1211000200"])
    try await client.unsubscribe(second)
    #expect(link.takeSent() == [])
    try await client.unsubscribe(third)
    #expect(link.takeSent() == ["1211000000"])
  }

  /// A task that is cancelled cleans up all the same: nothing else would switch the notifications off.
  @Test func aCancelledTaskUnsubscribes() async throws {
    let client = link.client()
    let subscription = try await client.subscribe(to: characteristic) { _, _ in }
    _ = link.takeSent()
    let task = spawn { try await client.unsubscribe(subscription) }
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    #expect(link.takeSent() == ["1211000000"])
  }

  /// A peer that sends without a subscription, or without the descriptor: nothing is written.
  @Test func listeningDoesNotWriteCCCD() async throws {
    let client = link.client()
    var silent = characteristic
    silent.properties = .read
    let heard = Heard()
    var ends: [StackError] = []
    let listening = client.listen(to: silent, onEnd: { ends.append($0) }) { value, _ in
      heard.values.append(Array(value))
    }
    #expect(listening.configuration == nil)
    link.receive("1b 1000 01")
    let subscription = try await client.subscribe(to: characteristic) { _, _ in }
    _ = link.takeSent()
    try await client.unsubscribe(subscription)
    // Who listens does not keep it switched on.
    #expect(link.takeSent() == ["1211000000"])
    link.receive("1b 1000 02")
    try await client.unsubscribe(listening)
    link.receive("1b 1000 03")
    #expect(heard.values == [[1], [2]] && link.takeSent() == [] && ends == [])
  }

  /// The same for callers that do not wait, and what ends then hears nothing of it.
  @Test func unsubscribingWithoutWaitingAsksThePeripheralToStop() async throws {
    let client = link.client()
    let heard = Heard()
    let subscriptions = [
      try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) },
      try await client.subscribe(to: characteristic) { _, _ in },
    ]
    _ = link.takeSent()
    var results = 0
    for subscription in subscriptions {
      client.unsubscribe(subscription) { result in if case .success = result { results += 1 } }
    }
    link.receive("1b 1000 01")
    await settle()
    #expect(link.takeSent() == ["1211000000"] && results == 2 && heard.values == [])
  }

  @Test func refusedSubscriptionDeliversNoValues() async throws {
    let client = link.client()
    link.answer("12 1100 0100", "01 12 1100 05")
    let heard = Heard()
    await #expect(throws: StackError.self) {
      try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) }
    }
    link.receive("1b 1000 01")
    #expect(heard.values == [])
  }

  /// The first one's write is under way: it may still fail.
  @Test func secondSubscriberWaitsForWriteResponse() async throws {
    let client = link.client()
    link.answer("12 1100 0100")
    _ = try await client.discoverDescriptors(of: characteristic)
    let characteristic = self.characteristic
    let tasks = (0..<2).map { _ in
      spawn {
        try await client.subscribe(to: characteristic) { _, _ in }
      }
    }
    await settle()
    link.receive("01 12 1100 05")
    await settle()
    link.receive("01 12 1100 05")
    for task in tasks { await #expect(throws: StackError.self) { try await task.value } }
    #expect(link.sent.filter { $0 == "1211000100" }.count == 2)
  }

  @Test func aCancelledSubscriptionIsTakenBack() async throws {
    let client = link.client()
    link.answer("12 1100 0100")
    let characteristic = self.characteristic
    let task = spawn {
      try await client.subscribe(to: characteristic) { _, _ in }
    }
    await settle()
    await settle()
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    link.receive("13")
    await settle()
    #expect(link.sent == ["0411001100", "1211000100", "1211000000"])
  }

  /// One subscriber has notifications, and another one's request for indications is not answered yet.
  private func subscribeTwice(_ client: GATTClient) async throws -> (
    Subscription, Task<Subscription, any Error>
  ) {
    let first = try await client.subscribe(to: ofBothKinds, as: .notification) { _, _ in }
    let second = spawn { [ofBothKinds] in
      try await client.subscribe(to: ofBothKinds, as: .indication) { _, _ in }
    }
    await settle()
    try #require(link.takeSent().last == "1211000300")
    return (first, second)
  }

  /// The peripheral would go on to send both kinds; a client that writes 0 instead takes the first one's values away, too
  /// (google/bumble 22).
  @Test func cancelledSubscriptionRestoresPreviousCCCD() async throws {
    let (_, second) = try await subscribeTwice(link.client())
    second.cancel()
    await #expect(throws: StackError.cancelled) { try await second.value }
    link.receive("13")
    await settle()
    #expect(link.sent == ["1211000100"])
  }

  /// The answer to the first of two requests does not say what the peripheral does after the second one.
  @Test func theLastRequestCounts() async throws {
    let client = link.client()
    link.answer("12 1100 0200", "13")
    let (first, second) = try await subscribeTwice(client)
    client.unsubscribe(first) { _ in }
    link.receive("13")
    _ = try await second.value
    await settle()
    #expect(link.takeSent() == ["1211000200"])
    link.answer("12 1100 0300", "13")
    _ = try await client.subscribe(to: ofBothKinds, as: .notification) { _, _ in }
    #expect(link.sent == ["1211000300"])
  }

  /// The first one leaves before the second one is refused: indications alone are asked for then. They have to be disabled
  /// after the refusal, also if that request is refused, too: no answer is ignored (zephyrproject-rtos/zephyr 15100).
  @Test(arguments: ["13", "01 12 1100 05"])
  func disablesCCCDAfterRefusedSecondSubscription(answer: String) async throws {
    let client = link.client()
    link.answer("12 1100 0200", answer)
    let (first, second) = try await subscribeTwice(client)
    client.unsubscribe(first) { _ in }
    link.receive("01 12 1100 05")
    await #expect(throws: StackError.self) { try await second.value }
    await settle()
    #expect(link.takeSent() == ["1211000200", "1211000000"])
    _ = try await client.subscribe(to: ofBothKinds, as: .notification) { _, _ in }
    #expect(link.sent == ["1211000100"])
  }

  @Test func rejectsSubscriptionWithoutMatchingProperty() async throws {
    let client = link.client()
    await #expect(throws: StackError.self) {
      try await client.subscribe(to: characteristic, as: .indication) { _, _ in }
    }
    var mute = characteristic
    mute.properties = .read
    await #expect(throws: StackError.self) { try await client.subscribe(to: mute) { _, _ in } }
    #expect(link.sent == [])
  }

  @Test func indicationsAreAskedForAndConfirmed() async throws {
    let client = link.client()
    link.answer("12 1100 0200", "13")
    var both = characteristic
    both.properties = .indicate
    let heard = Heard()
    let subscription = try await client.subscribe(to: both) { value, _ in heard.values.append(Array(value)) }
    #expect(subscription.kind == .indication)
    link.receive("1d 1000 05")
    #expect(heard.values == [[5]])
    #expect(link.sent.last == "1e")
  }

  // MARK: Service Changed

  @Test func serviceChangedInvalidatesHandlesAndSubscriptions() async throws {
    let client = link.client()
    link.offerServiceChanged()
    var ends: [StackError] = []
    let subscription = try await client.subscribe(to: characteristic, onEnd: { ends.append($0) }) { _, _ in
      Issue.record("a value")
    }
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(2))
    var changes: [HandleRange] = []
    client.whenServicesChanged { changes.append($0) }
    _ = link.takeSent()
    // The server has no services any more.
    link.answer("10 0100 ffff 0028", "01 10 0100 0a")
    link.receive("1d 0300 0100 ffff")
    #expect(changes == [.all])
    #expect(link.takeSent() == ["1e"])
    // What was discovered is not used any more, and what is gone ends with that reason.
    await #expect(throws: StackError.servicesChanged) { try await client.read(characteristic) }
    await settle()
    #expect(ends == [.characteristicGone(uuid("2a37"))])
    #expect(link.takeSent() == ["100100ffff0028"])
    link.receive("1d 0300 0100 ffff")
    _ = link.takeSent()
    await #expect(throws: StackError.servicesChanged) { try await client.read(AttributeHandle(0x10)) }
    await #expect(throws: StackError.servicesChanged) {
      try await client.write([1], to: AttributeHandle(0x10))
    }
    #expect(throws: StackError.servicesChanged) {
      try client.writeWithoutResponse([1], to: AttributeHandle(0x10))
    }
    try await client.unsubscribe(subscription)
    #expect(link.takeSent() == [])
    // Discovered anew, it is true again, and a subscription asks again.
    #expect(try await client.discoverServices() == [])
    let heard = Heard()
    _ = try await client.subscribe(to: characteristic) { value, _ in heard.values.append(Array(value)) }
    #expect(link.takeSent().suffix(2) == ["0411001100", "1211000100"])
    link.receive("1b 1000 09")
    #expect(heard.values == [[9]])
    // And the server may say so again.
    link.answer("10 1000 ffff 0028", "01 10 1000 0a")
    link.receive("1d 0300 1000 1100")
    #expect(changes == [.all, .all, range(0x10, 0x11)])
    await #expect(throws: StackError.servicesChanged) { try await client.read(AttributeHandle(0x10)) }
    link.answer("0a2000", "0b07")
    #expect(try await client.read(AttributeHandle(0x20)) == [7])
  }

  @Test func aServerThatNeverStopsChangingIsBounded() async throws {
    let client = link.client()
    link.offerServiceChanged()
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(2))
    for _ in 0..<1000 { link.receive("1d 0300 1000 1100") }
    for odd in ["1d 0300", "1d 0300 0500 0400", "1d 0300 0000 0400"] { link.receive(odd) }
    await #expect(throws: StackError.servicesChanged) { try await client.read(AttributeHandle(0x20)) }
  }
}
