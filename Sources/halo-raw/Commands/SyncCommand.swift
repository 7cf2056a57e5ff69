import BluetoothCore
import Central
import EventLoop
import LineOutput
import RingLink
import RingStore

private let kindOption = Option(
  "--kind", as: .choice("KIND", HistoryKind.allCases.map { ($0.rawValue, $0) }),
  help: "only this kind: \(HistoryKind.names) (default: all but sedentary)")

private let allOption = Flag(
  "--all", help: "all rings that are near, one after the other; --wait is for how long to look for them (5s)")

let syncCommand = CommandSpec(
  name: "sync", arguments: "[RING]", summary: "copy the data of the ring into the local store",
  positionals: 0...1,
  options: [kindOption, allOption, StoreFile.option, CommonOptions.retryTime, CommonOptions.format],
  examples: [
    ("halo-raw sync --adapter virtual:fast --store rings.sqlite", "copy all data of the built-in ring"),
    ("halo-raw sync --kind sleep --adapter virtual:fast --store rings.sqlite", "copy only the sleep data"),
  ],
  details: """
    Stored data is kept, and nothing is copied twice: run it as often as you like. If the link is lost or the program is
    ended, the next run continues there. docs/store.md describes the file.
    """
) { invocation throws(Failure) in
  let kinds = invocation[kindOption].map { [$0] } ?? HistoryKind.allCases.filter(\.isSynced)
  let retryTime = invocation[CommonOptions.retryTime]
  var printer = RecordPrinter(
    OutputFormat(invocation),
    [
      ("kind", nil), ("read", nil), ("added", nil), ("supported", nil), ("problem", nil), ("left_out", nil),
      ("ring", nil),
    ])
  let isAll = invocation[allOption]
  if isAll, let ring = invocation.positionals.first {
    throw .usage("--all and \"\(ring.printable)\" exclude each other")
  }
  var problem: RingError?
  var failure: Failure?
  try await Session.run(invocation) { session throws(Failure) in
    // Open the store first: without it there is no reason to connect.
    let store = try StoreFile.open(invocation, creates: true, isReal: session.isReal)
    let rings: [RingSelector?] = isAll ? try await session.ringsNear(invocation) : [nil]
    for selector in rings where !session.interruption.isRequested {
      do throws(Failure) {
        let link = session.keepRing(LinkKeeper.Budget(invocation, retryTime: retryTime), of: selector) { _ in
        }
        let ring = try await link.open()
        let address = ring.client.peer.description
        if isAll, OutputFormat(invocation) == .text {
          Console.print("\(link.name?.printable ?? "(no name)") \(address)\n")
        }
        try await RingSync(ring, link, into: store, session).run(kinds) { outcome in
          printer.print(outcome.fields + [.text(address)], text: outcome.text)
          if outcome.isSupported, problem == nil { problem = outcome.problem }
        }
      } catch {
        guard isAll, error.code != .interrupted else { throw error }
        Console.error("halo-raw: \(selector?.title ?? ""): \(error.message)")
        failure = failure ?? error
      }
    }
    Console.error("stored in \(store.path.printable)")
  }
  if let failure { throw Failure(failure.code, "not all rings were read; see above") }
  if let problem { throw Failure(problem) }
}

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
    /// The number of records that cannot be what they say.
    var leftOut = 0
    /// Why reading ended early; nil if it is complete.
    var problem: RingError?
    /// False if the ring refuses this kind or does not answer.
    var isSupported = true

    var fields: [Field] {
      [
        .text(kind.rawValue), .number(read), .number(added), .flag(isSupported),
        .text(isSupported ? problem?.description : nil), .number(leftOut),
      ]
    }

    var text: String {
      var text = kind.rawValue + String(repeating: " ", count: 13 - kind.rawValue.count)
      guard isSupported else { return text + "not supported by this ring" }
      text += "\(Console.counted(read, "record")), \(added) new"
      if leftOut > 0 { text += ", \(leftOut) left out" }
      return text + (problem.map { "; \($0)" } ?? "")
    }
  }

  private var ring: Ring
  private let session: Session
  private let link: KeptLink<Ring>
  private let store: RingStore
  private let progress = ProgressLine()
  private let odd = OddRecords()

  init(_ ring: Ring, _ link: KeptLink<Ring>, into store: RingStore, _ session: Session) {
    self.ring = ring
    self.link = link
    self.session = session
    self.store = store
  }

  /// - Parameter report: called at the end of each kind
  func run(_ kinds: [HistoryKind], report: (Outcome) -> Void) async throws(Failure) {
    let clock = session.clock
    let start = clock.unixSeconds
    let record = session.clockRecord(of: self.ring.client.peer)
    let (store, ring, name) = (self.store, self.ring, link.name ?? session.ringName)
    let id = try await storeRetry(
      store.ring(ring.client.peer, name: name, firmware: ring.firmware.firmwareRevision))
    let sync = try await storeRetry(
      store.beginSync(
        id, at: start, policy: clock.policy, offset: record?.utcOffset ?? clock.offset(atUnix: start),
        clockSet: record?.set, firmware: ring.firmware.firmwareRevision))
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
    try await storeRetry(store.finish(sync, at: clock.unixSeconds))
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
  private func days(
    of kind: HistoryKind, _ ring: RingStore.RingID
  ) async throws(Failure) -> [RingDay?] {
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
    OddRecords.tell(odd)
    do throws(Failure) {
      outcome.added += try await storeRetry(
        store.add(records ?? .stress([]), complete: complete, leftOut: odd, in: sync))
    } catch {
      session.fail(error)
      throw .cancelled
    }
    _ = try result.get()
  }

  /// Reads from the ring. If the link is lost, it is made again, and the ring is read again.
  private func reading<Value: Sendable>(
    _ read: (Ring) async throws(RingError) -> Value
  ) async throws(RingError) -> Value {
    var answer: RingError?
    do throws(Failure) {
      let value = try await link.ask { ring throws(Failure) in
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

  /// Whether it is copied unless another kind is named. Nothing says which rings store the times of sitting, and the
  /// others do not answer.
  fileprivate var isSynced: Bool { self != .sedentary }
}

extension Ring {
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
