import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Two sockets that are connected with each other.
private final class SocketPair {
  private(set) var descriptors: [Int32] = [-1, -1]

  init() {
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &descriptors)
  }

  deinit {
    for descriptor in descriptors { close(descriptor) }
  }

  var ours: Int32 { descriptors[0] }
  var theirs: Int32 { descriptors[1] }

  func closeTheirs() {
    close(descriptors[1])
    descriptors[1] = -1
  }

  func send(_ bytes: [UInt8]) {
    #expect(write(theirs, bytes, bytes.count) == bytes.count)
  }

  func receive() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 16)
    return Array(buffer[..<max(0, read(ours, &buffer, buffer.count))])
  }
}

@BluetoothActor
@Suite(.onTheLoop) struct WatchTests {
  let loop = EpollLoop.shared

  /// Lets the loop look at its descriptors: time goes on only when none of them is ready.
  private func settle() async {
    await testTimers.sleep(for: .nanoseconds(1))
  }

  @Test func reportsReadinessLevelTriggered() async throws {
    let pair = SocketPair()
    var calls = 0
    let watch = try loop.watch(pair.ours, for: .readable) { readiness in
      #expect(readiness == .readable)
      calls += 1
      // Level-triggered: what is not read is told again.
      if calls == 3 { #expect(pair.receive() == [1, 2]) }
    }
    await settle()
    #expect(calls == 0)
    pair.send([1, 2])
    await settle()
    #expect(calls == 3)
    watch.cancel()
    pair.send([3])
    await settle()
    #expect(calls == 3)
  }

  private final class End: @BluetoothActor TickObserver {
    let action: () -> Void

    init(_ action: @escaping () -> Void) {
      self.action = action
    }

    func tickDidEnd() { action() }
  }

  @Test func aTurnEndsAfterAllItsInput() async throws {
    let pairs = [SocketPair(), SocketPair()]
    var calls: [String] = []
    let end = End { calls.append("end") }
    let watches = try pairs.map { pair in
      try loop.watch(pair.ours, for: .readable) { _ in
        calls.append("input")
        _ = pair.receive()
        if calls == ["input"] { self.loop.atEndOfTick(end) }
      }
    }
    for pair in pairs { pair.send([1]) }
    await settle()
    #expect(calls == ["input", "input", "end"])
    for watch in watches { watch.cancel() }
  }

  /// The place of a watch is used again; an event of the old one that is pending is not the new one's.
  @Test func aNewWatchGetsNoEventOfACancelledOne() async throws {
    let pairs = [SocketPair(), SocketPair(), SocketPair()]
    var watches: [EpollLoop.Watch?] = [nil, nil]
    var others: [EpollLoop.Watch] = []
    var calls = 0
    for index in 0...1 {
      watches[index] = try loop.watch(pairs[index].ours, for: .readable) { _ in
        calls += 1
        for watch in watches { watch?.cancel() }
        for _ in 0...1 {
          let other = try? self.loop.watch(dup(pairs[2].ours), for: .readable) { _ in calls += 100 }
          if let other { others.append(other) }
        }
      }
    }
    pairs[0].send([1])
    pairs[1].send([1])
    await settle()
    #expect(calls == 1 && others.count == 2)
    for watch in others { watch.cancel() }
  }

  @Test func aWatchMayBeCancelledFromWithinItsHandler() async throws {
    let pair = SocketPair()
    var calls = 0
    var watch: EpollLoop.Watch?
    watch = try loop.watch(pair.ours, for: .readable) { _ in
      calls += 1
      watch?.cancel()
      watch?.cancel()
    }
    pair.send([1])
    await settle()
    #expect(calls == 1)
    watch = nil
  }

  /// Both are ready in the same turn: the one that is cancelled by the other is not called.
  @Test func aWatchMayCancelAnother() async throws {
    let first = SocketPair()
    let second = SocketPair()
    var watches: [EpollLoop.Watch] = []
    var calls = 0
    for pair in [first, second] {
      watches.append(
        try loop.watch(pair.ours, for: .readable) { _ in
          calls += 1
          for watch in watches { watch.cancel() }
        })
    }
    first.send([1])
    second.send([1])
    await settle()
    #expect(calls == 1)
    watches = []
  }

  @Test func theInterestMayChange() async throws {
    let pair = SocketPair()
    var seen: [EpollLoop.Readiness] = []
    var watch: EpollLoop.Watch?
    watch = try loop.watch(pair.ours, for: []) { readiness in
      seen.append(readiness)
      watch?.interest = []
    }
    pair.send([1])
    await settle()
    #expect(seen == [])
    watch?.interest = .writable
    await settle()
    #expect(seen == [.writable])
    watch?.interest = .readable
    await settle()
    #expect(seen == [.writable, .readable])
    watch?.cancel()
    watch = nil
  }

  @Test func reportsHangUpWithoutInterest() async throws {
    let pair = SocketPair()
    var seen: EpollLoop.Readiness = []
    var watch: EpollLoop.Watch?
    watch = try loop.watch(pair.ours, for: []) { readiness in
      seen.formUnion(readiness)
      watch?.cancel()
    }
    pair.closeTheirs()
    await settle()
    #expect(seen.contains(.hungUp))
    watch = nil
  }

  /// A descriptor that is closed may be another's at once.
  @Test func aCancelledWatchTouchesNoOther() async throws {
    let pair = SocketPair()
    let old = try loop.watch(pair.ours, for: .readable) { _ in Issue.record("called") }
    old.cancel()
    var calls = 0
    let new = try loop.watch(pair.ours, for: .readable) { _ in
      calls += 1
      _ = pair.receive()
    }
    old.interest = .writable
    old.cancel()
    pair.send([1])
    await settle()
    #expect(calls == 1)
    new.cancel()
  }

  @Test func throwsForInvalidDescriptor() {
    #expect(throws: SystemError("epoll_ctl", errno: EBADF)) {
      try loop.watch(-1, for: .readable) { _ in }
    }
  }

  /// A thread gets its own pending signal: other threads of the test have not blocked it.
  @Test func signalsAreValues() {
    Signals.block([SIGUSR2])
    pthread_kill(pthread_self(), SIGUSR2)
    #expect(Signals.next(of: [SIGUSR2]) == Signals.Arrival(SIGUSR2, isFromKernel: false))
  }
}
