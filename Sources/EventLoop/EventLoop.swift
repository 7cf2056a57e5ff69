import BluetoothCore
import CBlueZHCI
import Glibc
import Synchronization
@_exported import SystemCalls

/// The one place of a process that waits. One thread sleeps in epoll until a descriptor is ready, a timer is
/// due or a task wants to go on; all of the stack runs on it. An idle loop makes no system call at all.
///
/// The loop is the executor of ``BluetoothActor``. Everything that is isolated to that actor runs here; the
/// members below that are marked with it may be used from there. It is also a task executor: a task that is started
/// with ``run(_:)`` never leaves the loop's thread. Any other task does for a moment each time it was suspended, as
/// the runtime wakes it on the global pool before it comes back to its actor.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// The process has one loop, since it has one ``BluetoothActor``.
  public static let shared = EventLoop()

  private struct Shared {
    var jobs: [UnownedJob] = []
    var isStarted = false
  }

  /// What other threads may touch; everything else belongs to the loop's thread.
  private let shared = Guarded(Shared())
  private let wakeUp: Int32
  private let epoll: Int32
  private let timer: Int32
  /// The loop's `pthread_t`; zero until it runs.
  private let thread = Atomic<UInt>(0)
  private var running: [UnownedJob] = []
  /// What to call for each watch. They stand here, not in the watches, as the loop calls them itself.
  private var handlers: [UInt64: (Readiness) -> Void] = [:]
  private var nextWatch: UInt64 = 1
  private var armedDeadline: Instant?
  private let clockTimers = Timers(now: SystemClock.monotonic)
  /// Set in virtual time; see ``useVirtualTime(onIdle:)``.
  private var onIdle: ((Instant?) -> Bool)?
  /// In virtual time: nothing is left to do, and nobody can give us more but a descriptor or a task.
  private var isStalled = false

  private static let wakeUpMark: UInt64 = 0

  /// Why there is no loop: the process had no descriptors left.
  private let creationError: SystemError?

  private init() {
    epoll = SystemCall.perform(.epoll) { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    wakeUp = SystemCall.perform(.event) { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
    timer = SystemCall.perform(.timer) { timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK)) }
    creationError = epoll >= 0 && wakeUp >= 0 && timer >= 0 ? nil : .last("epoll_create1")
    for descriptor in [wakeUp, timer] {
      var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(u64: Self.wakeUpMark))
      epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
    }
  }

  // MARK: Starting

  /// Makes sure that the loop can run, before anything else needs it. Without this call, a process that has no
  /// descriptors or threads left ends with a fatal error when the loop is first used.
  public static func prepare() throws(SystemError) {
    if let error = shared.creationError { throw error }
    try shared.startOnce()
  }

  /// Returns when the loop's thread is gone, which only happens when the kernel has ended it after a fault of its own.
  /// For a thread that watches: nothing on the loop can go on then.
  public static func waitForEndOfThread() {
    guard let thread = pthread_t(exactly: shared.thread.load(ordering: .acquiring)), thread != 0 else {
      return
    }
    pthread_join(thread, nil)
  }

  // MARK: Executor

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (mustStart, mustWake) = shared.withLock { shared in
      shared.jobs.append(job)
      return (!shared.isStarted, shared.isStarted && shared.jobs.count == 1)
    }
    if mustStart {
      do throws(SystemError) {
        try Self.prepare()
      } catch {
        fatalError("the event loop cannot start: \(error)")
      }
    } else if mustWake, !isCurrent {
      wake()
    }
  }

  /// Starts a task that stays on the loop, whatever it calls.
  @discardableResult
  public nonisolated static func run(_ work: @escaping @Sendable @BluetoothActor () async -> Void) -> Task<
    Void, Never
  > {
    Task(executorPreference: EventLoop.shared) { await work() }
  }

  public func checkIsolated() {
    precondition(isCurrent, "this must run on the event loop")
  }

  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  private var isCurrent: Bool {
    thread.load(ordering: .relaxed) == UInt(pthread_self())
  }

  private func startOnce() throws(SystemError) {
    let mustStart = shared.withLock { shared in
      defer { shared.isStarted = true }
      return !shared.isStarted
    }
    guard mustStart else { return }
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { _ in
        // A reader that has gone is an error of the write.
        Signals.block([SIGPIPE])
        EventLoop.shared.thread.store(UInt(pthread_self()), ordering: .releasing)
        EventLoop.shared.run()
      }, nil)
    guard result == 0 else { throw SystemError("pthread_create", errno: result) }
    self.thread.store(UInt(thread), ordering: .releasing)
  }

  private func wake() {
    var one: UInt64 = 1
    write(wakeUp, &one, MemoryLayout<UInt64>.size)
  }

  // MARK: The loop

  private func run() -> Never {
    let capacity = 16
    let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
    while true {
      runJobs()
      if onIdle == nil { clockTimers.advance(to: SystemClock.monotonic) }
      let wait = timeout()
      let count = epoll_wait(epoll, events, Int32(capacity), wait)
      if onIdle == nil {
        clockTimers.advance(to: SystemClock.monotonic)
      } else if count == 0, wait == 0, hasNoJobs {
        advanceVirtualTime()
      }
      if count > 0 { isStalled = false }
      for index in 0..<max(0, Int(count)) {
        let mark = events[index].data.u64
        if mark == Self.wakeUpMark {
          drain(wakeUp)
          drain(timer)
        } else if let handler = handlers[mark] {
          handler(Readiness(rawValue: events[index].events))
        }
      }
    }
  }

  /// How long epoll may sleep: not at all while there is work, else until somebody or the timer calls.
  private func timeout() -> Int32 {
    guard hasNoJobs else { return 0 }
    if onIdle != nil { return isStalled ? -1 : 0 }
    let deadline = clockTimers.nextDeadline
    if let deadline, deadline <= clockTimers.now { return 0 }
    if deadline != armedDeadline {
      armedDeadline = deadline
      arm(deadline)
    }
    return -1
  }

  private func arm(_ deadline: Instant?) {
    var specification = itimerspec()
    if let deadline {
      specification.it_value.tv_sec = Int(deadline.nanoseconds / 1_000_000_000)
      specification.it_value.tv_nsec = Int(deadline.nanoseconds % 1_000_000_000)
    }
    timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &specification, nil)
  }

  private func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    if read(descriptor, &count, MemoryLayout<UInt64>.size) > 0, descriptor == timer { armedDeadline = nil }
  }

  private var hasNoJobs: Bool { shared.withLock { $0.jobs.isEmpty } }

  private func runJobs() {
    // The two arrays are swapped, so that neither gives up its memory.
    while true {
      shared.withLock { swap(&$0.jobs, &running) }
      if running.isEmpty { return }
      isStalled = false
      for job in running {
        job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      running.removeAll(keepingCapacity: true)
    }
  }

  // MARK: Time

  /// Everything that waits for a time on this loop.
  @BluetoothActor public var timers: Timers { clockTimers }

  /// The time: the kernel's, or what virtual time has reached.
  @BluetoothActor public var now: Instant { onIdle == nil ? SystemClock.monotonic : clockTimers.now }

  /// The time of something that has just been read, in whole microseconds. What is scheduled while it is handled
  /// counts from then, to the microsecond: so a replay, which knows no other time, comes to the same deadlines. Timers
  /// that are due run within this call.
  @BluetoothActor public func arrival() -> Instant {
    let time = now.wholeMicroseconds
    clockTimers.advance(to: time)
    return time
  }

  /// From here on, time is not the kernel's: whenever nothing is left to do, it jumps to the next timer. A
  /// minute then takes milliseconds, and what happens is the same each time. For replays, simulations and
  /// tests; there is no way back.
  ///
  /// - Parameter onIdle: called when nothing is left to do, with the deadline of the next timer. Gives true if it
  ///   has done something, and then time does not jump.
  @BluetoothActor public func useVirtualTime(onIdle: @escaping (Instant?) -> Bool = { _ in false }) {
    self.onIdle = onIdle
    isStalled = false
  }

  /// Whether time is virtual.
  @BluetoothActor var hasVirtualTime: Bool { onIdle != nil }

  private func advanceVirtualTime() {
    guard let onIdle, !onIdle(clockTimers.nextDeadline), hasNoJobs else { return }
    if let deadline = clockTimers.nextDeadline {
      clockTimers.advance(to: deadline)
    } else {
      isStalled = true
    }
  }

  // MARK: Descriptors

  /// What a descriptor is ready for, or what one waits for; the bits are epoll's.
  public struct Readiness: OptionSet, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// The other side is gone. Reported always.
    public static let hungUp = Readiness(rawValue: EPOLLHUP.rawValue)
    /// The descriptor has an error to fetch. Reported always.
    public static let failed = Readiness(rawValue: EPOLLERR.rawValue)
  }

  /// A descriptor that the loop waits for. The owner of the descriptor cancels the watch before closing it.
  @BluetoothActor public final class Watch {
    private let descriptor: Int32
    private let id: UInt64

    fileprivate init(descriptor: Int32, id: UInt64) {
      self.descriptor = descriptor
      self.id = id
    }

    /// What is waited for. An empty set still reports that the other side is gone.
    public var interest: Readiness = [] {
      didSet {
        // Of a cancelled watch, the descriptor may be another's by now.
        guard interest != oldValue, EventLoop.shared.handlers[id] != nil else { return }
        var event = epoll_event(events: interest.rawValue, data: epoll_data(u64: id))
        epoll_ctl(EventLoop.shared.epoll, EPOLL_CTL_MOD, descriptor, &event)
      }
    }

    /// Waits no longer; the handler is not called again.
    public func cancel() {
      guard EventLoop.shared.handlers.removeValue(forKey: id) != nil else { return }
      epoll_ctl(EventLoop.shared.epoll, EPOLL_CTL_DEL, descriptor, nil)
    }
  }

  /// Calls `handler` on the loop whenever `descriptor` is ready, for as long as it is (level-triggered).
  @BluetoothActor public func watch(
    _ descriptor: Int32, for interest: Readiness, handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    let watch = Watch(descriptor: descriptor, id: nextWatch)
    var event = epoll_event(events: 0, data: epoll_data(u64: nextWatch))
    guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw .last("epoll_ctl") }
    handlers[nextWatch] = handler
    nextWatch += 1
    watch.interest = interest
    return watch
  }
}
