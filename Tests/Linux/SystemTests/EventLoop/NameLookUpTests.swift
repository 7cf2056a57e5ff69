import Glibc
import HaloBluetoothCore
import TestLoop
import Testing

@testable import HaloSystem

/// A name look-up blocks its thread; its caller waits for no longer than it says.
@Suite(.onTheLoop) @BluetoothActor struct NameLookUpTests {
  @Test func aLookUpThatDoesNotEndIsGivenUp() async {
    let gate = Gate()
    let start = testTimers.now
    await #expect(throws: StackError.cannotOpen("tcp:ring:1", "the name was not resolved in 10 s")) {
      _ = try await SocketAddress.resolved("tcp:ring:1", within: .seconds(10), in: testTimers) {
        _ = gate.pass()
        return []
      }
    }
    #expect(testTimers.now - start == .seconds(10))
    gate.open()
  }

  @Test func aTaskThatIsCancelledDoesNotWaitForIt() async {
    let gate = Gate()
    let timers = Timers()
    let task = spawn {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await SocketAddress.resolved("tcp:ring:1", within: .seconds(10), in: timers) {
        _ = gate.pass()
        return []
      }
    }
    await #expect(throws: StackError.cannotOpen("tcp:ring:1", "cancelled")) { _ = try await task.value }
    gate.open()
  }

  @Test func anUnknownHostIsReported() async throws {
    await #expect(throws: StackError.cannotOpen("tcp:ring:1", "no such host")) {
      _ = try await SocketAddress.resolved("tcp:ring:1", within: .seconds(10), in: Timers()) {
        () throws(StackError) in throw StackError.cannotOpen("tcp:ring:1", "no such host")
      }
    }
  }
}
