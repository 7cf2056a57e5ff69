import GAP
import HaloGATT
import HaloBluetoothCore
import HaloCapture
import HaloViews
import HaloCommandLine
import HaloDevices
import HaloSecurityManager
import HaloSystem
import HaloStorage
import HaloRaw
import HaloRecording
import RingLink
import HaloSimulation

/// The adapter that a command line selects, opened, with its recording and its explanation.
@BluetoothActor
final class SessionAdapter {
  /// The adapter over time: see ``start()`` and ``close()``.
  let managed: ManagedAdapter
  let central: Central
  var adapter: any Adapter { opened.adapter }
  var replay: ReplayTransport? { opened.replay }
  /// A replay at the level of ATT; nil if it is none.
  var replayAdapter: ReplayAdapter? { opened.replayAdapter }
  var isReplay: Bool { replay != nil || replayAdapter != nil }
  /// The notes of the recording that is replayed.
  var recordedNotes: [SessionNote] {
    SessionNote.all(in: replay?.host.notes ?? replayAdapter?.peripheral.traffic.notes ?? [])
  }
  /// Sees the traffic; nil without `--record` and `--explain`.
  var tap: TrafficTap? { opened.tap }

  /// How its links are secured. Bonds with simulated devices last as long as this.
  let security: SecurityHost

  private let opened: OpenedAdapter
  private let virtualClock: HostClock?
  /// Consequences to print if the process ends at once.
  private var unfinished: [Termination.Registration] = []

  /// - Parameters:
  ///   - specification: the adapter
  ///   - invocation: has the other options of adapters
  ///   - address: takes the place of the adapter's own, where this program drives it
  ///   - hides: whether it uses private addresses
  ///   - opensAnother: whether privileges are kept, as another adapter is opened after this one
  init(
    _ specification: AdapterSpecification, _ invocation: Invocation, at address: BluetoothAddress? = nil,
    hides: Bool = false, opensAnother: Bool = false
  ) async throws(Failure) {
    if hides, case .replay = specification {
      throw Failure.usage("--privacy: a replay has the addresses of its recording")
    }
    var virtualClock: HostClock?
    security = SecurityHost(
      LibcryptoCryptography.shared, bonds: specification.isReal ? UserBonds.ofUser : SimulatedBonds())
    if invocation.command.opensLinks, invocation[CommonOptions.bond] { security.settings.policy = .justWorks }
    security.onBondNotKept = { Console.error("halo-raw: \($0)") }
    if specification.isReal {
      security.knownNameOf = { Self.knownRing(at: $0)?.name }
    }
    var opening = AdapterOpenOptions()
    security.usesPrivateAddresses = hides
    opening.security = security
    opening.forcesTakeover = invocation[CommonOptions.take]
    opening.randomAddress = address
    opening.recordFolders = UserFolders.runtime
    opening.onNote = { Console.error("halo-raw: \($0)") }
    // This may change the user: a recording belongs to the invoking user.
    opening.onOpened = { needsRawSocket in
      try Privileges.afterOpening(needsRawSocket ? .rawSocket : .other, opensAnother: opensAnother)
    }
    opening.prepareRing = { options, timers in
      let clock = Self.clock(of: options, timers)
      virtualClock = clock
      return options.set(by: clock)
    }
    opening.knownAttributes = Self.knownAttributes
    opening.observe(invocation) { virtualClock?.wallOffset }
    do {
      opened = try await specification.open(opening)
    } catch {
      var failure = Failure(error)
      if let error = error as? StackError, [.noBluetooth, .noAdapters].contains(error.code) {
        failure.message += "; to try it without a radio, use --adapter virtual"
      }
      throw failure
    }
    self.virtualClock = virtualClock
    central = Central(opened.adapter)
    managed = ManagedAdapter(central)
    if case .user(let index) = specification, opening.forcesTakeover {
      unfinished.append(Termination.note("\(index) stays down until the next run of halo-raw"))
    }
  }

  /// The attributes of a ring that was used before; nil if it is unknown.
  static func knownAttributes(of address: BluetoothAddress) -> [ServerAttribute]? {
    knownRing(at: address)?.attributes
  }

  private static func knownRing(at address: BluetoothAddress) -> KnownRing? {
    KnownRings(path: KnownRings.standardPath).rings.first { $0.peer == PeerIdentity(address) }
  }

  /// The clock of the session, its recording and its replay.
  var clock: HostClock {
    if let replay {
      return HostClock(
        adapter.timers, wallOffset: replay.wallOffset, utcOffset: recordedNotes.utcOffset)
    }
    if let replayAdapter { return Self.clock(of: replayAdapter, recordedNotes) }
    if let virtualClock { return virtualClock }
    guard let tap else { return HostClock() }
    return HostClock(adapter.timers, wallOffset: tap.wallOffset, utcOffset: Self.utcOffset)
  }

