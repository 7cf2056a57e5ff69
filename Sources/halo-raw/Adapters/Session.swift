import BluetoothCore
import Capture
import EventLoop
import GATTClient
import Glibc
import HCI
import RingLink
import VirtualRing

/// A radio that is ready, and all that belongs to one run of a command: the recording, the replay, the wish to end.
@BluetoothActor
final class Session {
  let central: Central
  let interruption: Interruption
  let isVerbose: Bool

  /// The time as a ring would tell it; it follows the policy of the ring that is open.
  var clock = HostClock()
  /// The name of the ring that was opened, if it is known.
  var ringName: String?
  /// What was known beforehand when the session was recorded that is replayed.
  let notes: [SessionNote]
  /// What has become of the measurements that rings make by themselves.
  let paused: PausedMeasurements
  /// Whether a ring may be taken as it was: what is recorded is always found and discovered anew, so that a recording
  /// is complete in itself.
  let trustsLayouts: Bool
  /// What this session has set clocks to.
  private var clocksSet: [BluetoothAddress: ClockRecord] = [:]

  private let spec: AdapterSpec
  private let opened: OpenedAdapter
  let request: ConnectionRequest
  let selector: RingSelector
  let scanParameters: ScanParameters
  var known: KnownRings
  private var failure: Failure?

  /// How long the end of all links and of the adapter's use may take.
  private static let closeDeadline = Duration.seconds(5)

  /// Opens the adapter that the command line names, runs `body`, and leaves everything in order, whatever happens:
  /// links are ended, and a ring that a program has left connected does not advertise.
  ///
  /// - Parameter endsInOrder: whether `body` sees to interruptions by itself; else they cancel it
  static func run(
    _ invocation: Invocation, endsInOrder: Bool = false,
    _ body: @escaping @BluetoothActor (Session) async throws(Failure) -> Void
  ) async throws(Failure) {
    let session = try await Session(invocation)
    var result = Result<Void, Failure>.success(())
    do throws(Failure) {
      try await session.interruption.cancels { () async throws(Failure) in try await session.start() }
      if endsInOrder {
        try await body(session)
      } else {
        try await session.interruption.cancels { () async throws(Failure) in try await body(session) }
      }
    } catch {
      result = .failure(error)
    }
    if !(await within(Self.closeDeadline, { await session.central.stop() })) {
      Console.error(
        "halo-raw: the adapter was not given up in \(Int(Self.closeDeadline.inSeconds)) s; links may stay until they time out"
      )
    }
    session.opened.finishRecording()
    // What went wrong underneath explains what went wrong above.
    try session.conclude(result)
  }

