import Glibc
import HaloBluetoothCore
import TestLoop
import Testing

@testable import HaloEventLoop

/// A name look-up blocks its thread; its caller waits for no longer than it says.
@Suite(.onTheLoop) @BluetoothActor struct NameLookUpTests {
  /// A look-up that ends when the test says so.
  private final class Gate: Sendable {
    let descriptors: (read: Int32, write: Int32)

    init() {
      var ends: [Int32] = [-1, -1]
      pipe(&ends)
      descriptors = (ends[0], ends[1])
    }

    func pass() {
      var byte: UInt8 = 0
      _ = read(descriptors.read, &byte, 1)
    }

    func open() { _ = write(descriptors.write, [1] as [UInt8], 1) }
  }

  @Test func aLookUpThatDoesNotEndIsGivenUp() async {
    let gate = Gate()
    let start = testTimers.now
    await #expect(throws: StackError.cannotOpen("tcp:ring:1", "the name was not resolved in 10 s")) {
      _ = try await SocketAddress.resolved("tcp:ring:1", within: .seconds(10), in: testTimers) {
        gate.pass()
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
        gate.pass()
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
