import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// What the loop does with its time: how it waits for the real one, and when virtual times stand still.
@BluetoothActor
@Suite(.onTheLoop) struct LoopTimeTests {
  private let loop = EpollLoop.shared

  /// The times left on the timer descriptors of the process that are armed (proc_pid_fdinfo(5)): the loop's is one of them.
  private nonisolated static func armedTimes() -> [Duration] {
    (0..<256).compactMap { number in
      guard let text = try? readFile("/proc/self/fdinfo/\(number)"), text.contains("clockid:"),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("it_value:") })
      else { return nil }
      let numbers = line.split { !$0.isNumber }.compactMap { Int64($0) }
      guard numbers.count == 2, numbers != [0, 0] else { return nil }
      return .nanoseconds(numbers[0] * 1_000_000_000 + numbers[1])
    }
  }

  private nonisolated static func readFile(_ path: String) throws(SystemError) -> String {
    let descriptor = try retryingInterrupts("open") { SystemCall.open(path, O_RDONLY) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = try retryingInterrupts("read") { SystemCall.read(descriptor, &buffer, buffer.count) }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// A loop that waits sleeps until the deadline: a timer that is armed for another time wakes it too late, or again and
  /// again until the time has come.
  @Test(arguments: [1500, 999, 60_001])
  func theLoopSleepsUntilTheNextTimer(_ milliseconds: Int) async {
    let timers = loop.timers
    let deadline = timers.current + .milliseconds(milliseconds)
    let token = timers.schedule(at: deadline) {}
    let far = timers.schedule(after: .seconds(7200)) {}
    var isArmed = false
    for _ in 0..<2000 where !isArmed {
      isArmed =
        await offTheLoop {
          let before = SystemClock.monotonic
          let times = Self.armedTimes()
          let after = SystemClock.monotonic
          // It is armed in whole microseconds.
          return times.contains { before + $0 <= deadline + .microseconds(1) && deadline <= after + $0 }
        } ?? false
    }
    #expect(isArmed)
    timers.cancel(token)
    timers.cancel(far)
  }

  /// A process that was stopped finds its timers late, and the answers that they wait for there: no timeout may come
  /// before an answer.
  @Test func inputComesBeforeTimersThatAreLate() async throws {
    let pair = try SocketPair()
    var order: [String] = []
    var watches: [EpollLoop.Watch?] = []
    await loop.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        loop.timers.schedule(after: .milliseconds(1)) {
          order.append("timer")
          continuation.resume()
        }
        let watch = try? loop.watch(pair.ours, for: .readable) { _ in
          // A byte each time: what is late waits for all of them.
          order.append("input")
          var byte: UInt8 = 0
          _ = read(pair.ours, &byte, 1)
        }
        watches = [watch]
        pair.write([1, 2])
        usleep(120_000)
      }
    }
    for watch in watches { watch?.cancel() }
    #expect(order == ["input", "input", "timer"])
    close(pair.ours)
  }

  /// Input that never ends holds late timers up for a second, and not for ever.
  @Test func inputWithoutAnEndDelaysTimersForASecond() async throws {
    let pair = try SocketPair()
    var inputs = 0
    var watch: EpollLoop.Watch?
    let start = SystemClock.monotonic
    await loop.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        loop.timers.schedule(after: .milliseconds(1)) { continuation.resume() }
        watch = try? loop.watch(pair.ours, for: .readable) { _ in inputs += 1 }
        pair.write([1])
        usleep(120_000)
      }
    }
    watch?.cancel()
    #expect(inputs > 1)
    #expect(SystemClock.monotonic - start >= .milliseconds(1100))
    close(pair.ours)
  }

  private final class End: @BluetoothActor TickObserver {
    let action: () -> Void

    init(_ action: @escaping () -> Void) {
      self.action = action
    }

    func tickDidEnd() { action() }
  }

  /// A line is made after its packet was recorded, and leaves before that is written.
  @Test func theLastThatAskedForTheEndOfATurnIsTheFirst() async {
    var calls: [Int] = []
    let ends = (1...3).map { number in End { calls.append(number) } }
    for end in ends { loop.atEndOfTick(end) }
    #expect(calls == [])
    await settle()
    #expect(calls == [3, 2, 1])
    await settle()
    #expect(calls == [3, 2, 1])
  }

  /// Two calls off the loop: virtual time goes on when both have returned.
  @Test func virtualTimeStandsStillDuringEachOfTwoCalls() async throws {
    var isOver = false
    testTimers.schedule(after: .seconds(1)) { isOver = true }
    var returns: [CheckedContinuation<Void, Never>] = []
    let calls = (0..<2).map { _ in
      spawn { await self.loop.stoppingVirtualTime { await withCheckedContinuation { returns.append($0) } } }
    }
    while returns.count < 2 { await Task.yield() }
    for (call, continuation) in zip(calls, returns) {
      await offTheLoop { _ = sched_yield() }
      #expect(!isOver)
      continuation.resume()
      try await call.value
    }
    await testTimers.sleep(for: .seconds(2))
    #expect(isOver)
  }

  /// A program that is slower than the loop gets its callbacks at its own pace: the time goes on when all have returned.
  @Test func virtualTimeStandsStillUntilCallbacksHaveReturned() async {
    let hasReturned = LockedValue(false)
    var hasReturnedBefore: Bool?
    testTimers.schedule(after: .seconds(1)) { hasReturnedBefore = hasReturned.withLock { $0 } }
    for _ in 0..<2 { loop.callbackBegins() }
    Task.detached { [loop] in
      loop.callbackEnds()
      for _ in 0..<1000 { sched_yield() }
      hasReturned.withLock { $0 = true }
      loop.callbackEnds()
    }
    await testTimers.sleep(for: .seconds(2))
    #expect(hasReturnedBefore == true)
  }

  @Test func virtualTimesAdvanceAndEndEachByItself() async {
    let times = (0..<3).map { _ in loop.makeVirtualTime() }
    var order: [Int] = []
    for (number, time) in times.enumerated() {
      time.timers.schedule(after: .seconds(number + 1)) { order.append(number) }
    }
    loop.end(times[1])
    await testTimers.sleep(for: .seconds(10))
    await settle()
    #expect(order == [0, 2])
    loop.end(times[0])
    loop.end(times[2])
  }

  @Test func theOffsetOfTheTimeOfDayIsInMicroseconds() {
    let timers = Timers()
    timers.advance(to: Instant(nanoseconds: 5_000_000_000))
    let before = SystemClock.wallMicroseconds
    let offset = SystemClock.wallOffset(of: timers)
    #expect((before...SystemClock.wallMicroseconds).contains(offset + 5_000_000))
    // 2020 to 2100.
    #expect((1_577_836_800_000_000...4_102_444_800_000_000).contains(before))
  }
}
