import Synchronization

/// System calls that fail on purpose, for tests. Faults belong to a descriptor, so that tests which run at the same
/// time do not meet each other's.
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

  private static let active = Atomic<Bool>(false)
  private static let plan = Guarded<[Key: [Outcome?]]>([:])

  static var isActive: Bool { active.load(ordering: .relaxed) }

  /// Makes the next calls on a descriptor come out as listed, one after the other; nil lets a call through.
  package static func add(_ outcomes: [Outcome?], to call: SystemCall, on descriptor: Int32) {
    plan.withLock { $0[Key(call: call, descriptor: descriptor), default: []] += outcomes }
    active.store(true, ordering: .relaxed)
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
      }
      if plan.isEmpty { active.store(false, ordering: .relaxed) }
      return count
    }
  }

  static func next(_ call: SystemCall, _ descriptor: Int32) -> Outcome? {
    plan.withLock { plan in
      let key = Key(call: call, descriptor: descriptor)
      guard var waiting = plan[key], !waiting.isEmpty else { return nil }
      let outcome = waiting.removeFirst()
      plan[key] = waiting.isEmpty ? nil : waiting
      return outcome
    }
  }
}
