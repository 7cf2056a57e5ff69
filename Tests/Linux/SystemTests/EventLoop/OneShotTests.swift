import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

@Suite(.onTheLoop) @BluetoothActor struct OneShotTests {
  private final class Log {
    var values: [Int] = []
  }

  @Test func onlyTheFirstCallCounts() {
    let log = Log()
    let end = OneShot<Int> { log.values.append($0) }
    #expect(end.isPending)
    #expect(end(1))
    #expect(!end(2))
    #expect(!end.isPending)
    #expect(log.values == [1])
  }

  @Test func theDeadlineCallsIt() {
    let log = Log()
    let timers = Timers()
    let end = OneShot<Int> { log.values.append($0) }
    end.expire(after: .seconds(2), in: timers, with: 3)
    timers.advance(by: .milliseconds(1999))
    #expect(log.values == [])
    timers.advance(by: .milliseconds(1))
    #expect(log.values == [3])
    #expect(!end(4))
  }

  @Test func aCallCancelsTheDeadline() {
    let timers = Timers()
    let end = OneShot<Int> { _ in }
    end.expire(after: .seconds(2), in: timers, with: 3)
    end(1)
    #expect(timers.nextDeadline == nil)
    end.expire(after: .seconds(2), in: timers, with: 3)
    #expect(timers.nextDeadline == nil)
  }

  /// The closure may call it again, and what it holds is released.
  @Test func theCallReleasesTheClosure() {
    weak var held: Log?
    var end: OneShot<Int>?
    do {
      let log = Log()
      held = log
      end = OneShot { value in
        log.values.append(value)
        end?(2)
        #expect(log.values == [1])
      }
    }
    #expect(held != nil)
    end?(1)
    #expect(held == nil)
  }

  @Test func anOperationThatEndsBeforeItIsCancelledIsNotCancelled() async throws {
    let log = Log()
    let task = spawn {
      try await awaitCallback { (done: @escaping (Result<Int, CancellationError>) -> Void) in
        done(.success(7))
        done(.success(8))
        return { log.values.append(0) }
      }
    }
    #expect(try await task.value == 7)
    task.cancel()
    #expect(log.values == [])
  }

  @Test func aTaskThatIsCancelledFirstCancelsItsOperationOnce() async {
    let log = Log()
    let task = spawn {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await awaitCallback { (done: @escaping (Result<Int, CancellationError>) -> Void) in
        return {
          log.values.append(1)
          done(.failure(CancellationError()))
        }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.values == [1])
  }
}
