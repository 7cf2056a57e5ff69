import BluetoothCore
import Capture
import EventLoop
import GATTClient
import HCI
import VirtualRing

/// The adapter that a command line names, opened, with the recording that it asks for.
@BluetoothActor
struct OpenedAdapter {
  let adapter: any Adapter
  private(set) var replay: ReplayTransport?
  /// What looks at the traffic; nil if nobody asks for it.
  private(set) var tap: TrafficTap?
  /// What fills the tap, where the kernel has the adapter.
  private(set) var monitor: MonitorTap?
  private var virtualClock: HostClock?
  /// What stays undone if the process ends at once.
  private var unfinished: [Termination.Registration] = []

  init(_ spec: AdapterSpec, _ invocation: Invocation) async throws(Failure) {
    let observers = try Observers(invocation)
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
        // From here on we may be somebody else: a recording belongs to whoever has called us.
        try Privileges.afterOpening(.rawSocket)
        tap = try observers.tap()
        if let tap { try monitor?.start(tap) }
        return
      case .user(let index):
        await Self.restoreAdapters()
        transport = try await UserChannelTransport(index, force: invocation.has("--take")) {
          Console.error("halo-raw: \($0)")
        }
        if invocation.has("--take") {
          unfinished.append(Termination.note("\(index) stays down until halo-raw uses an adapter again"))
        }
      case .virtual(let options, let isFast):
        if isFast { EventLoop.shared.useVirtualTime() }
        let clock = Self.clock(of: options)
        virtualClock = clock
        transport = VirtualTransport(options.set(by: clock))
      case .tcp(let host, let port): transport = try await HCIStreamTransport.tcp(host: host, port: port)
      case .unix(let path): transport = try await HCIStreamTransport.unix(path: path)
      case .serial(let path, let baud): transport = try HCIStreamTransport.serial(path: path, baud: baud)
      case .replay(let path, let options):
        let replay = try ReplayTransport(path: path, options)
        self.replay = replay
        transport = replay
      }
      do {
        try Privileges.afterOpening(.other)
        tap = try observers.tap(replay, wallOffset: virtualClock?.wallOffset)
      } catch {
        // An adapter that was taken goes back.
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
    } catch let error as KernelError {
      throw Failure(error)
    } catch {
      throw Failure(.noAdapter, "\(error)")
    }
  }

  /// The clock by which the session lives, and with it its recording and its replay.
  var clock: HostClock {
    if let replay {
      return HostClock(
        wallOffset: replay.wallOffset, utcOffset: SessionNote.all(in: replay.host.notes).utcOffset)
    }
    if let virtualClock { return virtualClock }
    guard let tap else { return HostClock() }
    return HostClock(wallOffset: tap.wallOffset, utcOffset: Self.utcOffset)
  }

  private static var utcOffset: Int {
    HostClock.machineOffset(atUnix: Int(SystemClock.wallMicroseconds / 1_000_000))
  }

  /// The host of a virtual ring lives by the time that the ring was given: the same happens each time.
  private static func clock(of options: VirtualRingOptions) -> HostClock {
    let loopTime = EventLoop.shared.now.nanoseconds / 1000
    guard let time = options.clock else {
      return HostClock(wallOffset: SystemClock.wallMicroseconds - loopTime, utcOffset: utcOffset)
    }
    return HostClock(wallOffset: Int64(time.seconds) * 1_000_000 - loopTime, utcOffset: 0)
  }

  /// Ends what looks at the traffic, waits for the recording to be written, and says what it lacks.
  func finishRecording() {
    monitor?.close()
    if let lost = monitor?.droppedPackets, lost > 0 {
      let what = tap?.writer == nil ? "what was explained" : "the recording"
      Console.error(
        "\(what) lacks \(Console.counted(lost, "packet")): they came faster than they were fetched")
    }
    tap?.finishRecording()
  }

  /// Writes a remark into the recording, if there is one.
  func record(_ note: SessionNote) {
    tap?.note(note.description)
  }

  /// The adapter that is meant: without a name the first that is up and nobody's, else the first.
  private static func adapter(_ wanted: AdapterIndex?) async throws(KernelError) -> AdapterIndex {
    if let wanted { return wanted }
    let all = try await Controllers.list(isDetailed: false)
    guard let first = all.first(where: { $0.isUp && !$0.isTaken }) ?? all.first else {
      throw KernelError("find an adapter", .noAdapters)
    }
    return first.index
  }

  /// Gives the kernel back what an earlier run has taken and, as it was killed, could not give back.
  private static func restoreAdapters() async {
    for index in await TakenAdapter.restoreAll() {
      Console.error("halo-raw: \(index) is up again; an earlier run had taken it, and was killed")
    }
  }
}

/// Who wants to see the traffic.
@BluetoothActor
private struct Observers {
  let recording: String?
  let explainer: Explainer?

  init(_ invocation: Invocation) throws(Failure) {
    recording = invocation.text("--record")
    explainer = try Explainer(invocation)
  }

  var isEmpty: Bool { recording == nil && explainer == nil }

  /// Makes the recording's file: to be called when the privileges are given up, so that it belongs to whoever has
  /// called us.
  ///
  /// - Parameter replay: what is played, if it is a recording: it is explained as it was recorded
  /// - Returns: nil if nobody wants to see anything
  func tap(_ replay: ReplayTransport? = nil, wallOffset: Int64? = nil) throws(CaptureError) -> TrafficTap? {
    if let replay { explainer?.watch(replay) }
    guard recording != nil || explainer != nil && replay == nil else { return nil }
    var writer: CaptureWriter?
    if let recording { writer = try CaptureWriter(path: recording) }
    let tap = TrafficTap(writer: writer, wallOffset: wallOffset)
    if replay == nil { explainer?.watch(tap) }
    return tap
  }
}
