#if DEBUG
  import Glibc
  import HaloSystem
  import Synchronization

  /// Injects faults into system calls; a release build has no place for them. Faults belong to a descriptor, or to the
  /// task that makes the calls (``during(_:_:)``), so that concurrent tests do not affect each other.
  package enum FaultPlan {
    package enum Outcome: Hashable, Sendable {
      /// The call fails with this error number.
      case error(Int32)
      /// The call is made with at most this many bytes: a short read or write.
      case limit(Int)
      /// The call is not made and returns this.
      case result(Int)
    }

    private struct Key: Hashable {
      var call: SystemCall
      var descriptor: Int32
    }

    private static let plan = LockedValue<[Key: [Outcome?]]>([:])
    /// The number of active faults: keys of the plan, and scripts.
    private static let activeCount = Atomic<Int>(0)
    @TaskLocal private static var script: FaultScript?

    /// Intercepts the calls of this process from its first use on.
    private static let isInstalled: Void = SystemCall.intercept { call, descriptor, count, make in
      activeCount.load(ordering: .relaxed) > 0 ? perform(call, descriptor, count, make) : make(count)
    }

    private static func activate() {
      isInstalled
      activeCount.add(1, ordering: .relaxed)
    }

    // MARK: Faults of a descriptor

    /// Sets the outcomes of the next calls on a descriptor; nil executes a call normally.
    package static func add(_ outcomes: [Outcome?], to call: SystemCall, on descriptor: Int32) {
      guard !outcomes.isEmpty else { return }
      plan.withLock { plan in
        let key = Key(call: call, descriptor: descriptor)
        if plan[key] == nil { activate() }
        plan[key, default: []] += outcomes
      }
    }

    /// Removes the remaining faults of a descriptor, as its number may be reused.
    ///
    /// - Returns: the number of unused faults
    @discardableResult
    package static func removeAll(on descriptor: Int32) -> Int {
      plan.withLock { plan in
        var count = 0
        for key in plan.keys where key.descriptor == descriptor {
          count += plan.removeValue(forKey: key)?.count ?? 0
          activeCount.subtract(1, ordering: .relaxed)
        }
        return count
      }
    }

    // MARK: Faults of a task

    /// Sets the outcomes of calls made by `body` and by the tasks that it starts; calls of other threads, timers and
    /// tests are not affected.
    package static func during<Value, Failure: Error>(
      _ script: FaultScript, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
      activate()
      defer { activeCount.subtract(1, ordering: .relaxed) }
      let result: Result<Value, Failure> = $script.withValue(script) {
        do throws(Failure) {
          return .success(try body())
        } catch {
          return .failure(error)
        }
      }
      return try result.get()
    }

    /// The asynchronous variant.
    package static func during<Value>(
      _ script: FaultScript, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
      activate()
      defer { activeCount.subtract(1, ordering: .relaxed) }
      return try await $script.withValue(script, operation: body)
    }

    private static func perform(
      _ call: SystemCall, _ descriptor: Int32?, _ count: Int, _ make: (Int) -> Int
    ) -> Int {
      switch next(call, descriptor) {
      case .error(let code):
        errno = code
        return -1
      case .limit(let limit): return make(min(count, limit))
      case .result(let result): return result
      case nil:
        let result = make(count)
        if result >= 0, call.makesDescriptor { script?.opened(Int32(truncatingIfNeeded: result)) }
        return result
      }
    }

    private static func next(_ call: SystemCall, _ descriptor: Int32? = nil) -> Outcome? {
      if let outcome = script?.next(call) { return outcome }
      guard let descriptor else { return nil }
      return plan.withLock { plan in
        let key = Key(call: call, descriptor: descriptor)
        guard var waiting = plan[key] else { return nil }
        let outcome = waiting.removeFirst()
        plan[key] = waiting.isEmpty ? nil : waiting
        if waiting.isEmpty { activeCount.subtract(1, ordering: .relaxed) }
        return outcome
      }
    }
  }

  /// The outcomes of the calls of a task; see ``FaultPlan/during(_:_:)``.
  package final class FaultScript: Sendable {
    private let calls: Set<SystemCall>
    private let outcomes: [FaultPlan.Outcome?]
    private let made = LockedValue(0)
    /// The descriptors that were opened, with the inode of each.
    private let opened = LockedValue<[(descriptor: Int32, inode: ino_t)]>([])

    /// - Parameters:
    ///   - calls: the kinds of calls that are counted; others are executed normally
    ///   - outcomes: the outcomes of the counted calls, in order; nil executes a call normally, as do calls after the
    ///     last
    package init(_ calls: Set<SystemCall>, _ outcomes: [FaultPlan.Outcome?]) {
      self.calls = calls
      self.outcomes = outcomes
    }

    /// The call with this number, counted from 1, fails.
    package convenience init(_ calls: Set<SystemCall>, number: Int = 1, fails code: Int32) {
      self.init(calls, Array(repeating: nil, count: number - 1) + [.error(code)])
    }

    /// Whether all outcomes have been used.
    package var isUsedUp: Bool { made.withLock { $0 } >= outcomes.count }

    /// The number of descriptors opened by the task's calls that are still open. Another thread may briefly have the same
    /// number and inode.
    package var openCount: Int {
      var count = 0
      for _ in 0..<200 {
        count = opened.withLock { $0.count { Self.inode($0.descriptor) == $0.inode } }
        if count == 0 { break }
        usleep(1000)
      }
      return count
    }

    private static func inode(_ descriptor: Int32) -> ino_t? {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? status.st_ino : nil
    }

    fileprivate func opened(_ descriptor: Int32) {
      guard let inode = Self.inode(descriptor) else { return }
      opened.withLock { $0.append((descriptor, inode)) }
    }

    fileprivate func next(_ call: SystemCall) -> FaultPlan.Outcome? {
      guard calls.contains(call) else { return nil }
      return made.withLock { made in
        defer { made += 1 }
        return outcomes.indices.contains(made) ? outcomes[made] : nil
      }
    }
  }

  extension SystemCall {
    fileprivate var makesDescriptor: Bool {
      switch self {
      case .open, .socket, .accept, .epoll, .event, .timer: true
      default: false
      }
    }
  }
#endif
