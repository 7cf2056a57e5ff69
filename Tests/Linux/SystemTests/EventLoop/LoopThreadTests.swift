import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// What the loop does with the signals and descriptors of the process, and with its real time.
@BluetoothActor
@Suite(.onTheLoop) struct LoopThreadTests {
  private let loop = EpollLoop.shared

  /// A write to a pipe whose reader has gone is an error, and not the end of the process. Other tests may ignore the signal
  /// for the whole process, which hides what the loop's thread does itself.
  @Test func aClosedPipeDoesNotEndTheProcess() {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    #expect(sigismember(&mask, SIGPIPE) == 1)
  }

  @Test func signalsThatAreIgnoredAreLeftOut() {
    let before = signal(SIGUSR1, SIG_IGN)
    defer { signal(SIGUSR1, before) }
    #expect(Signals.withoutIgnored([SIGUSR1, SIGWINCH]) == [SIGWINCH])
  }

  /// A descriptor that stays in the kernel's list can't be added again, and keeps the loop awake.
  @Test func aCancelledWatchLeavesTheDescriptor() async throws {
    let pair = try SocketPair()
    var calls: [Int] = []
    for number in 1...3 {
      let watch = try loop.watch(pair.ours, for: .writable) { _ in calls.append(number) }
      watch.cancel()
    }
    await settle()
    #expect(calls == [])
    let watch = try loop.watch(pair.ours, for: .readable) { _ in
      calls.append(4)
      var byte: UInt8 = 0
      _ = read(pair.ours, &byte, 1)
    }
    pair.write([1])
    await settle()
    #expect(calls == [4])
    watch.cancel()
    close(pair.ours)
  }

  /// A program whose jobs make jobs without an end does not keep the loop from its input.
  @Test(arguments: [false, true]) func jobsLeaveTimeForInput(areDirect: Bool) async throws {
    let pair = try SocketPair()
    var isHeard = false
    let watch = try loop.watch(pair.ours, for: .readable) { _ in isHeard = true }
    pair.write([1])
    var count = 0
    while !isHeard, count < 100_000 {
      count += 1
      let isDone = areDirect ? loop.performDirectly(with: 0) { _ in true } : nil
      if isDone == nil { await Task.yield() }
    }
    #expect(isHeard)
    watch.cancel()
    close(pair.ours)
  }

  /// A call that is made at once is made on the loop's thread only.
  @Test func otherThreadsMakeJobs() async {
    #expect(loop.performDirectly(with: 3) { $0 + 1 } == 4)
    let loop = self.loop
    let result = await Task.detached { loop.performDirectly(with: 3) { $0 + 1 } }.value
    #expect(result == nil)
  }

  /// A real timer runs when its time has come, not before, and in the order of the times.
  @Test func realTimersKeepTheirTime() async {
    let timers = loop.timers
    var deadline = Instant(nanoseconds: 0)
    var order: [Int] = []
    await loop.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        // A delay counts from the time of the loop's turn, which may have begun a while ago.
        deadline = timers.now + .milliseconds(30)
        timers.schedule(after: .milliseconds(30)) {
          order.append(30)
          continuation.resume()
        }
        timers.schedule(after: .milliseconds(10)) { order.append(10) }
      }
    }
    #expect(order == [10, 30])
    #expect(SystemClock.monotonic >= deadline)
  }
}
