import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

@testable import HaloSystem

/// Calls that block, on threads of their own.
@Suite(.onTheLoop) @BluetoothActor struct OffTheLoopTests {
  /// In virtual time the deadline comes as soon as nothing else is to do.
  @Test func aCallThatDoesNotEndIsGivenUp() async {
    let gate = Gate()
    let start = testTimers.now
    #expect(await offTheLoop(deadline: .seconds(20), in: testTimers) { gate.pass() } == nil)
    #expect(testTimers.now - start == .seconds(20))
    gate.open()
  }

  /// A deadline of real time, or none, gives the thread real time.
  @Test(arguments: [nil, .seconds(600)] as [Duration?])
  func virtualTimeStandsStillDuringACall(deadline: Duration?) async {
    let gate = Gate()
    let timers = EpollLoop.shared.timers
    let start = testTimers.now
    let next = testTimers.schedule(after: .seconds(1)) {}
    timers.schedule(after: .milliseconds(20)) { gate.open() }
    let result = await offTheLoop(deadline: deadline, in: deadline == nil ? testTimers : timers) {
      gate.pass()
    }
    #expect(result == 1 && testTimers.now == start)
    testTimers.cancel(next)
  }

  /// A file that only the call holds is closed when the call returns, not when its thread has ended.
  @Test func releasesCapturesWhenCallReturns() async {
    for _ in 0..<500 {
      weak var held: Gate?
      do {
        let gate = Gate()
        held = gate
        _ = await offTheLoop { gate.descriptors.read }
      }
      #expect(held == nil)
    }
  }

  @Test func aCallIsCancelled() async throws {
    let gate = Gate()
    let task = spawn { await offTheLoop(deadline: .seconds(20), in: testTimers) { gate.pass() } }
    let start = testTimers.now
    task.cancel()
    #expect(try await task.value == nil)
    #expect(testTimers.now == start)
    gate.open()
  }

  /// A call gets no signal of the program: SIGTERM is for the thread that waits for it.
  @Test func helperThreadBlocksAllSignals() async throws {
    for privileges in [ThreadPrivileges.none, .ofTheLoop] {
      // Virtual time stands still until the pipe says that the call is over.
      let gate = Gate()
      let mask = LockedValue(sigset_t())
      let result = HelperThread.start(callsHook: privileges == .none) {
        mask.withLock { _ = pthread_sigmask(SIG_BLOCK, nil, &$0) }
        gate.open()
      }
      #expect(result == 0)
      #expect(gate.pass() == 1)
      for signal in [SIGTERM, SIGINT, SIGHUP] {
        #expect(mask.withLock { sigismember(&$0, signal) } == 1)
      }
    }
  }
}