  /// The clock of the recorded host. A capture of another program does not say in which zone it was: but it may have the
  /// wall clock that was given to the ring.
  private static func clock(of replay: ReplayAdapter, _ notes: [SessionNote]) -> HostClock {
    let timers = replay.timers
    guard notes.isEmpty, let connection = replay.peripheral.connections.first,
      let (setting, time) = RingHandles(connection).clock, let wall = setting.time
    else {
      return HostClock(timers, wallOffset: replay.wallOffset, utcOffset: notes.utcOffset)
    }
    let ahead = Int64(wall.seconds) * 1_000_000 - time
    return HostClock(timers, wallOffset: replay.wallOffset + ahead, utcOffset: 0)
  }

  private static var utcOffset: Int {
    SystemClock.utcOffset(atUnix: Int(SystemClock.wallMicroseconds / 1_000_000))
  }

  /// With a virtual ring, the host has the time that the ring was given, so that each run is the same.
  private static func clock(of options: VirtualRingOptions, _ timers: Timers) -> HostClock {
    guard let time = options.clock else {
      return HostClock(timers, wallOffset: SystemClock.wallOffset(of: timers), utcOffset: utcOffset)
    }
    let loopTime = timers.current.nanoseconds / 1000
    return HostClock(timers, wallOffset: Int64(time.seconds) * 1_000_000 - loopTime, utcOffset: 0)
  }

  /// Sets the adapter up.
  func start() async throws(Failure) -> AdapterInformation {
    try await outcome { try await managed.start() }.get()
  }

  /// Ends all links and releases the adapter, ends the tap, waits for the recording to be written, and reports missing packets.
  func close() async {
    if !(await managed.close()) {
      Console.error("halo-raw: the adapter did not close its links within 5 s")
    }
    let lost = opened.finish()
    defer { tap?.finishRecording() }
    guard lost > 0 else { return }
    let what = tap?.writer == nil ? "what was explained" : "the recording"
    Console.error(
      "\(what) lacks \(Console.counted(lost, "packet")): they arrived faster than they were read")
  }

  /// Writes a note into the recording, if there is one.
  func record(_ note: SessionNote) {
    tap?.note(note.description)
  }
}

extension AdapterOpenOptions {
  /// Has the traffic recorded and explained, as `--record` and `--explain` ask for. A replay is explained as it was recorded.
  ///
  /// - Parameter virtualOffset: Unix time minus the time of the adapter, in microseconds; nil for this machine's clock
  @BluetoothActor
  fileprivate mutating func observe(
    _ invocation: Invocation, virtualOffset: @escaping @BluetoothActor () -> Int64?
  ) {
    let recording = invocation[CommonOptions.record]
    let explainer = Explainer(invocation[CommonOptions.explain], invocation[CommonOptions.color] ?? .auto)
    guard recording != nil || explainer != nil else { return }
    // This is called after privileges are dropped, so that the file belongs to the invoking user.
    makeTap = { timers, replay, wallOffset in
      if let replay { explainer?.watch(replay) }
      guard recording != nil || replay == nil else { return nil }
      let wallOffset = wallOffset ?? virtualOffset() ?? SystemClock.wallOffset(of: timers)
      let clock = HostClock(timers, wallOffset: wallOffset, utcOffset: 0)
      let writer = try recording.map { path throws(CaptureError) in
        try CaptureWriter(path: path, invocation) { clock.fileTime }
      }
      let tap = TrafficTap(writer: writer, timers: timers, wallOffset: wallOffset)
      if replay == nil { explainer?.watch(tap) }
      return tap
    }
  }
}

extension TrafficTap {
  /// In seconds: how long a slow disk may take for the end of a recording.
  private static let deadline = 5.0

  /// Waits until a recording is written and reports lost packets. Only at the end of a command: it blocks the loop.
  func finishRecording() {
    guard let writer else { return }
    let isWritten = writer.waitUntilWritten(for: Self.deadline)
    // The last write has no record behind it that would report the failure.
    if let failure = writer.failure {
      onFailure.take()?(failure)
    } else if !isWritten {
      Console.error("halo-raw: \(writer.path.printable) is incomplete: the disk is too slow")
    }
    if writer.droppedRecords > 0 {
      Console.error(
        "halo-raw: \(writer.path.printable) lacks \(Console.counted(writer.droppedRecords, "packet")): "
          + "the disk is too slow")
    }
  }
}
