import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloViews
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloRaw
import HaloRecording
import RingLink

/// One run of a command with its open adapter, recording, replay and interruption.
@BluetoothActor
final class Session {
  let central: Central
  /// The time of the adapter: the clock, or the virtual time of a replay.
  var timers: Timers { central.timers }
  let interruption: Interruption
  let isVerbose: Bool

  /// The wall clock that the open ring has, by its policy.
  var clock = HostClock()
  /// The address of the open ring.
  private var ringAddress: PeerIdentity?
  /// The name of the open ring, if it is known.
  var ringName: String?
  /// In a replay, the notes of the recording.
  let notes: [SessionNote]
  /// The activity of the command, for other processes.
  let status: SessionStatus
  /// What people mark in its records.
  let annotations: Annotations
  /// The automatic measurements that are switched off.
  let paused: PausedMeasurements
  /// The known rings that the recording has.
  private var recordedRings: Set<PeerIdentity> = []
  /// The names of the rings that were opened.
  var names: [PeerIdentity: String] = [:]
  /// Whether the command shows the attributes of a device, so that a replay has to hold their discovery.
  var showsAttributes = false
  /// The clocks that this session set.
  private var clocksSet: [PeerIdentity: ClockRecord] = [:]

  let spec: AdapterSpecification
  private let opened: SessionAdapter
  /// How links are secured.
  var security: SecurityHost { opened.security }
  /// The radio, for a command that serves on it, too.
  var adapter: any Adapter { opened.adapter }
  private(set) var request: ConnectionRequest
  let selector: RingSelector
  let scanParameters: ScanParameters
  var known: KnownRings
  /// Which firmware has the counted stream.
  let countedFirmware: CountedFirmware
  private var failure: Failure?

  /// Opens the adapter that the command line selects, runs `body`, and closes all links in any case: a ring that stays
  /// connected does not advertise.
  ///
  /// - Parameters:
  ///   - endsInOrder: whether `body` handles interruptions; if not, they cancel it
  ///   - connects: whether `body` makes links, for which the adapter has to offer the options of the command line
  ///   - pairs: whether `body` may pair
  static func run(
    _ invocation: Invocation, endsInOrder: Bool = false, connects: Bool = true, pairs: Bool = false,
    _ body: @escaping @BluetoothActor (Session) async throws -> Void
  ) async throws(Failure) {
    let session = try await Session(invocation, connects: connects)
    session.security.mayPairLater = pairs
    let result = await outcome {
      try await session.interruption.cancels { try await session.start() }
      ServiceManager.shared.ready()
      if endsInOrder {
        try await body(session)
      } else {
        try await session.interruption.cancels { try await body(session) }
      }
    }
    session.status.stop()
    session.annotations.stop()
    ServiceManager.shared.stopping()
    await session.opened.close()
    if case .success = result, let count = session.central.skippedBytes, count > 0 {
      Console.error(skippedText(count))
    }
    // A failure of the adapter is the cause of a failure of the command.
    try session.conclude(result)
  }

