import Glibc

/// A pthread mutex with a condition variable.
package final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }

  package func locked<Result>(_ body: () -> Result) -> Result {
    lock()
    defer { unlock() }
    return body()
  }

  /// Unlocks, waits for ``signal()``, and locks again.
  package func wait() { pthread_cond_wait(condition, mutex) }
  /// Waits until the given time of the kernel's monotonic clock.
  ///
  /// - Returns: false at that time
  package func wait(until end: timespec) -> Bool {
    var end = end
    return pthread_cond_timedwait(condition, mutex, &end) == 0
  }
  /// The time for ``wait(until:)`` that is the given number of seconds away, also in virtual time.
  package static func time(after seconds: Double) -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = time.tv_nsec + Int(seconds * 1e9)
    time.tv_sec += nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    return time
  }
  /// Wakes all waiting threads.
  package func signal() { pthread_cond_broadcast(condition) }
}

/// A value protected by a lock. Like `Mutex`, with a lock that the thread sanitizer supports.
package final class LockedValue<Value>: @unchecked Sendable {
  private let monitor = Monitor()
  private var value: Value

  package init(_ value: Value) {
    self.value = value
  }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    monitor.lock()
    defer { monitor.unlock() }
    return body(&value)
  }
}

/// Detached threads of this library.
package enum HelperThread {
  private static let hook = LockedValue<(@Sendable () -> Void)?>(nil)

  /// Makes each thread started from now on call `body` first. A thread inherits the capabilities of the one that starts
  /// it; the hook drops those that only one of the program's threads should have. ``start(stackSize:callsHook:_:)``
  /// returns when this is done.
  package static func setStartHook(_ body: @escaping @Sendable () -> Void) {
    hook.withLock { $0 = body }
  }

  /// Calls the start hook on this thread, which was started without it.
  package static func callStartHook() {
    hook.withLock { $0 }?()
  }

  /// Runs `body` on a separate thread. The start hook is called first, unless `callsHook` is false: for a body that needs the
  /// privileges that the hook drops, and calls ``callStartHook()`` afterwards.
  ///
  /// - Returns: zero, or the error number if no thread can be started
  package static func start(
    stackSize: Int = 1 << 17, callsHook: Bool = true, _ body: @escaping @Sendable () -> Void
  ) -> Int32 {
    guard callsHook, let prepare = hook.withLock({ $0 }) else { return create(stackSize, body) }
    let monitor = Monitor()
    nonisolated(unsafe) var isReady = false
    let result = create(stackSize) {
      prepare()
      monitor.locked {
        isReady = true
        monitor.signal()
      }
      body()
    }
    guard result == 0 else { return result }
    monitor.locked {
      while !isReady { monitor.wait() }
    }
    return 0
  }

  /// SCHED_RESET_ON_FORK of sched(7), which the Glibc module does not export.
  private static let resetOnFork: Int32 = 0x4000_0000

  private static func create(_ stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    // A real-time thread does not pass on its scheduling. Another one does: a process in the background (SCHED_IDLE) may
    // not leave it.
    let policy = sched_getscheduler(0) & ~resetOnFork
    if policy == SCHED_FIFO || policy == SCHED_RR {
      pthread_attr_setinheritsched(&attributes, Int32(PTHREAD_EXPLICIT_SCHED))
      pthread_attr_setschedpolicy(&attributes, SCHED_OTHER)
    }
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        // Signals are handled by the program's threads; a closed reader is reported as an error here, not as a signal.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, box.toOpaque())
    if result != 0 { box.release() }
    return result
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }
}
