import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import Testing

/// What is said of advertising: what has happened, when it has happened.
@BluetoothActor
@Suite(.onTheLoop) struct PeripheralTests {
  private let adapter = FakeAdapter()

  private func advertising() throws -> (Peripheral, () -> [StackError?]) {
    let peripheral = Peripheral(adapter, serving: AttributeDatabase())
    var results: [StackError?] = []
    peripheral.status.onChange = { results.append($0) }
    try peripheral.startAdvertising(Advertising(AdvertisingData([.flags(.generalDiscoverable)])))
    return (peripheral, { results })
  }

  @Test func reportsAdvertisingStartOnce() throws {
    let (peripheral, results) = try advertising()
    #expect(results() == [])
    adapter.advertise(nil)
    // Again, after a link.
    adapter.advertise(nil)
    #expect(results() == [nil] && peripheral.status.refusal == nil)
  }

  /// Each reason once, however often it is tried again.
  @Test func reportsRefusalAndItsEndOnce() throws {
    let (peripheral, results) = try advertising()
    let refusal = StackError.commandFailed(LESetAdvertisingEnable.opcode, .connectionLimitExceeded)
    for _ in 0..<3 { adapter.advertise(refusal) }
    #expect(results() == [refusal] && peripheral.status.refusal == refusal)
    adapter.advertise(nil)
    #expect(results() == [refusal, nil])
  }

  /// A program that gives up says nothing that is not so: an adapter that has never advertised does not advertise at the end.
  @Test func stoppingRefusedAdvertisingReportsNoSuccess() async throws {
    let (peripheral, results) = try advertising()
    adapter.advertise(.commandFailed(LESetAdvertisingEnable.opcode, .connectionLimitExceeded))
    await peripheral.stop()
    #expect(results().count == 1 && peripheral.status.refusal == nil && adapter.advertised == nil)
    adapter.advertise(nil)
    #expect(results().count == 1)
  }

  private typealias Wait = Task<StackError?, any Error>

  private func wait(for peripheral: Peripheral, within limit: Duration? = .seconds(5)) -> Wait {
    spawn {
      do throws(StackError) {
        try await peripheral.untilAdvertising(within: limit)
        return nil
      } catch {
        return error
      }
    }
  }

  private static let disallowed = StackError.commandFailed(LESetAdvertisingEnable.opcode, .commandDisallowed)

  /// A controller refuses what its state does not allow, and may allow it a moment later (zephyrproject-rtos/zephyr 12362).
  @Test func transientRefusalIsNotAFailure() async throws {
    let (peripheral, _) = try advertising()
    let waiting = wait(for: peripheral)
    await testTimers.sleep(for: .seconds(1))
    adapter.advertise(Self.disallowed)
    await testTimers.sleep(for: .seconds(3))
    adapter.advertise(nil)
    #expect(try await waiting.value == nil)
    // It is on: nothing is waited for.
    #expect(try await wait(for: peripheral).value == nil)
  }

  @Test func reportsLastingRefusalAfterFiveSeconds() async throws {
    let (peripheral, _) = try advertising()
    let begin = testTimers.current
    let waiting = wait(for: peripheral)
    await testTimers.sleep(for: .milliseconds(250))
    adapter.advertise(Self.disallowed)
    #expect(try await waiting.value == Self.disallowed)
    #expect(testTimers.current - begin == .milliseconds(5250))
  }

  /// Another program may have used the kernel's last advertisement for a moment.
  @Test func waitsForOccupiedAdvertisingInstance() async throws {
    let (peripheral, _) = try advertising()
    let waiting = [wait(for: peripheral), wait(for: peripheral, within: nil)]
    adapter.advertise(StackError("advertise", .advertisingInUse(5)))
    await testTimers.sleep(for: .seconds(3))
    adapter.advertise(nil)
    for each in waiting { #expect(try await each.value == nil) }
  }

  /// It may be creating a link, for which advertising pauses.
  @Test func waitsForDelayedAdvertisingStart() async throws {
    let (peripheral, _) = try advertising()
    let waiting = wait(for: peripheral)
    await testTimers.sleep(for: .seconds(30))
    adapter.advertise(nil)
    #expect(try await waiting.value == nil)
  }

  @Test func aFinalRefusalEndsTheWaitAtOnce() async throws {
    let (peripheral, _) = try advertising()
    let begin = testTimers.current
    let waiting = wait(for: peripheral)
    await testTimers.sleep(for: .milliseconds(1))
    adapter.advertise(.extendedAdvertisingNotSupported)
    #expect(try await waiting.value == .extendedAdvertisingNotSupported)
    #expect(try await wait(for: peripheral).value == .extendedAdvertisingNotSupported)
    #expect(testTimers.current - begin == .milliseconds(1))
  }

  @Test func waitForAdvertisingTimesOut() async throws {
    let (peripheral, _) = try advertising()
    #expect(try await wait(for: peripheral).value == .notReady)
  }

  @Test func theEndAndTheEndOfTheTaskEndTheWait() async throws {
    let (peripheral, _) = try advertising()
    let cancelled = wait(for: peripheral, within: nil)
    let stopped = wait(for: peripheral, within: nil)
    await testTimers.sleep(for: .seconds(60))
    cancelled.cancel()
    #expect(try await cancelled.value == .cancelled)
    peripheral.stopAdvertising()
    #expect(try await stopped.value == .cancelled)
  }
}
