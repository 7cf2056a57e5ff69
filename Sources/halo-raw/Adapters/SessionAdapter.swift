import BluetoothCore
import Capture
import Central
import EventLoop
import HCI
import HaloRaw
import Recording
import VirtualRing

/// The adapter that a command line selects, opened, with its recording and its explanation.
@BluetoothActor
struct SessionAdapter {
  var adapter: any Adapter { opened.adapter }
  var replay: ReplayTransport? { opened.replay }
  /// Sees the traffic; nil without `--record` and `--explain`.
  var tap: TrafficTap? { opened.tap }

  private let opened: OpenedAdapter
  private let virtualClock: HostClock?
  /// Consequences to print if the process ends at once.
  private var unfinished: [Termination.Registration] = []

  init(_ specification: AdapterSpecification, _ invocation: Invocation) async throws(Failure) {
    let observers = Observers(invocation)
    var virtualClock: HostClock?
    var opening = AdapterOpening()
    opening.takesAdapter = invocation[CommonOptions.take]
    opening.recordFolders = UserFolders.runtime
    opening.onNote = { Console.error("halo-raw: \($0)") }
    // This may change the user: a recording belongs to the invoking user.
    opening.onOpened = { needsRawSocket in try Privileges.afterOpening(needsRawSocket ? .rawSocket : .other) }
    opening.prepareRing = { options, timers in
      let clock = Self.clock(of: options, timers)
      virtualClock = clock
      return options.set(by: clock)
    }
    if !observers.isEmpty {
      opening.makeTap = { timers, replay in
        try observers.tap(timers, replay, wallOffset: virtualClock?.wallOffset)
      }
    }
    do {
      opened = try await specification.open(opening)
    } catch {
      throw Failure(opening: error)
    }
    self.virtualClock = virtualClock
    if case .user(let index) = specification, opening.takesAdapter {
      unfinished.append(Termination.note("\(index) stays down until the next run of halo-raw"))
    }
  }

  /// The clock of the session, its recording and its replay.
  var clock: HostClock {
    if let replay {
      return HostClock(
        adapter.timers, wallOffset: replay.wallOffset,
        utcOffset: SessionNote.all(in: replay.host.notes).utcOffset)
    }
    if let virtualClock { return virtualClock }
    guard let tap else { return HostClock() }
    return HostClock(adapter.timers, wallOffset: tap.wallOffset, utcOffset: Self.utcOffset)
  }

  private static var utcOffset: Int {
    HostClock.machineOffset(atUnix: Int(SystemClock.wallMicroseconds / 1_000_000))
  }

  /// With a virtual ring, the host has the time that the ring was given, so that each run is the same.
  private static func clock(of options: VirtualRingOptions, _ timers: Timers) -> HostClock {
    let loopTime = timers.current.nanoseconds / 1000
    guard let time = options.clock else {
      return HostClock(
        timers, wallOffset: SystemClock.wallMicroseconds - loopTime, utcOffset: utcOffset)
    }
    return HostClock(timers, wallOffset: Int64(time.seconds) * 1_000_000 - loopTime, utcOffset: 0)
  }

  /// Ends the tap, waits for the recording to be written, and reports lost packets.
  func finishRecording() {
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

/// What `--record` and `--explain` ask for.
@BluetoothActor
private struct Observers {
  let recording: String?
  let explainer: Explainer?

  init(_ invocation: Invocation) {
    recording = invocation[CommonOptions.record]
    explainer = Explainer(invocation)
  }

  var isEmpty: Bool { recording == nil && explainer == nil }

  /// Creates the file of the recording. Call it after privileges are dropped, so that the file belongs to the invoking
  /// user.
  ///
  /// - Parameter replay: the recording that is replayed, if any; it is explained as it was recorded
  /// - Returns: nil if there is nothing to record or explain
  func tap(
    _ timers: Timers, _ replay: ReplayTransport? = nil, wallOffset: Int64? = nil
  ) throws(CaptureError) -> TrafficTap? {
    if let replay { explainer?.watch(replay) }
    guard recording != nil || explainer != nil && replay == nil else { return nil }
    var writer: CaptureWriter?
    if let recording { writer = try CaptureWriter(path: recording) }
    let tap = TrafficTap(writer: writer, timers: timers, wallOffset: wallOffset)
    if replay == nil { explainer?.watch(tap) }
    return tap
  }
}
