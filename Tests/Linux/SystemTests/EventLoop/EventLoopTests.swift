import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

@BluetoothActor
@Suite(.onTheLoop) struct EventLoopTimeTests {
  @Test func virtualTimeSkipsSleep() async {
    let start = testTimers.now
    let wall = SystemClock.monotonic
    await testTimers.sleep(for: .seconds(3600))
    #expect(testTimers.now - start == .seconds(3600))
    #expect(SystemClock.monotonic - wall < .seconds(1800))
  }

  @Test func timersRunInTheOrderOfTheirTimes() async {
    let timers = testTimers
    var order: [String] = []
    var times: [Duration] = []
    let start = timers.now
    await withCheckedContinuation { continuation in
      timers.schedule(after: .seconds(3)) { continuation.resume() }
      timers.schedule(after: .seconds(2)) { order.append("second") }
      timers.schedule(after: .seconds(1)) {
        order.append("first")
        times.append(timers.now - start)
        timers.schedule(after: .milliseconds(500)) {
          order.append("in between")
          times.append(timers.now - start)
        }
      }
      let cancelled = timers.schedule(after: .seconds(1)) { order.append("cancelled") }
      timers.cancel(cancelled)
    }
    #expect(order == ["first", "in between", "second"])
    #expect(times == [.seconds(1), .milliseconds(1500)])
  }

  @Test func sleepersWakeInTurn() async {
    var order: [Int] = []
    let tasks = [5, 1, 3, 2, 4].map { seconds in
      spawn {
        await testTimers.sleep(for: .seconds(seconds))
        order.append(seconds)
      }
    }
    for task in tasks { _ = await task.result }
    #expect(order == [1, 2, 3, 4, 5])
  }

  /// Otherwise the times of two packets in a recording differ by a microsecond more in some runs than in others.
  @Test func virtualTimeStartsAtAWholeMicrosecond() {
    for _ in 0..<10 {
      let time = EpollLoop.shared.makeVirtualTime()
      defer { EpollLoop.shared.end(time) }
      #expect(time.timers.now == time.timers.now.wholeMicroseconds)
    }
  }

  /// Tasks go on before time does.
  @Test func virtualTimeAdvancesOnlyWhenIdle() async {
    let start = testTimers.now
    var isOver = false
    testTimers.schedule(after: .nanoseconds(1)) { isOver = true }
    for _ in 0..<100 {
      await BluetoothActor.run {}.value
      #expect(!isOver)
    }
    #expect(testTimers.now == start)
    await testTimers.sleep(for: .nanoseconds(1))
    #expect(isOver)
  }

  @Test func aSleepThatIsCancelledReturnsEarly() async {
    let start = testTimers.now
    let task = BluetoothActor.run { await testTimers.sleep(for: .seconds(1000)) }
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    await task.value
    #expect(testTimers.now - start == .seconds(1))

    let late = BluetoothActor.run { await testTimers.sleep(for: .seconds(1000)) }
    late.cancel()
    await late.value
    #expect(testTimers.now - start == .seconds(1))
  }
}

@BluetoothActor
private final class Counter {
  private(set) var value = 0

  func add() { value += 1 }
}

@BluetoothActor
@Suite(.onTheLoop) struct EventLoopExecutorTests {
  @Test func jobsOfOtherThreadsWakeTheLoop() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { @concurrent in
          for _ in 0..<200 { await counter.add() }
        }
      }
    }
    #expect(counter.value == 1600)
  }

  @Test func theActorRunsOnOneThread() async {
    let here = pthread_self()
    for _ in 0..<50 {
      await Task.detached { await Task.yield() }.value
      #expect(pthread_self() == here)
    }
    BluetoothActor.shared.assertIsolated()
  }
}

@BluetoothActor
@Suite(.onTheLoop) struct AwaitCallbackTests {
  private enum Failure: Error, Equatable {
    case refused, cancelled
  }

  @Test func theResultIsThatOfTheCallback() async throws {
    let value = try await awaitCallback { (done: @escaping (Result<Int, Failure>) -> Void) in
      testTimers.schedule(after: .seconds(1)) { done(.success(7)) }
      return {}
    }
    #expect(value == 7)
    await #expect(throws: Failure.refused) {
      try await awaitCallback { (done: @escaping (Result<Int, Failure>) -> Void) in
        testTimers.schedule(after: .seconds(1)) { done(.failure(.refused)) }
        return {}
      }
    }
  }

  @Test func aCallbackFromWithinTheStartCounts() async throws {
    var cancellations = 0
    let value = try await awaitCallback { (done: @escaping (Result<Int, Failure>) -> Void) in
      done(.success(1))
      return { cancellations += 1 }
    }
    #expect(value == 1)
    #expect(cancellations == 0)
  }

  private func cancellable(_ started: @escaping () -> Void) async throws -> Int {
    try await awaitCallback { (done: @escaping (Result<Int, Failure>) -> Void) in
      started()
      return { done(.failure(.cancelled)) }
    }
  }

  @Test func cancellingEndsTheWait() async {
    var starts = 0
    let task = spawn {
      try await cancellable { starts += 1 }
    }
    await testTimers.sleep(for: .seconds(1))
    #expect(starts == 1)
    task.cancel()
    await #expect(throws: Failure.cancelled) { try await task.value }
  }

  @Test func aTaskThatIsCancelledBeforeItStartsEndsToo() async {
    var starts = 0
    let task = spawn {
      try await cancellable { starts += 1 }
    }
    task.cancel()
    await #expect(throws: Failure.cancelled) { try await task.value }
    #expect(starts == 1)
  }

  @Test func cancellationAfterCompletionDoesNothing() async throws {
    var cancellations = 0
    let task = spawn {
      let value = try await awaitCallback { (done: @escaping (Result<Int, Failure>) -> Void) in
        testTimers.schedule(after: .seconds(1)) { done(.success(1)) }
        return { cancellations += 1 }
      }
      await testTimers.sleep(for: .seconds(5))
      return value
    }
    await testTimers.sleep(for: .seconds(2))
    task.cancel()
    #expect(try await task.value == 1)
    #expect(cancellations == 0)
  }
}
