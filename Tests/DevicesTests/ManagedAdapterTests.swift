import GAP
import HCI
import HaloBluetoothCore
import HaloDevices
import TestLink
import TestLoop
import Testing

/// An adapter over time. The failures are those of home-assistant/core 79452 (a dongle that is pulled out and comes back as
/// another), bluez/bluez 292 (hci0 up after a minute), and raspberrypi/linux 2832 (hardware errors, again and again).
@BluetoothActor
@Suite(.onTheLoop) struct ManagedAdapterTests {
  private let adapter = FakeAdapter()

  private func started(_ policy: ManagedAdapter.Policy = .init()) async throws -> ManagedAdapter {
    adapter.recoveryTime = .seconds(1)
    let managed = ManagedAdapter(Central(adapter), policy)
    try await managed.start()
    #expect(managed.state == .poweredOn)
    return managed
  }

  private func untilUsable(_ managed: ManagedAdapter, within limit: Duration) -> Task<Void, any Error> {
    spawn { try await managed.untilUsable(within: limit) }
  }

  /// Why a wait has failed; nil if it has not.
  private func failure(of wait: Task<Void, any Error>) async -> StackError? {
    do {
      try await wait.value
      return nil
    } catch {
      return error as? StackError
    }
  }

  @Test func aUsableAdapterIsNotWaitedFor() async throws {
    let managed = try await started()
    let begin = testTimers.now
    try await managed.untilUsable(within: .seconds(5))
    #expect(testTimers.now == begin && adapter.recoveries == 0)
    await managed.close()
  }

  @Test func waitersShareOneRecovery() async throws {
    let managed = try await started()
    adapter.onFailure?(.hardwareError(3))
    #expect(managed.state == .resetting && managed.failure == .hardwareError(3))
    await testTimers.sleep(for: .seconds(60))
    #expect(adapter.recoveries == 0, "nobody wants it")
    let waits = (0..<3).map { _ in untilUsable(managed, within: .seconds(30)) }
    for wait in waits { #expect(await failure(of: wait) == nil) }
    #expect(adapter.recoveries == 1 && managed.state == .poweredOn && managed.failure == nil)
    await managed.close()
  }

  @Test func cancelsRecoveryWhenLastWaiterLeaves() async throws {
    let managed = try await started()
    adapter.recovery = nil
    adapter.onFailure?(.hardwareError(3))
    let short = untilUsable(managed, within: .seconds(5))
    let long = untilUsable(managed, within: .seconds(20))
    let begin = testTimers.now
    #expect(await failure(of: short) == .hardwareError(3))
    #expect(testTimers.now - begin == .seconds(5) && adapter.cancelledRecoveries == 0)
    long.cancel()
    #expect(await failure(of: long) == .cancelled)
    await testTimers.sleep(for: .zero)
    #expect(adapter.cancelledRecoveries == 1 && adapter.recoveries == 1)
    adapter.recovery = .success(())
    #expect(await failure(of: untilUsable(managed, within: .seconds(5))) == nil)
    await managed.close()
  }

  @Test func anAdapterThatIsNeededIsRecoveredUnasked() async throws {
    let managed = try await started()
    adapter.onFailure?(.hardwareError(3))
    managed.policy.isNeededWhileIdle = true
    await testTimers.sleep(for: .seconds(2))
    #expect(managed.state == .poweredOn && adapter.recoveries == 1)
    managed.policy.isNeededWhileIdle = false
    adapter.onFailure?(.hardwareError(4))
    await testTimers.sleep(for: .seconds(2))
    #expect(managed.state == .resetting && adapter.recoveries == 1)
    await managed.close()
  }

  @Test func unrecoverableFailureEndsAllWaits() async throws {
    let managed = try await started()
    let silent = StackError("go on with hci0", .controllerSilent([]))
    adapter.recovery = .failure(silent)
    var failures: [StackError?] = []
    managed.onFailure = { failures.append($0) }
    adapter.onFailure?(.hardwareError(3))
    let waits = (0..<2).map { _ in untilUsable(managed, within: .seconds(30)) }
    let begin = testTimers.now
    for wait in waits { #expect(await failure(of: wait) == silent) }
    #expect(testTimers.now - begin == .seconds(1))
    #expect(failures == [.hardwareError(3), silent])
    await managed.close()
  }

  @Test(arguments: [nil, Duration.seconds(10)])
  func retriesRecoveryOfNeededAdapterByPolicy(pause: Duration?) async throws {
    let managed = try await started(.init(isNeededWhileIdle: true, pause: pause))
    adapter.recovery = .failure(StackError("go on with hci0", .controllerSilent([])))
    adapter.onFailure?(.hardwareError(3))
    await testTimers.sleep(for: .seconds(60))
    // Each takes a second.
    #expect(adapter.recoveries == (pause == nil ? 1 : 6))
    await managed.close()
    await testTimers.sleep(for: .seconds(60))
    #expect(adapter.recoveries == (pause == nil ? 1 : 6))
  }

  @Test func aRecordingThatHasEndedIsNotTriedAgain() async throws {
    let managed = try await started(.init(isNeededWhileIdle: true, pause: .seconds(1)))
    adapter.recovery = .failure(.transportEnded("the end of the recording"))
    adapter.onFailure?(.hardwareError(3))
    await testTimers.sleep(for: .seconds(60))
    #expect(adapter.recoveries == 1 && managed.state == .unsupported)
    await managed.close()
  }

  @Test func anAdapterThatIsKeptIsOpenedAsSoonAsItCanBe() async throws {
    var openings = 0
    var finished = 0
    let managed = ManagedAdapter.kept(timers: testTimers) {
      openings += 1
      guard openings > 3 else { throw StackError(.adapterDown, .controller, "the adapter is down") }
      return ManagedAdapter.Opened(Central(self.adapter)) { finished += 1 }
    }
    var states: [ManagedAdapter.State] = []
    let observation = managed.observe { states.append($0) }
    await testTimers.sleep(for: .seconds(10))
    #expect(openings == 4 && states == [.poweredOff, .poweredOn] && managed.obstacle == nil)
    await managed.close()
    #expect(finished == 1 && adapter.isClosed)
    withExtendedLifetime(observation) {}
  }

  @Test func anAdapterThatIsClosedWhileItIsRecoveredStaysClosed() async throws {
    let managed = try await started(.init(isNeededWhileIdle: true, pause: .seconds(1)))
    adapter.recovery = nil
    adapter.onFailure?(.hardwareError(3))
    let wait = untilUsable(managed, within: .seconds(30))
    await testTimers.sleep(for: .seconds(1))
    await managed.close()
    #expect(await failure(of: wait) == .cancelled)
    await testTimers.sleep(for: .seconds(60))
    #expect(adapter.recoveries == 1 && adapter.cancelledRecoveries == 1 && adapter.isClosed)
  }
}
