import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloDevices
import TestLink
import TestLoop
import Testing

/// A device over time: how its links are made, made usable, and made again. `ReconnectPolicyTests` has the decisions.
@BluetoothActor
@Suite(.onTheLoop) struct ManagedLinkTests {
  private struct Failed: LinkFailure, Equatable {
    var fault: StackError.Fault

    init(_ fault: StackError.Fault) { self.fault = fault }
    init(_ error: StackError) { fault = error.fault }
    static func notReady(within time: Duration) -> Self { Self(.silence) }
  }

  /// A device at an address, on links that a test plays.
  @BluetoothActor
  private final class User: LinkUser {
    var steps: [String] = []
    /// Plays the peer of the next link.
    var prepare: (FakeLink) -> Void = { _ in }
    var work: (GATTLink) async throws(Failed) -> Void = { _ throws(Failed) in }
    var goesOn = true
    private(set) var links: [FakeLink] = []

    func find(within time: Duration) async throws(Failed) -> BluetoothAddress {
      steps.append("find")
      return BluetoothAddress(1, .random)
    }

    func connect(to peer: BluetoothAddress, within time: Duration) async throws(Failed) -> GATTLink {
      steps.append("connect")
      let fake = FakeLink()
      prepare(fake)
      links.append(fake)
      return fake.connection()
    }

    func open(_ link: GATTLink) async throws(Failed) {
      steps.append("open")
      try await work(link)
    }

    func recoverAdapter(within time: Duration) async throws(Failed) { steps.append("recover") }

    func release(_ link: GATTLink) async {
      steps.append("release")
      await link.disconnect()
    }

    func failed(
      _ failure: Failed, in phase: ReconnectPolicy.Phase, hasFlowed: Bool, next: ReconnectPolicy.Action
    ) -> Failed {
      steps.append("\(phase) failed")
      return failure
    }
  }

  private func managed(_ watch: ServiceWatch = .never, isKnown: Bool = true) -> ManagedLink<User> {
    let budget = ReconnectPolicy.Budget(first: .seconds(60), later: .seconds(60))
    let peer = isKnown ? BluetoothAddress(1, .random) : nil
    return ManagedLink(to: peer, canSearch: !isKnown, budget, watch, timers: testTimers)
  }

  @Test(arguments: [false, true]) func connectsAndOpensBeforeStarting(isKnown: Bool) async throws {
    let (user, link) = (User(), managed(isKnown: isKnown))
    try await link.ask(for: user) { () throws(Failed) in user.steps.append("start") }
    #expect(user.steps == (isKnown ? [] : ["find"]) + ["connect", "open", "start"])
    try await link.ask(for: user) { () throws(Failed) in user.steps.append("start again") }
    #expect(user.steps.last == "start again" && link.link?.isConnected == true)
    await link.release(for: user)
    #expect(link.link == nil && user.steps.last == "release")
  }

  /// The MTU and Service Changed come before what the user discovers.
  @Test func theStepsOfALinkHaveAnOrder() async throws {
    let (user, link) = (User(), managed(.first))
    user.prepare = { fake in
      fake.answer("020502", "03f700")
      fake.answer("060100ffff00280118", "010601000a")
      fake.answer("060100ffff0028" + "fb349b5f80000080001000000118" + "0000", "010601000a")
      fake.answer("0a2000", "0b01")
    }
    user.work = { link throws(Failed) in
      do throws(StackError) { _ = try await link.gatt.read(AttributeHandle(0x20)) } catch {
        throw Failed(error)
      }
    }
    try await link.open(for: user)
    let sent = try #require(user.links.first).takeSent().map { $0.prefix(2) }
    #expect(sent.first == "02" && sent.dropFirst().first == "06" && sent.last == "0a")
  }

  @Test func aLinkThatIsLostIsReleasedAndMadeAgain() async throws {
    let (user, link) = (User(), managed())
    var attempts = 0
    try await link.ask(for: user) { () throws(Failed) in
      attempts += 1
      guard attempts == 3 else {
        user.links.last?.lose(.remote(.connectionTimeout))
        throw Failed(.link)
      }
    }
    let round = ["connect", "open", "start failed", "release"]
    #expect(user.steps == round + round + ["connect", "open"])
  }

  @Test func aDeviceThatIsNotReadyInTimeGetsANewLink() async throws {
    let (user, link) = (User(), managed())
    user.work = { [unowned user] _ throws(Failed) in
      if user.links.count == 1 { await testTimers.sleep(for: .seconds(600)) }
    }
    let begin = testTimers.now
    try await link.open(for: user)
    #expect(user.steps == ["connect", "open", "open failed", "release", "connect", "open"])
    #expect(testTimers.now - begin < .seconds(50))
  }

  @Test func doesNotRetryAfterFinalFailure() async throws {
    let (user, link) = (User(), managed())
    user.goesOn = false
    await #expect(throws: Failed(.link)) {
      try await link.ask(for: user) { () throws(Failed) in throw Failed(.link) }
    }
    #expect(user.steps == ["connect", "open", "start failed"])
  }

  @Test func aCancelledTaskIsNotTriedAgain() async throws {
    let (user, link) = (User(), managed())
    user.work = { _ throws(Failed) in await testTimers.sleep(for: .seconds(30)) }
    let task = spawn { try await link.open(for: user) }
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    await #expect(throws: Failed.self) { try await task.value }
    #expect(user.steps == ["connect", "open", "open failed"])
  }
}
