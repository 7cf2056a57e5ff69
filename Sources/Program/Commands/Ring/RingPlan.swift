import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import HaloRingStore
import RingLink

/// The options for a command's work with its ring in between.
enum PlanOption {
  static let measure = Option(
    "--measure", as: .list(of: .planned),
    help: "from time to time, stop and measure heart-rate, spo2, or both; half a minute each")
  static let measureInterval = Option(
    "--measure-every", as: .time, default: "10m", help: "with --measure: how often")
  static let syncInterval = Option(
    "--sync-every", as: .time,
    help: "at the start and then this often, copy what the ring has stored, as sync does")

  static let all: [any CommandOption] = [measure, measureInterval, syncInterval, StoreFile.option]
  static let rules: [OptionRule] = [.needs(measureInterval, measure), .needs(StoreFile.option, syncInterval)]

  static let shortest = Duration.seconds(60)
}

/// The work of a command with its ring from time to time besides its own. A ring has one link and measures one thing at a time,
/// so the program that has the link does it all, one after the other.
@BluetoothActor
final class RingPlan {
  /// For the help of commands.
  nonisolated static let details = """
    With --sync-every, the command copies in between what the ring has stored, as halo-raw sync does, into the same store;
    with --measure, it measures. Meanwhile it prints nothing else, and a record of the kind "pause" says so. With --mqtt, the
    newest stored values are published, too. A ring has one link: use this instead of a second command.
    """

  typealias Report = @BluetoothActor (Measured, MeasurementReading, Instant) -> Void

  /// The quantities to measure.
  let measured: [Measured]
  private var measureInterval: Duration
  private let syncInterval: Duration
  /// Whether nothing is due before ``measure(every:)``.
  let isOnDemand: Bool
  private let store: RingStore?
  private let session: Session
  private let publisher: RingPublisher?
  private var measureDue: Instant
  private var syncDue: Instant
  private var hasSaidProblem = false
  /// The kinds that the ring does not have: some rings do not answer, which takes time.
  private var unsupported: Set<HistoryKind> = []
  /// The commands that wait for the next copy.
  private var askers: [StatusServer.Reply] = []
  private(set) var isPerforming = false
  private var isCopying = false
  /// Called when something is due.
  private var onDue: (() -> Void)?
  private var timer: Timers.Token?

  /// The pause before work that a lost link has ended is tried again.
  private static let retryPause = Duration.seconds(60)

  /// - Parameter publisher: gets the values, too
  /// - Returns: nil if nothing is asked for
  /// - Throws: if an interval is too short, or the store can't be opened
  init?(_ invocation: Invocation, _ session: Session, _ publisher: RingPublisher?) throws {
    measured = try Self.measured(invocation)
    let syncTime = invocation[PlanOption.syncInterval]
    guard !measured.isEmpty || syncTime != nil else { return nil }
    measureInterval = measured.isEmpty ? .forever : invocation[PlanOption.measureInterval]
    syncInterval = syncTime ?? .forever
    for (option, time) in [
      (PlanOption.measureInterval.spec, measureInterval), (PlanOption.syncInterval.spec, syncInterval),
    ] where time < PlanOption.shortest {
      throw Failure.usage("\(option.name) is too short: a ring takes a minute for it")
    }
    store = syncTime == nil ? nil : try StoreFile.open(invocation, creates: true, isReal: session.isReal)
    isOnDemand = false
    self.session = session
    self.publisher = publisher
    let now = session.timers.current
    measureDue = measured.isEmpty ? now + .forever : now + measureInterval
    syncDue = syncTime == nil ? now + .forever : now
    guard store != nil else { return }
    session.status.serveCopies { [weak self] reply in self?.copyNow(reply) ?? reply(.null) }
  }

  /// Measures the heart rate, once ``measure(every:)`` asks for it.
  init(demandedBy session: Session) {
    measured = Measured.all.filter { $0.kind == .heartRate }
    (measureInterval, syncInterval, store, publisher) = (.forever, .forever, nil, nil)
    isOnDemand = true
    self.session = session
    (measureDue, syncDue) = (session.timers.current + .forever, session.timers.current + .forever)
  }

  /// Measures now, and from now on at this interval.
  func measure(every interval: Duration) {
    (measureInterval, measureDue) = (interval, session.timers.current)
    schedule()
  }

  /// Copies as soon as there is a link.
  private func copyNow(_ reply: @escaping StatusServer.Reply) {
    askers.append(reply)
    // A copy that has begun answers those who come meanwhile.
    guard !isCopying else { return }
    syncDue = min(syncDue, session.timers.current)
    schedule()
  }

  /// Calls `action` when something is due, which may become earlier meanwhile, until ``ignore()``.
  func whenDue(_ action: @escaping () -> Void) {
    onDue = action
    schedule()
  }