  private init(_ invocation: Invocation) async throws(Failure) {
    let text = invocation.adapterText
    let spec = try text.map { text throws(Failure) in try AdapterSpec(text) } ?? .kernel(nil)
    if invocation.has("--take") {
      guard case .user = spec else {
        throw .usage("--take belongs to --adapter user:hciN, where an adapter is taken from the kernel")
      }
    }
    self.spec = spec
    selector = invocation.positionals.first.map { RingSelector($0) } ?? .anyRing
    isVerbose = invocation.has("--verbose")
    scanParameters = invocation.has("--aggressive") ? .aggressive : .gentle
    request = try ConnectionRequest(invocation)
    let interruption = Interruption()
    self.interruption = interruption
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await OpenedAdapter(spec, invocation)
    }
    trustsLayouts = invocation.text("--record") == nil
    // What is simulated is gone tomorrow.
    known = KnownRings(path: spec.isReal ? KnownRings.standardPath : nil)
    paused = PausedMeasurements(folder: spec.isReal ? UserFolders.state.map { $0 + "/paused" } : nil)
    notes = SessionNote.all(in: opened.replay?.host.notes ?? [])
    self.opened = opened
    central = Central(opened.adapter)
    opened.tap?.onFailure = { [weak self] error in self?.fail(Failure(error)) }
    opened.adapter.onNote = { [weak self] text in self?.note(text) }
    opened.replay?.onInterrupt = { [weak self] in self?.interruption.come() }
    central.onScanFailure = { [weak self] error in self?.fail(Failure(error)) }
    central.onFailure = { [weak self] error in self?.adapterFailed(Failure(error)) }
  }

  private func start() async throws(Failure) {
    if !isReplay { startClock() }
    do throws(HCIError) {
      let adapter = try await central.start()
      note(
        "adapter \(adapter.address), Bluetooth \(adapter.version), "
          + (adapter.usesExtendedScan ? "extended" : "legacy") + " scanning")
      if isReplay { startClock() }
    } catch {
      throw Failure(error)
    }
  }

  private func startClock() {
    clock = opened.clock
    opened.record(.zone(clock.offset(atUnix: clock.unixSeconds)))
  }

  /// Something underneath has failed: the command is ended, and this is the reason that is told.
  func fail(_ failure: Failure) {
    if self.failure == nil { self.failure = failure }
    interruption.come()
  }

  /// Whether a command goes on when the adapter is lost, and waits for it in ``reconnect(to:within:)``. Else the command
  /// ends.
  var waitsForAdapter = false
  /// Why the adapter is of no use, until it is back.
  private(set) var adapterFailure: Failure?

  private func adapterFailed(_ failure: Failure) {
    guard waitsForAdapter else { return fail(failure) }
    adapterFailure = failure
  }

  /// Waits until the adapter is of use again, if it is not.
  ///
  /// - Throws: why it is not, after `time`
  func recoverAdapter(within time: Duration) async throws(Failure) {
    guard let adapterFailure else { return }
    note("\(adapterFailure.message); waiting \(Int(time.inSeconds)) s for it")
    do throws(HCIError) {
      let adapter = try await central.recover(within: time)
      self.adapterFailure = nil
      note("adapter \(adapter.address) is back")
    } catch {
      throw error == .cancelled ? Failure(error) : adapterFailure
    }
  }

  private func conclude(_ result: Result<Void, Failure>) throws(Failure) {
    guard case .replay(let path, let options) = spec, let replay = opened.replay else {
      if let failure { throw failure }
      return try result.get()
    }
    let report = replay.report
    if let difference = ReplayDifference(path, options, replay.host, report) {
      throw Failure(.replayDiffers, difference.message)
    }
    if report.endedEarly || isCutOff(result, replay) {
      throw Failure(
        .badData, "the recording ends before the command does; it was cut off, or recorded otherwise")
    }
    if let failure { throw failure }
    try result.get()
    Console.error(
      "replay: \(report.matched) packets sent, each as it was sent in the recording"
        + (report.truncatedBytes > 0
          ? " (its last record is cut: \(report.truncatedBytes) bytes are left out)" : ""))
  }

  /// Whether a command had no result yet when the recording was over, and no signal has ended it.
  private func isCutOff(_ result: Result<Void, Failure>, _ replay: ReplayTransport) -> Bool {
    guard case .failure(let failure) = result, failure.code == .interrupted else { return false }
    return replay.isOver && !Termination.hasBegun
  }

  /// Whether nothing underneath has failed.
  var canGoOn: Bool { failure == nil && !interruption.hasCome }

  /// What is remembered of a ring's clock; in a replay, what was remembered then.
  func clockRecord(of ring: BluetoothAddress) -> ClockRecord? {
    if let record = clocksSet[ring] { return record }
    return isReplay ? notes.clockRecord : known.rings.first { $0.bluetoothAddress == ring }?.clock
  }

  /// Remembers what the clock of a ring was set to.
  func remember(_ clock: ClockRecord, of ring: BluetoothAddress) {
    clocksSet[ring] = clock
    if !isReplay { known.remember(clock, of: ring) }
  }

  var isReplay: Bool { opened.replay != nil }

  /// Goes by the wall clock that a ring has, from here on.
  func follow(clockOf ring: BluetoothAddress) {
    let record = clockRecord(of: ring)
    clock.policy = record?.timePolicy ?? .local
    if let record, !isReplay { opened.record(.clock(record)) }
  }

  /// Writes what no packet tells into the recording, if there is one.
  func record(_ note: SessionNote) { opened.record(note) }

  /// Tells what happens on the link, if it is asked for.
  func note(_ line: @autoclosure () -> String) {
    if isVerbose { Console.error(line()) }
  }
}
