import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

/// Subscriptions after Service Changed, where two characteristics have one UUID (Core Specification Vol 3, Part G, 7.1).
@BluetoothActor
@Suite(.onTheLoop) struct MovedSubscriptionTests {
  private let link = FakeBearer()

  /// A service with Service Changed at 0x0003, and one with two heart rates whose first handle is `start`.
  private func offer(from start: UInt8) {
    let s = { Hex.string([start + $0, 0]) }
    link.offerServiceChanged()
    for first in ["0100", "1000"] { link.answer("10 \(first) ffff 0028", "11 06 \(s(0)) \(s(6)) 0d18") }
    link.answer("10 \(s(7)) ffff 0028", "01 10 \(s(7)) 0a")
    link.answer("08 \(s(0)) \(s(6)) 0328", "09 07 \(s(1)) 30 \(s(2)) 372a \(s(4)) 30 \(s(5)) 372a")
    link.answer("08 \(s(6)) \(s(6)) 0328", "01 08 \(s(6)) 0a")
    for configuration in [3, 6] as [UInt8] {
      let handle = s(configuration)
      link.answer("04 \(handle) \(handle)", "05 01 \(handle) 0229")
      link.answer("12 \(handle) 0100", "13")
      link.answer("12 \(handle) 0000", "13")
    }
  }

  private final class Heard {
    var values: [String] = []
  }

  /// Subscribes to both heart rates, or to the second one.
  ///
  /// - Returns: the subscription to the second one
  @discardableResult
  private func subscribe(_ client: GATTClient, _ heard: Heard, both: Bool) async throws -> Subscription {
    var subscriptions: [Subscription] = []
    let services = try await client.discoverServices()
    let all = try await client.discoverCharacteristics(of: try #require(services.first))
    try #require(all.map(\.valueHandle) == [0x12, 0x15])
    for (name, characteristic) in zip(["first", "second"], all) where both || name == "second" {
      subscriptions.append(
        try await client.subscribe(to: characteristic) { value, _ in
          heard.values.append("\(name) \(Hex.string(Array(value)))")
        })
    }
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(2))
    try #require(link.takeSent().contains("1204000200"))
    return try #require(subscriptions.last)
  }

  @Test(arguments: [false, true]) func eachMovesWithItsOwnCharacteristic(both: Bool) async throws {
    offer(from: 0x10)
    let client = link.client()
    var moved: [AttributeHandle] = []
    client.onSubscriptionMoved = { moved.append($0.handle) }
    let heard = Heard()
    try await subscribe(client, heard, both: both)
    offer(from: 0x20)
    link.receive("1d 0300 1000 ffff")
    await testTimers.sleep(for: .seconds(1))
    #expect(moved.sorted() == (both ? [0x22, 0x25] : [0x25]))
    #expect(link.sent.contains("1226000100") && link.sent.contains("1223000100") == both)
    link.receive("1b 2200 01")
    link.receive("1b 2500 02")
    link.receive("1b 1500 03")
    #expect(heard.values == (both ? ["first 01", "second 02"] : ["second 02"]))
  }

  /// The characteristics move again while the first search is under way: the handles of that are not used.
  @Test func aSecondChangeStartsTheSearchAgain() async throws {
    offer(from: 0x10)
    let client = link.client()
    let heard = Heard()
    try await subscribe(client, heard, both: false)
    offer(from: 0x20)
    link.answer("08 2000 2600 0328")
    link.receive("1d 0300 1000 ffff")
    await settle()
    #expect(link.takeSent().last == "082000260003 28".filter { $0 != " " })
    offer(from: 0x30)
    link.receive("1d 0300 1000 ffff")
    link.receive("09 07 2100 10 2200 372a 2400 10 2500 372a")
    link.answer("08 2600 2600 0328", "01 08 2600 0a")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.sent.last == "1236000100")
    #expect(!link.sent.contains("1226000100"))
    link.receive("1b 2500 01")
    link.receive("1b 3500 02")
    #expect(heard.values == ["second 02"])
  }

  /// A subscription to the second heart rate, whose new place is being enabled, or is when that is confirmed.
  private func moved(isConfirmed: Bool) async throws -> (GATTClient, Subscription) {
    offer(from: 0x10)
    let client = link.client()
    let subscription = try await subscribe(client, Heard(), both: false)
    offer(from: 0x20)
    if !isConfirmed { link.answer("12 2600 0100") }
    link.receive("1d 0300 1000 ffff")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.takeSent().last == "1226000100")
    return (client, subscription)
  }

  @Test func unsubscribesAtNewHandleAfterMove() async throws {
    let (client, subscription) = try await moved(isConfirmed: true)
    try await client.unsubscribe(subscription)
    #expect(link.sent == ["1226000000"])
  }

  @Test func unsubscribesAtNewHandleDuringMove() async throws {
    let (client, subscription) = try await moved(isConfirmed: false)
    client.unsubscribe(subscription) { _ in }
    link.receive("13")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.sent == ["1226000000"])
  }

  /// Two subscribers of the second heart rate. The first one, with notifications, has moved; the move of the other one, with
  /// indications, is not answered yet.
  private func movedTogether() async throws -> (GATTClient, first: Subscription, second: Subscription) {
    offer(from: 0x10)
    let client = link.client()
    let first = try await subscribe(client, Heard(), both: false)
    let service = try #require(try await client.discoverServices().first)
    let characteristic = try await client.discoverCharacteristics(of: service)[1]
    link.answer("12 1600 0300", "13")
    let second = try await client.subscribe(to: characteristic, as: .indication) { _, _ in }
    offer(from: 0x20)
    link.answer("12 2600 0300")
    link.receive("1d 0300 1000 ffff")
    await testTimers.sleep(for: .seconds(1))
    try #require(link.takeSent().suffix(2) == ["1226000100", "1226000300"])
    return (client, first, second)
  }

  @Test func keepsNotificationsOfOthersWhenCancelledDuringMove() async throws {
    let (client, _, second) = try await movedTogether()
    client.unsubscribe(second) { _ in }
    link.receive("13")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.sent == ["1226000100"])
  }

  /// The first one has left before the other one is refused, which ends then.
  @Test func disablesCCCDWhenRefusedDuringMove() async throws {
    let (client, first, _) = try await movedTogether()
    link.answer("12 2600 0200", "13")
    client.unsubscribe(first) { _ in }
    link.receive("01 12 2600 05")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.sent == ["1226000200", "1226000000"])
  }

  /// A characteristic that was not discovered has no known service. It moves to the only one of its UUID.
  @Test(arguments: [1, 2]) func withoutAServiceTheUUIDHasToBeTheOnlyOne(count: Int) async throws {
    offer(from: 0x10)
    let client = link.client()
    let known = Characteristic(
      uuid: uuid("2a37"), properties: .notify, declaration: 0x11, valueHandle: 0x12, end: 0x13)
    var reasons: [StackError] = []
    _ = try await client.subscribe(to: known, onEnd: { reasons.append($0) }) { _, _ in }
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(2))
    offer(from: 0x20)
    if count == 1 {
      link.answer("08 2000 2600 0328", "09 07 2100 10 2200 372a 2400 10 2500 382a")
    }
    link.receive("1d 0300 1000 ffff")
    await testTimers.sleep(for: .seconds(1))
    #expect(link.sent.contains("1223000100") == (count == 1))
    #expect(reasons == (count == 1 ? [] : [.characteristicGone(uuid("2a37"))]))
  }
}
