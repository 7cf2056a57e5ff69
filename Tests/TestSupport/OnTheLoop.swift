import BluetoothCore
import EventLoop
import Testing

/// Tests on the event loop, each in a virtual time of its own. Their tasks stay on the loop's thread: others are woken on
/// the global pool, and while they return to the loop it has nothing to do, so that time would jump.
public struct OnTheLoop: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let scope = await VirtualTimeScope()
    defer { BluetoothActor.run { scope.end() } }
    try await VirtualTimeScope.$current.withValue(scope) {
      try await withTaskExecutorPreference(EpollLoop.shared) { try await function() }
    }
  }
}

extension Trait where Self == OnTheLoop {
  public static var onTheLoop: Self { OnTheLoop() }
}

/// The virtual time of one test.
@BluetoothActor
final class VirtualTimeScope {
  @TaskLocal static var current: VirtualTimeScope?

  let time = EpollLoop.shared.makeVirtualTime()

  func end() { EpollLoop.shared.end(time) }
}

/// The virtual time of the running test, which has the trait `.onTheLoop`. A closure that the loop calls belongs to no
/// test: what it needs is read before.
@BluetoothActor public var testTime: VirtualTime {
  guard let scope = VirtualTimeScope.current else { fatalError("the test needs the trait .onTheLoop") }
  return scope.time
}

/// The timers of ``testTime``.
@BluetoothActor public var testTimers: Timers { testTime.timers }

/// Starts a task that stays on the loop.
@BluetoothActor
public func spawn<Value: Sendable>(
  _ work: @escaping @BluetoothActor () async throws -> Value
) -> Task<Value, any Error> {
  Task(executorPreference: EpollLoop.shared) { try await work() }
}