  /// Ends the call of ``whenDue(_:)``.
  func ignore() {
    onDue = nil
    session.timers.cancel(timer)
  }

  private func schedule() {
    session.timers.cancel(timer)
    guard let onDue else { return }
    timer = session.timers.schedule(at: next, onDue)
  }

  /// The quantities to measure in between, once each.
  nonisolated static func measured(_ invocation: Invocation) throws(Failure) -> [Measured] {
    var all: [Measured] = []
    for kind in invocation[PlanOption.measure] ?? [] where !all.contains(where: { $0.name == kind.name }) {
      all.append(kind)
    }
    return all
  }

  private var next: Instant { min(measureDue, syncDue) }

  var isDue: Bool { next <= session.timers.current }

  /// The due work, in words.
  var title: String {
    syncDue <= session.timers.current ? "the ring's stored data is copied" : "the ring measures \(names)"
  }

  private var names: String { measured.map(\.name).joined(separator: " and ") }

  /// Does the due work. A failure on a link that stays is reported, and the work is done again the next time.
  ///
  /// - Parameters:
  ///   - ring: the ring, which streams nothing
  ///   - report: gets each value
  /// - Throws: if the link is lost; it is tried again after a minute, on the next link
  func perform(on ring: RingClient, name: String?, _ report: Report) async throws(Failure) {
    isPerforming = true
    defer { isPerforming = false }
    let (peer, start) = (ring.connection.peer, session.timers.current)
    let state = session.status.state(of: peer)
    defer { if let state { session.status.report(state, of: peer, name: name) } }
    if syncDue <= start, let store {
      syncDue = start + min(Self.retryPause, syncInterval)
      isCopying = true
      defer { isCopying = false }
      try await copy(ring, name, into: store)
      syncDue = start + syncInterval
    }
    guard measureDue <= session.timers.current else { return }
    measureDue = start + min(Self.retryPause, measureInterval)
    for kind in measured { try await measure(kind, ring, report) }
    measureDue = start + measureInterval
  }

  private func copy(_ ring: RingClient, _ name: String?, into store: RingStore) async throws(Failure) {
    session.status.report("copying stored data", of: ring.connection.peer, name: name)
    let sync = RingSync(ring, name: name, nil, into: store, publisher, session)
    sync.isQuiet = true
    var outcomes: [RingSync.Outcome] = []
    do throws(Failure) {
      let kinds = HistoryKind.allCases.filter { $0.isSynced && !unsupported.contains($0) }
      try await sync.run(kinds) { outcomes.append($0) }
    } catch {
      answer([], of: ring, store, error.message)
      // A disk that is full for an hour ends no stream.
      return say("the stored data is not copied: \(error.message)")
    }
    unsupported.formUnion(outcomes.filter { !$0.isSupported }.map(\.kind))
    let problem = outcomes.first { $0.isSupported && $0.error != nil }?.error
    if let problem, !ring.connection.isConnected { throw Failure(problem) }
    answer(outcomes, of: ring, store, problem?.description)
    if let problem { return say("not all stored data is copied: \(problem)") }
    hasSaidProblem = false
    let added = outcomes.reduce(0) { $0 + $1.added }
    session.note("stored data: \(Console.counted(added, "new record")) in \(store.path.printable)")
  }

  /// Answers those who have asked for a copy.
  private func answer(
    _ outcomes: [RingSync.Outcome], of ring: RingClient, _ store: RingStore, _ problem: String?
  ) {
    let json = JSONValue.members([
      "ring": .string(ring.connection.peer.description), "store": .string(store.path),
      "problem": problem.map { .string($0) }, "kinds": .array(outcomes.map(\.json)),
    ])
    for reply in askers { reply(json) }
    askers = []
  }

  private func measure(_ kind: Measured, _ ring: RingClient, _ report: Report) async throws(Failure) {
    session.status.report("measuring \(kind.name)", of: ring.connection.peer, name: session.ringName)
    do throws(RingError) {
      let reading = try await ring.measure(kind.kind)
      publisher?.update(reading)
      report(kind, reading, session.timers.current.wholeMicroseconds)
    } catch {
      guard ring.connection.isConnected, error != .cancelled else { throw Failure(error) }
      session.note("no \(kind.name): \(error)")
    }
  }

  /// Once, until it works again.
  private func say(_ problem: String) {
    if !hasSaidProblem { Console.error("halo-raw: \(problem)") }
    hasSaidProblem = true
  }
}

extension ArgumentType where Value == Measured {
  /// The quantities that rings measure and do not make up.
  fileprivate static var planned: Self {
    .choice("KIND", Measured.all.filter { ["heart-rate", "spo2"].contains($0.name) }.map { ($0.name, $0) })
  }
}
