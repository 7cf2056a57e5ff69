import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import HaloRingStore
import RingLink

/// Copies the data of a ring into the store, piece by piece. Each piece is stored as soon as it is read, so that the next
/// run continues after an interruption.
@BluetoothActor
final class RingSync {
  /// The result for one kind.
  struct Outcome {
    var kind: HistoryKind
    /// The number of records read.
    var read = 0
    /// The number of records that are new or changed.
    var added = 0
    /// The number of records with impossible contents.
    var leftOut = 0
    /// Why reading ended early; nil if it is complete, or another command has read.
    var error: RingError?
    /// The same in words.
    var problem: String? { error?.description ?? reported }
    /// Why another command has ended early.
    private var reported: String?
    /// False if the ring refuses this kind or does not answer.
    var isSupported = true

    init(kind: HistoryKind) { self.kind = kind }

    /// The result of another command.
    ///
    /// - Parameter json: as ``json`` gives it; nil if it is malformed
    init?(_ json: JSONValue) {
      guard let kind = json.found("kind", as: String.self).flatMap({ HistoryKind(rawValue: $0) }),
        let read = json.found("read", as: Int.self), let added = json.found("added", as: Int.self),
        let leftOut = json.found("left_out", as: Int.self),
        let isSupported = json.found("supported", as: Bool.self)
      else { return nil }
      (self.kind, self.read, self.added, self.leftOut) = (kind, read, added, leftOut)
      self.isSupported = isSupported
      reported = json.found("problem", as: String.self)?.printable
    }

    var fields: [Field] {
      [
        .text(kind.rawValue), .number(read), .number(added), .flag(isSupported),
        .text(isSupported ? problem : nil), .number(leftOut),
      ]
    }

    /// For another command that has asked for the copy.
    var json: JSONValue {
      .members([
        "kind": .string(kind.rawValue), "read": .integer(read), "added": .integer(added),
        "left_out": .integer(leftOut), "supported": .bool(isSupported),
        "problem": problem.map { .string($0) },
      ])
    }

    var text: String {
      var text = kind.rawValue + String(repeating: " ", count: 13 - kind.rawValue.count)
      guard isSupported else { return text + "not supported by this ring" }
      text += "\(Console.counted(read, "record")), \(added) new"
      if leftOut > 0 { text += ", \(leftOut) left out" }
      return text + (problem.map { "; \($0)" } ?? "")
    }
  }

  private var ring: RingClient
  private let session: Session
  /// Makes a lost link again; nil if the caller does that.
  private let link: ReconnectingLink<RingClient>?
  private let name: String?
  private let store: RingStore
  private let progress = ProgressLine()
  /// Whether it prints no messages while it reads.
  var isQuiet = false
  private let odd = InvalidRecords()
  /// Nil without a broker.
  private let publisher: RingPublisher?
  private var newest = StoredValues()
  private var storeFailure: Failure?

  /// - Parameters:
  ///   - ring: the ring, open
  ///   - name: its name, if it is known
  ///   - link: its link, which is made again when it is lost; nil if a loss ends the reading
  ///   - store: where the records go
  ///   - publisher: publishes the newest of each kind at the end
  init(
    _ ring: RingClient, name: String?, _ link: ReconnectingLink<RingClient>?, into store: RingStore,
    _ publisher: RingPublisher?, _ session: Session
  ) {
    self.ring = ring
    self.name = name
    self.link = link
    self.session = session
    self.store = store
    self.publisher = publisher
  }

  /// The ring, on its link of now.
  var currentRing: RingClient { ring }