  private init(_ invocation: Invocation, connects: Bool) async throws(Failure) {
    let spec = try invocation.adapter
    if invocation[CommonOptions.take] {
      guard case .user = spec else { throw .usage("--take needs --adapter user:hciN") }
    }
    self.spec = spec
    isVerbose = invocation[CommonOptions.verbose]
    scanParameters = ScanParameters(invocation)
    request = try ConnectionRequest(invocation)
    if connects { try request.check(for: spec) }
    let interruption = Interruption()
    self.interruption = interruption
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await SessionAdapter(spec, invocation, hides: invocation[CommonOptions.privacy])
    }
    // Simulated rings are not stored.
    known = KnownRings(path: spec.isReal ? KnownRings.standardPath : nil)
    countedFirmware = CountedFirmware(
      path: spec.isReal ? UserFolders.state.map { $0 + "/streams.json" } : nil
    ) { Console.error("halo-raw: \($0)") }
    paused = PausedMeasurements(folder: spec.isReal ? UserFolders.state.map { $0 + "/paused" } : nil)
    notes = opened.recordedNotes
    // A replayed peripheral is the only one that can be connected to.
    let replayed = opened.replayAdapter.map { RingSelector.address($0.peripheral.address.value, nil) }
    selector = try invocation.ring(isReal: spec.isReal) ?? replayed ?? .anyRing
    self.opened = opened
    central = opened.central
    status = SessionStatus(opened.adapter.timers)
    annotations = Annotations(opened.adapter.timers)
    for ring in notes.knownRings { known.remember(ring) }
    opened.tap?.onFailure = { [weak self] error in self?.fail(Failure(error)) }
    opened.adapter.onNote = { [weak self] text in self?.note(text) }
    opened.adapter.onSkippedBytes = { [weak self] count, time in self?.skipped(count, time) }
    opened.replay?.onInterrupt = { [weak self] in self?.interruption.request() }
    opened.replayAdapter?.onInterrupt = { [weak self] in self?.interruption.request() }
    opened.managed.onFailure = { [weak self] error in self?.adapterChanged(error) }
  }

  /// Lets no peer change the parameters of its link, unless a recording is replayed in which it may.
  func keepParameters() {
    guard !isReplay || notes.keepParameters else { return }
    request.parameterPolicy = .keep
    if !isReplay { opened.record(.keepsParameters) }
  }

  /// Lets the link to a device with a bond stay in clear: for signed writes.
  func leaveInClear() { request.firstEncryption = .never }

  /// Whether the firmware and the settings of a ring are read for the description of the data. A replay repeats the choice of
  /// the recording.
  ///
  /// - Parameter isWanted: whether there is such a description
  func describesRing(_ isWanted: Bool) -> Bool {
    if isReplay { return notes.describesRing }
    if isWanted { opened.record(.describesRing) }
    return isWanted
  }

  private func start() async throws(Failure) {
    if !isReplay { startClock() }
    let adapter = try await opened.start()
    note(
      "adapter \(adapter.address), Bluetooth \(adapter.version), "
        + (adapter.usesExtendedScan ? "extended" : "legacy") + " scanning")
    if isReplay { startClock() }
  }

  private func startClock() {
    clock = opened.clock
    opened.record(.zone(clock.offset(atUnix: clock.unixSeconds)))
  }

  /// Ends the command because the adapter or the recording failed; `failure` is the error that is printed.
  func fail(_ failure: Failure) {
    if self.failure == nil { self.failure = failure }
    interruption.request()
  }

  /// Whether a ``ReconnectingLink`` waits for an adapter that is lost. If not, the loss ends the command.
  var waitsForAdapter = false
  /// Whether a link is made only when its peer advertises, so that a peer out of reach holds up no other link.
  var waitsForAdvertisements = false
  /// Whether a recorded peripheral takes the place of all peripherals.
  var replaysOnePeripheral: Bool { opened.replayAdapter != nil }
  /// Why the adapter cannot be used; nil if it can.
  private var adapterFailure: Failure? {
    guard waitsForAdapter, var failure = opened.managed.failure.map({ Failure($0) }) else { return nil }
    failure.link.fault = .controller
    return failure
  }

  private func adapterChanged(_ error: StackError?) {
    guard let error else {
      return note("adapter \(central.information?.address.description ?? "") is back")
    }
    let failure = Failure(error)
    guard waitsForAdapter, failure.link.fault != .final else { return fail(failure) }
    lossWaiter.take()?()
  }

  private var lossWaiter: (() -> Void)?

  /// Returns when the adapter is lost, while ``waitsForAdapter``, or when the task is cancelled. There is one caller at a time.
  func untilAdapterIsLost() async {
    await awaitCallback(unless: adapterFailure != nil) { (done: @escaping (Result<Void, Never>) -> Void) in
      let end = OneShot(done)
      lossWaiter = { end(.success(())) }
      return { end(.success(())) }
    }
  }

  /// The loss of the adapter, if that is behind a failure of a link.
  func cause(of failure: Failure) -> Failure {
    failure.link.fault == .final ? failure : adapterFailure ?? failure
  }

  /// - Throws: why the adapter is lost, if it is
  func checkAdapter() throws(Failure) {
    if let adapterFailure { throw adapterFailure }
  }

  /// Waits until a lost adapter is back. Several links wait for one recovery.
  ///
  /// - Throws: why it was lost, after `time`; at once, why waiting does not help
  func recoverAdapter(within time: Duration) async throws(Failure) {
    guard let adapterFailure else { return }
    if !opened.managed.isRecovering { note("\(adapterFailure.message); waiting for it \(time.asLimit)") }
    do throws(StackError) {
      try await opened.managed.untilUsable(within: time)
    } catch {
      let failure = Failure(error)
      throw failure.link.fault == .final ? failure : adapterFailure
    }
  }

  private func conclude(_ result: Result<Void, Failure>) throws(Failure) {
    guard case .replay(let path, let options) = spec else {
      if let failure { throw failure }
      return try result.get()
    }
    if let replay = opened.replayAdapter { return try conclude(result, replay, options) }
    guard let replay = opened.replay else { return try result.get() }
    let report = replay.report
    if let difference = ReplayDifference(path, options.first, replay.host, report) {
      throw Failure(.replayDiffers, difference.message)
    }
    if let damage = report.damage { throw Failure(damage) }
    if report.endedEarly || wasInterrupted(result) {
      throw Self.interruption(isAtEnd: replay.isOver)
    }
    if let failure { throw failure }
    try result.get()
    Console.error(
      "replay: \(report.matched) packets sent, all as in the recording"
        + (report.truncatedBytes > 0
          ? " (its last record is truncated: \(report.truncatedBytes) bytes are left out)" : ""))
  }

  /// The end of a replay at the level of ATT: data missing in the capture are the cause of a failure.
  private func conclude(
    _ result: Result<Void, Failure>, _ replay: ReplayAdapter, _ options: ReplayOptions
  ) throws(Failure) {
    let report = ReplayReport(peripheral: replay.peripheral)
    if case .failure(let failed) = result {
      let isCutOff = wasInterrupted(result)
      if options.strictness == .strict, let missing = report.missing {
        let cause = isCutOff ? "" : failed.message + "; "
        throw Failure(.replayDiffers, cause + missing)
      }
      if isCutOff, failure == nil {
        throw Self.interruption(isAtEnd: replay.isOver)
      }
    }
    if let failure { throw failure }
    try result.get()
    if showsAttributes, options.strictness == .strict, !replay.peripheral.attributes.hasDiscovery {
      let reason = "the capture has no discovery of services, so that UUIDs are made up"
      throw Failure(.replayDiffers, [reason, report.missing].compactMap { $0 }.joined(separator: "; "))
    }
    Console.error("replay: \(report.summary)")
  }

  private static func interruption(isAtEnd: Bool) -> Failure {
    let event = isAtEnd ? "ends before the command" : "goes on differently, and interrupts the command"
    return Failure(.badData, "the recording \(event); it is truncated or damaged, or of another command")
  }

  /// Whether it was the recording that interrupted the command before it had a result, and not a signal.
  private func wasInterrupted(_ result: Result<Void, Failure>) -> Bool {
    guard case .failure(let failure) = result, failure.code == .interrupted else { return false }
    return !Termination.hasBegun
  }

  /// `3 packets dropped by the kernel`; nil if that is not known.
  var droppedPackets: String? {
    central.droppedPackets.map { "\(Console.counted($0, "packet")) dropped by the kernel" }
  }

  private var skipHandlers: [Int: (String, Instant) -> Void] = [:]
  private var skipHandlerCount = 0

  /// Calls `handler` each time that bytes from the controller belong to no packet, with a description and when they were read.
  ///
  /// - Returns: a closure that ends this
  func whenBytesAreSkipped(_ handler: @escaping (String, Instant) -> Void) -> () -> Void {
    let id = skipHandlerCount
    skipHandlerCount += 1
    skipHandlers[id] = handler
    return { self.skipHandlers[id] = nil }
  }

  private static func skippedText(_ count: Int) -> String {
    "\(Console.counted(count, "byte")) from the controller belong to no packet, as others were lost"
  }

  private func skipped(_ count: Int, _ time: Instant) {
    note(Self.skippedText(count))
    for handler in skipHandlers.values { handler(Self.skippedText(count), time) }
  }

  /// Whether nothing has failed and no interruption was requested.
  var canGoOn: Bool { failure == nil && !interruption.isRequested }

  /// The stored record of a ring's clock; in a replay, that of the recording.
  func clockRecord(of ring: PeerIdentity) -> ClockRecord? {
    if let record = clocksSet[ring] { return record }
    return isReplay ? notes.clockRecord : known.rings.first { $0.peer == ring }?.clock
  }

  /// Stores the time to which the clock of a ring was set.
  func remember(_ clock: ClockRecord, of ring: PeerIdentity) {
    clocksSet[ring] = clock
    if !isReplay { known.remember(clock, of: ring) }
  }

  var isReplay: Bool { opened.isReplay }

  /// Whether the adapter leads to real devices: not to simulated or replayed ones.
  var isReal: Bool { spec.isReal }

  /// The time on the clock of the open ring, which runs on from the offset that it was set to, as far as that is known: by
  /// its records, the later of that and of this computer's time. Records of its newest hour are not in the future.
  var ringTime: RingTime {
    guard let peer = ringAddress, let record = clockRecord(of: peer) else { return clock.now }
    return max(record.ringTime(atUnix: clock.unixSeconds), clock.now)
  }

  /// Uses the wall clock of a ring from now on.
  func follow(clockOf ring: PeerIdentity) {
    ringAddress = ring
    let record = clockRecord(of: ring)
    clock.policy = record?.timePolicy ?? .local
    if let record, !isReplay { opened.record(.clock(record)) }
  }

  /// Writes the stored data of a ring into the recording, once.
  ///
  /// - Returns: whether it can be used, as a recording holds all of it
  func record(known ring: KnownRing) -> Bool {
    let note = SessionNote.ring(ring)
    guard note.fits, let peer = ring.peer else { return false }
    if !isReplay, recordedRings.insert(peer).inserted { opened.record(note) }
    return true
  }

  /// Stores an open ring.
  func remember(_ ring: RingClient) {
    note("MTU \(ring.connection.mtu), firmware \(ring.firmware.firmwareRevision ?? "unknown")")
    let peer = ring.connection.identity
    known.remember(KnownRing(name: names[peer], peer: peer, layout: ring.layout))
  }

  /// Writes a note into the recording, if there is one.
  func record(_ note: SessionNote) { opened.record(note) }

  /// Logs a link event, with `--verbose`.
  func note(_ line: @autoclosure () -> String) {
    if isVerbose { Console.error(line()) }
  }
}
