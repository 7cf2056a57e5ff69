import EventLoop
import RingLink
import RingStore

/// Copies what a ring has stored into the store, piece by piece. Each piece is kept as soon as it is there: what is cut
/// off goes on there the next time.
@BluetoothActor
final class RingSync {
  /// What became of one kind.
  struct Outcome {
    var kind: HistoryKind
    /// Records that the ring told.
    var read = 0
    /// Records that were new, or other than before.
    var added = 0
    /// Why there is no more; nil if all is well.
    var problem: RingError?
    /// Rings that do not keep this kind say so, or nothing.
    var isSupported = true
  }

  private var ring: Ring
  private let session: Session
  private let store: RingStore
  private let retryTime: Duration
  private let progress = ProgressLine()

  init(_ ring: Ring, into store: RingStore, retryTime: Duration, _ session: Session) {
    self.ring = ring
    self.session = session
    self.store = store
    self.retryTime = retryTime
  }

  /// - Parameter report: called for each kind when it is through
  func run(_ kinds: [HistoryKind], report: (Outcome) -> Void) async throws(Failure) {
    let clock = session.clock
    let start = clock.unixSeconds
    let (store, ring, name) = (self.store, self.ring, session.ringName)
    let id = try await storeRetry { () throws(StoreError) in
      try store.ring(ring.client.peer, name: name, firmware: ring.firmware.firmwareRevision)
    }
    let sync = try await storeRetry { () throws(StoreError) in
      try store.beginSync(
        id, at: start, policy: clock.policy, offset: clock.offset(atUnix: start),
        firmware: ring.firmware.firmwareRevision)
    }
    var isComplete = true
    for kind in kinds {
      var outcome = Outcome(kind: kind)
      for day in try await days(of: kind, id) {
        progress.show("\(kind.rawValue)\(day.map { " \($0)" } ?? "")")
        do throws(RingError) {
          try await copy(kind, day, sync, &outcome)
        } catch {
          outcome.problem = error
          outcome.isSupported = !isRefusal(error)
          isComplete = isComplete && !outcome.isSupported
          break
        }
      }
      progress.clear()
      report(outcome)
      if case .disconnected = outcome.problem { break }
      if case .cancelled = outcome.problem { break }
    }
    await self.ring.client.disconnect()
    guard isComplete else { return }
    try await storeRetry { () throws(StoreError) in try store.finish(sync, at: clock.unixSeconds) }
  }

  /// Whether the ring does not keep what it was asked for. Some say so; others are silent.
  private func isRefusal(_ error: RingError) -> Bool {
    switch error {
    case .refused, .noBulkService: true
    case .notAnswered(let subject, _):
      !CommandTable.entries(for: subject).contains { $0.families.contains(ring.firmware.family) }
    default: false
    }
  }

  /// The days to be asked for, the oldest first; a single nil for what comes in one piece.
  private func days(
    of kind: HistoryKind, _ ring: RingStore.RingID
  ) async throws(Failure) -> [RingDay?] {
    guard kind.comesByDay else { return [nil] }
    let today = session.clock.now.day
    let store = self.store
    let missing = try await storeRetry { () throws(StoreError) in
      try store.missingDays(of: kind, ring, in: today.adding(days: 1 - kind.daysKept)...today)
    }
    // What somebody asked the heart rate for comes in one piece behind them.
    return missing + (kind == .heartRate ? [nil] : [])
  }

  private func copy(
    _ kind: HistoryKind, _ day: RingDay?, _ sync: RingStore.SyncID, _ outcome: inout Outcome
  ) async throws(RingError) {
    let now = session.clock.now
    let records = try await reading { ring throws(RingError) in
      try await ring.stored(kind, day, now: now)
    }
    outcome.read += records.count
    let complete = day.map { $0 < now.day ? [$0] : [] } ?? []
    let store = self.store
    do throws(Failure) {
      outcome.added += try await storeRetry { () throws(StoreError) in
        try store.add(records, complete: complete, in: sync)
      }
    } catch {
      session.fail(error)
      throw .cancelled
    }
  }

  /// Reads from the ring; when the link is lost, connects again and reads anew.
  private func reading<Value: Sendable>(
    _ read: (Ring) async throws(RingError) -> Value
  ) async throws(RingError) -> Value {
    while true {
      do throws(RingError) {
        return try await read(ring)
      } catch .disconnected(let reason) where retryTime > .zero {
        session.note("connection lost: \(reason); trying again")
        do throws(Failure) {
          ring = try await session.reopen(ring, within: retryTime)
        } catch {
          throw error.code == .interrupted ? .cancelled : .disconnected(reason)
        }
      }
    }
  }
}

extension HistoryKind {
  /// Whether a ring is asked for each day by itself.
  fileprivate var comesByDay: Bool {
    switch self {
    case .steps, .heartRate, .stress, .variability: true
    case .oxygen, .sleep, .temperature: false
    }
  }
}

extension Ring {
  /// One piece of what is stored.
  fileprivate func stored(
    _ kind: HistoryKind, _ day: RingDay?, now: RingTime
  ) async throws(RingError) -> HistoryRecords {
    switch (kind, day) {
    case (.steps, let day?): .steps(try await activity(on: day, now: now))
    case (.heartRate, let day?): .heartRate(try await heartRates(on: day, now: now))
    case (.heartRate, nil): .heartRate(try await manualHeartRatesIfAny(onlyToday: false, now: now))
    case (.stress, let day?): .stress(try await stress(on: day, now: now))
    case (.variability, let day?): .variability(try await variability(on: day, now: now))
    default:
      try await history(kind, days: now.day.adding(days: 1 - kind.daysKept)...now.day, now: now)
    }
  }
}
