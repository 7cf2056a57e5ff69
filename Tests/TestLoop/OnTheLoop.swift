import Glibc
import HaloBluetoothCore
import HaloSystem
import Testing

/// Tests on the event loop, one after the other, each in a virtual time of its own. Their tasks stay on the loop's thread:
/// others are woken on the global pool, and while they return to the loop it has nothing to do, so that time would jump.
///
/// A test that hangs ends the process, as nothing else would end a loop that hangs. `.timeLimit(_:)` would count the time of
/// the tests before it, and of other programs.
package struct OnTheLoop: SuiteTrait, TestTrait, TestScoping {
  @TaskLocal static var scope: VirtualTimeScope?

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // A suite and a test in it may both have the trait.
    guard Self.scope == nil else { return try await function() }
    let turn = Task.detached { try await Hang.watch(test.name, longestUse: nil) }
    defer { turn.cancel() }
    let scope = await VirtualTimeScope()
    turn.cancel()
    let limit = Task.detached { try await Hang.watch(test.name, longestUse: Hang.longestUse) }
    defer { limit.cancel() }
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await Self.$scope.withValue(scope) {
          try await withTaskExecutorPreference(EpollLoop.shared) { try await function() }
        })
    } catch {
      result = .failure(error)
    }
    // Awaited: what a test has left behind goes on in its virtual time, and the process may end after the last test, in the
    // middle of that.
    await scope.end()
    try result.get()
  }
}

/// A test that waits for ever, or runs for ever. Time does not tell, as other programs may have the processors.
private enum Hang {
  /// The process uses nearly no processor time in this time.
  static let idleTime = Duration.seconds(30)
  static let idleUse = Duration.milliseconds(300)
  /// The process, which runs other tests as well, uses this much.
  static let longestUse = Duration.seconds(240)

  /// - Parameter longestUse: nil while the test waits for its turn, which takes the time of others
  static func watch(_ name: String, longestUse: Duration?) async throws {
    let start = use
    var last = start
    while true {
      try await Task.sleep(for: idleTime)
      let now = use
      guard now - last >= idleUse else { fatalError("\(name) has done nothing for \(idleTime)") }
      if let longestUse, now - start >= longestUse {
        fatalError("\(name) has not ended after \(now - start)")
      }
      last = now
    }
  }

  /// The processor time of the process.
  private static var use: Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

extension Trait where Self == OnTheLoop {
  package static var onTheLoop: Self { OnTheLoop() }
}

/// The virtual time of one test, which has its turn for as long as this exists.
@BluetoothActor
final class VirtualTimeScope {
  private static var isTaken = false
  private static var waiting: [CheckedContinuation<Void, Never>] = []

  let time: VirtualTime

  /// Waits for the end of the scopes before it.
  init() async {
    // Decided within the closure: nothing can come between the question and the place in the line.
    await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
      if Self.isTaken { Self.waiting.append(turn) } else { turn.resume() }
      Self.isTaken = true
    }
    time = EpollLoop.shared.makeVirtualTime()
  }

  func end() {
    EpollLoop.shared.end(time)
    if Self.waiting.isEmpty { Self.isTaken = false } else { Self.waiting.removeFirst().resume() }
  }
}

/// The virtual time of the running test, which has the trait `.onTheLoop`. A closure that the loop calls belongs to no
/// test: what it needs is read before.
@BluetoothActor package var testTime: VirtualTime {
  guard let scope = OnTheLoop.scope else { fatalError("the test needs the trait .onTheLoop") }
  return scope.time
}

/// The timers of ``testTime``.
@BluetoothActor package var testTimers: Timers { testTime.timers }

/// Waits until the loop has nothing else to do.
@BluetoothActor package func settle() async {
  await testTimers.sleep(for: .nanoseconds(1))
}

/// Starts a task that stays on the loop.
@BluetoothActor
package func spawn<Value: Sendable>(
  _ work: @escaping @BluetoothActor () async throws -> Value
) -> Task<Value, any Error> {
  Task(executorPreference: EpollLoop.shared) { try await work() }
}
