import EventLoop
import Testing

/// Tests on the event loop in virtual time. Their tasks stay on the loop's thread: others are woken on the global
/// pool, and while they are on their way back the loop has nothing to do, so that time would jump.
public struct OnTheLoop: SuiteTrait, TestTrait, TestScoping {
  public var isRecursive: Bool { true }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if ExclusiveUse.virtualTime.tryAcquire() { await useVirtualTime() }
    try await withTaskExecutorPreference(EventLoop.shared) { try await function() }
  }

  @BluetoothActor private func useVirtualTime() {
    EventLoop.shared.useVirtualTime()
  }
}

extension Trait where Self == OnTheLoop {
  public static var onTheLoop: Self { OnTheLoop() }
}

/// Starts a task that stays on the loop.
@BluetoothActor
public func spawn<Value: Sendable>(
  _ work: @escaping @BluetoothActor () async throws -> Value
) -> Task<Value, any Error> {
  Task(executorPreference: EventLoop.shared) { try await work() }
}
