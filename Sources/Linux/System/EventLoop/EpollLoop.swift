import Glibc
import HaloBluetoothCore
import Synchronization

/// The event loop of the process. One thread sleeps in epoll until a descriptor is ready, a timer is due or a task is
/// enqueued; the whole stack runs on it. An idle loop makes no system calls.
///
/// The loop is the executor of `BluetoothActor`: code isolated to that actor runs here, and may use the members below
/// that are marked with it. It is also a task executor, for `BluetoothActor.run(_:)`.
@usableFromInline package final class EpollLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// The process has one loop, since it has one `BluetoothActor`.
  package static let shared = EpollLoop()

  private struct Shared {
    var jobs: [UnownedJob] = []
    var isStarted = false
  }

  /// State shared with other threads; everything else belongs to the loop's thread.
  private let shared = LockedValue(Shared())
  /// Whether there may be jobs; spares the lock on each turn.
  private let hasJobs = Atomic<Bool>(false)
  private let wakeUp: Int32
  private let epoll: Int32
  private let timer: Int32
  /// The loop's `pthread_t`; zero until it runs.
  private let thread = Atomic<UInt>(0)
  private var running: [UnownedJob] = []
  // The following properties are used on each turn. Without dynamic checks for exclusive access, which cost 80
  // instructions each: no access lasts longer than one statement.
  /// The handlers of the watches. They are stored here, not in the watches, because the loop calls them.
  @exclusivity(unchecked) private var handlers: [Handler] = []
  @exclusivity(unchecked) private var armedDeadline: Instant?
  @exclusivity(unchecked) private var virtualTimes: [VirtualTime] = []
  /// The observers that have asked for the end of this turn.
  @exclusivity(unchecked) private var tickObservers: [any TickObserver] = []
  private let clockTimers = Timers { SystemClock.monotonic }
  /// The calls off the loop that virtual time waits for.
  private var pendingCalls = 0
  /// The callbacks of programs that virtual time waits for: those that were handed to their queues and have not returned.
  private let pendingCallbacks = Atomic<Int>(0)
  private let isAnyTimeVirtual = Atomic<Bool>(false)
  /// No work is left in virtual time, and only a descriptor or a task can add some.
  @exclusivity(unchecked) private var isStalled = true
  /// When the loop found that it runs late; nil while it is on time. See ``setTime(_:)``.
  @exclusivity(unchecked) private var lateSince: Instant?
  /// The tasks that have suspended themselves in this turn, and those of the last one, whose memory is used again.
  @exclusivity(unchecked) private var yielding: [UnsafeContinuation<Void, Never>] = []
  @exclusivity(unchecked) private var resumed: [UnsafeContinuation<Void, Never>] = []
  /// The calls of ``performDirectly(with:_:)`` in this turn.
  @exclusivity(unchecked) @usableFromInline var directCalls = 0
  /// Whether the loop never sleeps. See ``pollBusily()``.
  @exclusivity(unchecked) private var isBusy = false
  /// A timer that is later than this by the clock makes the loop read its input first.
  private static let lateness = Duration.milliseconds(100)
  /// The time for reading input while timers are late.
  private static let catchUpLimit = Duration.seconds(1)

  /// The number of descriptors that one wait reports at most, as of CHaloLinux.
  static let mostReady = 16

  /// How many rounds of jobs run before the loop looks for input again: jobs that enqueue jobs must not keep it from that.
  private static let mostRounds = 16
  /// The most calls of ``performDirectly(with:_:)`` in a turn.
  @usableFromInline static let mostDirectCalls = 64

  private static let wakeUpMark = UInt64.max
  private static let timerMark = UInt64.max - 1

  /// A place for the handler of a watch. Its index and generation are the watch's mark, so that an event of a cancelled
  /// watch finds no handler, and an event finds its handler without hashing.
  private struct Handler {
    var generation: UInt32 = 0
    var handle: ((Readiness) -> Void)?
  }

  /// Why the loop could not be created: the process had no descriptors left.
  private let creationError: SystemError?

  private init() {
    epoll = SystemCall.perform(.epoll) { Linux.epoll() }
    wakeUp = SystemCall.perform(.event) { Linux.event() }
    timer = SystemCall.perform(.timer) { Linux.timer() }
    creationError = epoll >= 0 && wakeUp >= 0 && timer >= 0 ? nil : .last("epoll_create1")
    for (descriptor, mark) in [(wakeUp, Self.wakeUpMark), (timer, Self.timerMark)] {
      _ = Linux.epollAdd(epoll, descriptor, Readiness.readable.rawValue, mark)
    }
  }

  // MARK: Starting

  /// Makes sure that the loop can run, before it is first used. Without this call, a process without free descriptors
  /// or threads ends with a fatal error on first use of the loop.
  package static func prepare() throws(SystemError) {
    if let error = shared.creationError { throw error }
    try shared.startOnce()
  }

  /// Returns when the loop's thread has ended, which happens only if the kernel has killed it after a kernel fault. For
  /// a watchdog thread: the loop can't continue after that.
  package static func waitForEndOfThread() {
    guard let thread = pthread_t(exactly: shared.thread.load(ordering: .acquiring)), thread != 0 else {
      return
    }
    pthread_join(thread, nil)
  }

  // MARK: Executor

  @usableFromInline package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (mustStart, mustWake) = shared.withLock { shared in
      shared.jobs.append(job)
      hasJobs.store(true, ordering: .releasing)
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

  @usableFromInline package func checkIsolated() {
    precondition(isCurrent, "this must run on the event loop")
  }

  @usableFromInline package func isIsolatingCurrentContext() -> Bool? { isCurrent }

  @usableFromInline var isCurrent: Bool {
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
        // A closed reader is reported as an error of the write.
        Signals.block([SIGPIPE])
        EpollLoop.shared.thread.store(UInt(pthread_self()), ordering: .releasing)
        EpollLoop.shared.run()
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
    let events = UnsafeMutablePointer<UInt32>.allocate(capacity: Self.mostReady)
    let marks = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.mostReady)
    while true {
      // Before the jobs: lines are written before their consequences are computed.
      endTurn()
      resumeYielding()
      runJobs()
      endTurn()
      let wait = timeout()
      let count = Linux.epollWait(epoll, events, marks, wait)
      let now = SystemClock.monotonic.wholeMicroseconds
      if let since = lateSince, count == 0 || now - since > Self.catchUpLimit {
        lateSince = nil
        clockTimers.advance(to: now)
      } else {
        setTime(now)
      }
      if count > 0 {
        isStalled = false
      } else if !isStalled, wait == 0, hasNoJobs, yielding.isEmpty {
        advanceVirtualTimes()
      }
      for index in 0..<max(0, Int(count)) {
        let mark = marks[index]
        switch mark {
        case Self.wakeUpMark: drain(wakeUp)
        case Self.timerMark: drain(timer)
        default: handler(of: mark)?(Readiness(rawValue: events[index]))
        }
      }
    }
  }

  /// From now on, looks for input without a pause instead of sleeping until there is some: the time of waking up for a
  /// whole processor.
  @BluetoothActor package func pollBusily() { isBusy = true }

  private func handler(of mark: UInt64) -> ((Readiness) -> Void)? {
    let index = Int(mark & 0xFFFF_FFFF)
    guard index < handlers.count, UInt64(handlers[index].generation) == mark >> 32 else { return nil }
    return handlers[index].handle
  }

  /// Stores a handler.
  ///
  /// - Returns: its mark
  private func add(_ handler: @escaping (Readiness) -> Void) -> UInt64 {
    let free = handlers.firstIndex { $0.handle == nil }
    let index = free ?? handlers.count
    if free == nil { handlers.append(Handler()) }
    handlers[index].generation &+= 1
    handlers[index].handle = handler
    return UInt64(handlers[index].generation) << 32 | UInt64(index)
  }

  private func removeHandler(_ mark: UInt64) {
    if handler(of: mark) != nil { handlers[Int(mark & 0xFFFF_FFFF)].handle = nil }
  }

  /// The epoll timeout: zero while there is work, else until the next timer or a wake-up.
  private func timeout() -> Int32 {
    guard !isBusy, hasNoJobs, yielding.isEmpty, lateSince == nil,
      isStalled || virtualTimes.isEmpty || isVirtualTimeStopped
    else {
      return 0
    }
    let deadline = clockTimers.nextDeadline
    if let deadline, deadline <= clockTimers.now { return 0 }
    if deadline != armedDeadline {
      armedDeadline = deadline
      arm(deadline)
    }
    return -1
  }

  private func arm(_ deadline: Instant?) {
    // In whole microseconds, as the loop's time, or the timer would fire before the deadline is reached.
    _ = Linux.timerSet(timer, deadline.map { ($0 + .nanoseconds(999)).wholeMicroseconds.nanoseconds } ?? 0)
  }

  private func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    if read(descriptor, &count, MemoryLayout<UInt64>.size) > 0, descriptor == timer { armedDeadline = nil }
  }

  private var hasNoJobs: Bool { !hasJobs.load(ordering: .acquiring) }

  private func runJobs() {
    directCalls = 0
    var rounds = 0
    // The two arrays are swapped, so that both keep their memory.
    while rounds < Self.mostRounds, directCalls <= Self.mostDirectCalls, hasJobs.load(ordering: .acquiring) {
      rounds += 1
      shared.withLock { shared in
        swap(&shared.jobs, &running)
        hasJobs.store(false, ordering: .relaxed)
      }
      isStalled = false
      for job in running {
        job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      running.removeAll(keepingCapacity: true)
    }
  }

  /// Performs `work` at once if the caller runs on the loop's thread; an `async` function that is not isolated saves two jobs
  /// with that.
  ///
  /// - Parameters:
  ///   - argument: the argument of `work`: a closure that captures it would be allocated
  ///   - work: the code to run
  /// - Returns: nil on other threads; also after `mostDirectCalls` in one turn, so that a program which never waits lets the
  ///   loop read. Make a job for the loop then.
  @inlinable @inline(__always)
  package func performDirectly<Argument, Result, Failure: Error>(
    with argument: Argument, _ work: @escaping @BluetoothActor (Argument) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard isCurrent else { return nil }
    directCalls += 1
    guard directCalls <= Self.mostDirectCalls else { return nil }
    typealias Work = (Argument) throws(Failure) -> Result
    // As `assumeIsolated` does, which costs 400 instructions here. It is the thread that isolates the actor.
    return try unsafeBitCast(work, to: Work.self)(argument)
  }

  /// Suspends a task on the loop's thread until the loop has looked for input; nothing on other threads. It allocates nothing;
  /// `Task.yield()` does.
  package func yield() async {
    guard isCurrent else { return }
    await withUnsafeContinuation { yielding.append($0) }
  }

  private func resumeYielding() {
    guard !yielding.isEmpty else { return }
    swap(&yielding, &resumed)
    for task in resumed { task.resume() }
    resumed.removeAll(keepingCapacity: true)
  }

  // MARK: The end of a turn

  /// Calls `end` once, when the loop has handled all input of this wake-up and before it sleeps.
  @BluetoothActor package func atEndOfTick(_ end: any TickObserver) {
    tickObservers.append(end)
  }

  private func endTurn() {
    // The last first: a line is made after its packet was recorded, and leaves before that is written.
    while let observer = tickObservers.popLast() { observer.tickDidEnd() }
  }

  // MARK: Time

  /// The timers of the kernel's monotonic clock.
  @BluetoothActor package var timers: Timers { clockTimers }

  /// The time of data that has just been read, in whole microseconds: that of the wake-up, as all of its data was there
  /// or came right after it. Timers scheduled while it is handled count from that time: a replay, which has only the
  /// recorded times, computes the same deadlines.
  ///
  /// - Parameter timers: the time of the reader: that of this loop, or a virtual one
  @BluetoothActor @usableFromInline package func arrival(_ timers: Timers) -> Instant {
    timers.now.wholeMicroseconds
  }

  /// Sets the time, and runs the timers that are due. If they are late, the process was stopped or had no processor:
  /// then the time is set, and the loop first reads the input that has waited all along, as no timeout may fire before
  /// an answer that is there. The timers run when there is no more input, or after ``catchUpLimit``.
  private func setTime(_ time: Instant) {
    if lateSince == nil, let deadline = clockTimers.nextDeadline, time - deadline > Self.lateness {
      lateSince = time
    }
    if lateSince == nil { clockTimers.advance(to: time) } else { clockTimers.skip(to: time) }
  }

  /// Makes a virtual time, which the loop advances until ``end(_:)``. It starts at the current time of the clock, at a whole
  /// microsecond: differences of times that are written in microseconds are then the same in each run.
  @BluetoothActor package func makeVirtualTime() -> VirtualTime {
    let time = VirtualTime(startingAt: SystemClock.monotonic.wholeMicroseconds)
    virtualTimes.append(time)
    isAnyTimeVirtual.store(true, ordering: .relaxed)
    isStalled = false
    return time
  }

  /// Stops a virtual time. Its timers do not run any more.
  @BluetoothActor package func end(_ time: VirtualTime) {
    virtualTimes.removeAll { $0 === time }
    isAnyTimeVirtual.store(!virtualTimes.isEmpty, ordering: .relaxed)
  }

  /// Virtual time stands still while `work` runs: it waits for a thread or for a reader, of which virtual time knows
  /// nothing.
  @BluetoothActor package func stoppingVirtualTime<Value>(
    while work: @BluetoothActor () async -> sending Value
  ) async -> sending Value {
    pendingCalls += 1
    defer {
      pendingCalls -= 1
      isStalled = false
    }
    return await work()
  }

  /// Whether there is a virtual time, which has to wait for callbacks. From any thread.
  package var hasVirtualTime: Bool { isAnyTimeVirtual.load(ordering: .relaxed) }

  /// Virtual time stands still until a callback has returned that a program gets on a queue of its own: it would run away from
  /// a program that takes longer for a report than the loop needs to make one. From any thread.
  package func callbackBegins() { pendingCallbacks.wrappingAdd(1, ordering: .relaxed) }

  /// The callback has returned. From any thread, once for each ``callbackBegins()``.
  package func callbackEnds() {
    let left = pendingCallbacks.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    if left == 0 { wake() }
  }

  private var isVirtualTimeStopped: Bool {
    pendingCalls > 0 || pendingCallbacks.load(ordering: .acquiring) > 0
  }

  private func advanceVirtualTimes() {
    guard !isVirtualTimeStopped else { return }
    var hasAdvanced = false
    for time in virtualTimes where time.advance() { hasAdvanced = true }
    isStalled = !hasAdvanced
  }

  // MARK: Descriptors

  /// The readiness of a descriptor, or the events of interest; the bits are epoll's, which are those of poll.
  @usableFromInline package struct Readiness: OptionSet, Sendable {
    @usableFromInline package var rawValue: UInt32

    @usableFromInline package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    @usableFromInline package static let readable = Readiness(rawValue: UInt32(POLLIN))
    @usableFromInline package static let writable = Readiness(rawValue: UInt32(POLLOUT))
    /// The peer has closed. Always reported.
    @usableFromInline package static let hungUp = Readiness(rawValue: UInt32(POLLHUP))
    /// The descriptor has a pending error. Always reported.
    @usableFromInline package static let failed = Readiness(rawValue: UInt32(POLLERR))
  }

  /// A descriptor watched by the loop. Cancel the watch before closing the descriptor.
  @BluetoothActor package final class Watch {
    private let descriptor: Int32
    private let id: UInt64

    fileprivate init(descriptor: Int32, id: UInt64) {
      self.descriptor = descriptor
      self.id = id
    }

    /// The events to wait for. An empty set still reports that the peer has closed.
    @exclusivity(unchecked) package var interest: Readiness = [] {
      didSet {
        // The descriptor of a cancelled watch may have been reused.
        guard interest != oldValue, EpollLoop.shared.handler(of: id) != nil else { return }
        _ = Linux.epollChange(EpollLoop.shared.epoll, descriptor, interest.rawValue, id)
      }
    }

    /// Stops watching; the handler is not called again.
    package func cancel() {
      guard EpollLoop.shared.handler(of: id) != nil else { return }
      EpollLoop.shared.removeHandler(id)
      _ = Linux.epollRemove(EpollLoop.shared.epoll, descriptor)
    }
  }

  /// Calls `handler` on the loop whenever `descriptor` is ready, for as long as it is (level-triggered).
  @BluetoothActor package func watch(
    _ descriptor: Int32, for interest: Readiness, handler: @escaping (Readiness) -> Void
  ) throws(SystemError) -> Watch {
    let mark = add(handler)
    guard Linux.epollAdd(epoll, descriptor, 0, mark) == 0 else {
      let error = SystemError.last("epoll_ctl")
      removeHandler(mark)
      throw error
    }
    let watch = Watch(descriptor: descriptor, id: mark)
    watch.interest = interest
    return watch
  }
}

/// Something that is done once for all input of a wake-up: writing the lines that it has caused.
package protocol TickObserver: AnyObject {
  /// Called by the loop after ``EpollLoop/atEndOfTick(_:)``.
  func tickDidEnd()
}

extension BluetoothActor: EventLoopProvider {
  package static var eventLoop: any StackExecutor { EpollLoop.shared }
}