  /// - Parameter report: called at the end of each kind
  func run(_ kinds: [HistoryKind], report: (Outcome) -> Void) async throws(Failure) {
    let clock = session.clock
    let start = clock.unixSeconds
    let record = session.clockRecord(of: self.ring.connection.identity)
    let (store, ring, name) = (self.store, self.ring, self.name)
    // The values that were read are published in any case.
    defer { publisher?.update(newest) }
    let id = try await storeRetry(
      store.ring(ring.connection.peer, name: name, firmware: ring.firmware.firmwareRevision))
    let sync = try await storeRetry(
      store.beginSync(
        id, at: start, policy: clock.policy, offset: record?.utcOffset ?? clock.offset(atUnix: start),
        clockSet: record?.set, firmware: ring.firmware.firmwareRevision))
    var isComplete = true
    for kind in kinds {
      var outcome = Outcome(kind: kind)
      for day in try await days(of: kind, id) {
        if !isQuiet { progress.show("\(kind.rawValue)\(day.map { " \($0)" } ?? "")") }
        do throws(RingError) {
          try await copy(kind, day, sync, &outcome)
        } catch {
          outcome.error = error
          outcome.isSupported = !isRefusal(error)
          isComplete = isComplete && !outcome.isSupported
          break
        }
      }
      progress.clear()
      if let storeFailure { throw storeFailure }
      report(outcome)
      if case .disconnected = outcome.error { break }
      if case .cancelled = outcome.error { break }
    }
    guard isComplete else { return }
    // The time is that of the loop, which another thread must not read.
    let end = clock.unixSeconds
    try await storeRetry(store.finish(sync, at: end))
  }

  /// Whether the ring does not support the request. Some rings refuse it; others do not answer.
  private func isRefusal(_ error: RingError) -> Bool {
    switch error {
    case .refused, .noBulkService, .notOffered: true
    case .notAnswered(let subject, _):
      !CommandTable.entries(for: subject).contains { $0.families.contains(ring.firmware.family) }
    default: false
    }
  }

  /// The days to read, oldest first; a single nil for a kind that is read in one piece.
  private func days(of kind: HistoryKind, _ ring: RingStore.RingID) async throws(Failure) -> [RingDay?] {
    guard kind.isReadByDay else { return [nil] }
    let today = session.ringTime.day
    let store = self.store
    let missing = try await storeRetry(
      store.missingDays(of: kind, ring, in: today.adding(days: 1 - kind.daysKept)...today))
    // Manual heart rates are read in one piece after the days.
    return missing + (kind == .heartRate ? [nil] : [])
  }

  private func copy(
    _ kind: HistoryKind, _ day: RingDay?, _ sync: RingStore.SyncID, _ outcome: inout Outcome
  ) async throws(RingError) {
    let now = session.ringTime
    let result: Result<HistoryRecords, RingError>
    do throws(RingError) {
      result = .success(
        try await reading { ring throws(RingError) in try await ring.stored(kind, day, now: now) })
    } catch {
      result = .failure(error)
    }
    let records = try? result.get()
    outcome.read += records?.count ?? 0
    // Also of an answer that ended early.
    let odd = self.odd.take()
    outcome.leftOut += odd.count
    // A day that could not be read is asked for again.
    let isComplete = records != nil && odd.isEmpty
    let complete = day.map { $0 < now.day && isComplete ? [$0] : [] } ?? []
    let store = self.store
    progress.clear()
    if !isQuiet { InvalidRecords.tell(odd) }
    if let records { newest.take(records) }
    do throws(Failure) {
      outcome.added += try await storeRetry(
        store.add(records ?? .stress([]), complete: complete, leftOut: odd, in: sync))
    } catch {
      storeFailure = error
      throw .cancelled
    }
    _ = try result.get()
  }

  /// Reads from the ring. If the link is lost, it is made again, and the ring is read again.
  private func reading<Value: Sendable>(
    _ read: (RingClient) async throws(RingError) -> Value
  ) async throws(RingError) -> Value {
    guard let link else {
      odd.listen(to: ring)
      return try await read(ring)
    }
    var answer: RingError?
    do throws(Failure) {
      let value = try await link.ask { ring in
        self.ring = ring
        odd.listen(to: ring)
        do throws(RingError) {
          answer = nil
          return try await read(ring)
        } catch {
          answer = error
          throw Failure(error)
        }
      }
      link.dataFlow()
      return value
    } catch {
      if error.code == .interrupted { throw .cancelled }
      throw answer ?? .disconnected(error.message)
    }
  }
}

extension HistoryKind {
  /// Whether each day is a separate request.
  fileprivate var isReadByDay: Bool {
    switch self {
    case .steps, .heartRate, .stress, .variability: true
    case .oxygen, .oxygenValues, .sleep, .temperature, .sport, .sedentary: false
    }
  }

  /// Whether it is copied unless another kind is named. It is unknown which rings store the times of sitting, and the others do
  /// not answer.
  var isSynced: Bool { self != .sedentary }
}

extension RingClient {
  /// One piece of the data on the ring.
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
