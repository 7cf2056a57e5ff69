import TestSupport
import Testing

/// Tests on the event loop in virtual time, one at a time: they measure that time, and a replay that runs beside them
/// would make it leap.
struct AloneOnTheLoop: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    await ExclusiveUse.idleLoop.acquire()
    defer { ExclusiveUse.idleLoop.release() }
    try await OnTheLoop.onTheLoop.provideScope(for: test, testCase: testCase, performing: function)
  }
}

extension Trait where Self == AloneOnTheLoop {
  static var aloneOnTheLoop: Self { AloneOnTheLoop() }
}
