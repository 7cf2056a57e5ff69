import BluetoothCore
import Capture
import Central
import EventLoop
import GATTClient
import HCI
import LinuxBluetooth
import Recording
import VirtualRing

/// The adapter that a command line selects, opened, with its recording.
@BluetoothActor
struct OpenedAdapter {
  let adapter: any Adapter
  private(set) var replay: ReplayTransport?
  /// Sees the traffic; nil without `--record` and `--explain`.
  private(set) var tap: TrafficTap?
  /// The source of the tap for an adapter that the kernel drives.
  private(set) var monitor: MonitorTap?
  private var virtualClock: HostClock?
  /// Consequences to print if the process ends at once.
  private var unfinished: [Termination.Registration] = []

  init(_ spec: AdapterSpec, _ invocation: Invocation) async throws(Failure) {
    let observers = Observers(invocation)
    do {
      let transport: any HCITransport
      switch spec {
      case .kernel(let wanted):
        await Self.restoreAdapters()
        let index = try await Self.adapter(wanted)
        let kernel = KernelAdapter(index)
        adapter = kernel
        try await kernel.open()
        monitor = observers.isEmpty ? nil : try MonitorTap(.packets(of: index))
        // This may change the user: a recording belongs to the invoking user.
        try Privileges.afterOpening(.rawSocket)
        tap = try observers.tap(kernel.timers)
        if let tap { try monitor?.start(tap) }
        return
      case .user(let index):
        await Self.restoreAdapters()
        transport = try await UserChannelTransport(index, force: invocation[CommonOptions.take]) {
          Console.error("halo-raw: \($0)")
        }
        if invocation[CommonOptions.take] {
          unfinished.append(Termination.note("\(index) stays down until the next run of halo-raw"))
        }
      case .virtual(let options, let isFast):
        let timers = isFast ? EpollLoop.shared.makeVirtualTime().timers : EpollLoop.shared.timers
        let clock = Self.clock(of: options, timers)
        virtualClock = clock
        transport = VirtualTransport(options.set(by: clock), timers: timers)
      case .tcp(let host, let port): transport = try await HCIStreamTransport.tcp(host: host, port: port)
      case .unix(let path): transport = try await HCIStreamTransport.unix(path: path)
      case .serial(let path, let baud): transport = try HCIStreamTransport.serial(path: path, baud: baud)
      case .replay(let path, let options):
        let replay = try ReplayTransport(path: path, options, time: EpollLoop.shared.makeVirtualTime())
        self.replay = replay
        transport = replay
      }
      do {
        try Privileges.afterOpening(.other)
        tap = try observers.tap(transport.timers, replay, wallOffset: virtualClock?.wallOffset)
      } catch {
        // Give back an adapter that was taken.
        transport.close()
        await transport.finishClosing()
        throw error
      }
      adapter = HCIAdapter(
        tap.map { TappedTransport(transport, $0) } ?? transport, randomAddress: replay?.host.randomAddress)
    } catch let error as Failure {
      throw error
    } catch let error as CaptureError {
      throw Failure(error)
    } catch let error as AdapterError {
      throw Failure(error)
    } catch {
      throw Failure(.noAdapter, "\(error)")
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
    monitor?.close()
    if let lost = monitor?.droppedPackets, lost > 0 {
      let what = tap?.writer == nil ? "what was explained" : "the recording"
      Console.error(
        "\(what) lacks \(Console.counted(lost, "packet")): they arrived faster than they were read")
    }
    tap?.finishRecording()
  }

  /// Writes a note into the recording, if there is one.
  func record(_ note: SessionNote) {
    tap?.note(note.description)
  }

  /// The named adapter; without a name the first that is up and not taken, else the first.
  private static func adapter(_ wanted: AdapterIndex?) async throws(AdapterError) -> AdapterIndex {
    if let wanted { return wanted }
    let all = try await Controllers.list(isDetailed: false)
    guard let first = all.first(where: { $0.isUp && !$0.isTaken }) ?? all.first else {
      throw AdapterError("find an adapter", .noAdapters)
    }
    return first.index
  }

  /// Gives back to the kernel the adapters that a killed run had taken.
  private static func restoreAdapters() async {
    for index in await TakenAdapter.restoreAll() {
      Console.error("halo-raw: \(index) is up again; an earlier run had taken it, and was killed")
    }
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
