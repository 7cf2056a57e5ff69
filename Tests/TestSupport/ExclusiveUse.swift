import EventLoop

/// Something that a process has once, and that tests which run at the same time must not share.
public final class ExclusiveUse: Sendable {
  private struct State {
    var isUsed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// What happens on the event loop when it is idle, for replays and others who set it.
  public static let idleLoop = ExclusiveUse()
  /// Taken once, by whoever is the first to make the event loop's time virtual.
  public static let virtualTime = ExclusiveUse()

  private let state = Guarded(State())

  /// Takes it if it is free.
  public func tryAcquire() -> Bool {
    state.withLock { state in
      defer { state.isUsed = true }
      return !state.isUsed
    }
  }

  /// Waits until it is free, and takes it.
  public func acquire() async {
    await withCheckedContinuation { continuation in
      let isMine = state.withLock { state in
        if state.isUsed { state.waiting.append(continuation) }
        defer { state.isUsed = true }
        return !state.isUsed
      }
      if isMine { continuation.resume() }
    }
  }

  /// Gives it to the next who waits.
  public func release() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.waiting.isEmpty {
        state.isUsed = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
