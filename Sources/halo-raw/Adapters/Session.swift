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

  /// What the clock of a virtual ring said at the start; nil for other rings.
  private let virtualClock: RingTime?
  private let replay: ReplayTransport?
  private let monitor: MonitorRecorder?
  let request: ConnectionRequest
  let selector: RingSelector
  let scanParameters: ScanParameters
  var known: KnownRings
  private var failure: Failure?

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
    await session.central.stop()
    session.monitor?.close()
    // What went wrong underneath explains what went wrong above.
    try session.conclude(result)
  }

  private init(_ invocation: Invocation) async throws(Failure) {
    let text = invocation.text("--adapter") ?? getenv("HALO_ADAPTER").map { String(cString: $0) }
    let spec = try text.map { text throws(Failure) in try AdapterSpec(text) } ?? .kernel(nil)
    if invocation.has("--take") {
      guard case .user = spec else {
        throw .usage("--take belongs to --adapter user:hciN, where an adapter is taken from the kernel")
      }
    }
    selector = invocation.positionals.first.map { RingSelector($0) } ?? .anyRing
    isVerbose = invocation.has("--verbose")
    scanParameters = invocation.has("--aggressive") ? .aggressive : .gentle
    request = try ConnectionRequest(invocation)
    let interruption = Interruption()
    self.interruption = interruption
    let opened = try await interruption.cancels { () async throws(Failure) in
      try await OpenedAdapter(spec, invocation)
    }
    // What is simulated or recorded is always found and discovered anew, so that a recording is complete in itself.
    let remembers = spec.isReal && invocation.text("--record") == nil
    known = KnownRings(path: remembers ? KnownRings.standardPath : nil)
    virtualClock = if case .virtual(let options, _) = spec { options.clock } else { nil }
    replay = opened.replay
    monitor = opened.monitor
    central = Central(opened.adapter)
    opened.recording?.onRecordingFailure = { [weak self] error in self?.fail(Failure(error)) }
    monitor?.onFailure = { [weak self] error in self?.fail(Failure(error)) }
    (opened.adapter as? KernelAdapter)?.onNote = { [weak self] text in self?.note(text) }
    replay?.onInterrupt = { [weak self] in self?.interruption.come() }
    central.onScanFailure = { [weak self] error in self?.fail(Failure(error)) }
    central.onFailure = { [weak self] error in self?.fail(Failure(error)) }
  }

  private func start() async throws(Failure) {
    do throws(HCIError) {
      let adapter = try await central.start()
      note(
        "adapter \(adapter.address), Bluetooth \(adapter.version), "
          + (adapter.usesExtendedScan ? "extended" : "legacy") + " scanning")
    } catch {
      throw Failure(error)
    }
  }

  /// Something underneath has failed: the command is ended, and this is the reason that is told.
  private func fail(_ failure: Failure) {
    if self.failure == nil { self.failure = failure }
    interruption.come()
  }

  private func conclude(_ result: Result<Void, Failure>) throws(Failure) {
    guard let replay else {
      if let failure { throw failure }
      return try result.get()
    }
    let report = replay.report
    if let difference = report.firstDifference {
      throw Failure(
        .replayDiffers,
        "the replay differs from the recording in \(report.differences) packets, first in this: \(difference)"
      )
    }
    if report.endedEarly {
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

  /// What the ring's clock should say: the time of this machine, or that of a recording that is replayed.
  var ringTime: RingTime {
    let clock = HostClock()
    return virtualClock ?? replay?.recordedStart.map { clock.time(ofUnix: Int($0 / 1_000_000)) } ?? clock.now
  }

  /// Whether nothing underneath has failed.
  var canGoOn: Bool { failure == nil && !interruption.hasCome }

  /// Tells what happens on the link, if it is asked for.
  func note(_ line: @autoclosure () -> String) {
    if isVerbose { Console.error(line()) }
  }
}
