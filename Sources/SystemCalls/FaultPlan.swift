import Glibc
import Synchronization

/// System calls that fail on purpose, for tests. Faults belong to a descriptor, or to the task that makes the calls
/// (``during(_:_:)``), so that tests which run at the same time do not meet each other's.
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

  private static let plan = Guarded<[Key: [Outcome?]]>([:])
  /// How many faults are under way: keys of the plan, and scripts.
  private static let activeCount = Atomic<Int>(0)
  @TaskLocal private static var script: FaultScript?

  static var isActive: Bool { activeCount.load(ordering: .relaxed) > 0 }

  // MARK: Of a descriptor

  /// Makes the next calls on a descriptor come out as listed, one after the other; nil lets a call through.
  package static func add(_ outcomes: [Outcome?], to call: SystemCall, on descriptor: Int32) {
    guard !outcomes.isEmpty else { return }
    plan.withLock { plan in
      let key = Key(call: call, descriptor: descriptor)
      if plan[key] == nil { activeCount.add(1, ordering: .relaxed) }
      plan[key, default: []] += outcomes
    }
  }

  /// Removes what is left of a descriptor's faults: its number may be used again.
  ///
  /// - Returns: how many were not used
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

  // MARK: Of a task

  /// Makes the calls come out as a script says that `body` makes itself, and the tasks that it starts: not those of
  /// other threads, of timers and of other tests.
  package static func during<Value, Failure: Error>(
    _ script: FaultScript, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    activeCount.add(1, ordering: .relaxed)
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

  /// The same for work that waits.
  package static func during<Value>(
    _ script: FaultScript, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
  ) async rethrows -> Value {
    activeCount.add(1, ordering: .relaxed)
    defer { activeCount.subtract(1, ordering: .relaxed) }
    return try await $script.withValue(script, operation: body)
  }

  /// A call of a task has made a descriptor.
  static func opened(_ descriptor: Int32) { script?.opened(descriptor) }

  static func next(_ call: SystemCall, _ descriptor: Int32? = nil) -> Outcome? {
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

/// How the calls of a task come out; see ``FaultPlan/during(_:_:)``.
package final class FaultScript: Sendable {
  private let calls: Set<SystemCall>
  private let outcomes: [FaultPlan.Outcome?]
  private let made = Guarded(0)
  /// The descriptors that were made, and what was open there then.
  private let opened = Guarded<[(descriptor: Int32, inode: ino_t)]>([])

  /// - Parameters:
  ///   - calls: the kinds of calls that are counted; the others are let through
  ///   - outcomes: of the first of them, the second, and so on; nil lets a call through, as do calls beyond the end
  package init(_ calls: Set<SystemCall>, _ outcomes: [FaultPlan.Outcome?]) {
    self.calls = calls
    self.outcomes = outcomes
  }

  /// The call with this number, counted from 1, fails.
  package convenience init(_ calls: Set<SystemCall>, number: Int = 1, fails code: Int32) {
    self.init(calls, Array(repeating: nil, count: number - 1) + [.error(code)])
  }

  /// Whether all that is listed has happened.
  package var isUsedUp: Bool { made.withLock { $0 } >= outcomes.count }

  /// How many of the descriptors that the task's calls have made are still open. Another thread may have the same
  /// number and inode again for a moment, but not for long.
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

  func opened(_ descriptor: Int32) {
    guard let inode = Self.inode(descriptor) else { return }
    opened.withLock { $0.append((descriptor, inode)) }
  }

  func next(_ call: SystemCall) -> FaultPlan.Outcome? {
    guard calls.contains(call) else { return nil }
    return made.withLock { made in
      defer { made += 1 }
      return outcomes.indices.contains(made) ? outcomes[made] : nil
    }
  }
}
