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
  private(set) var recording: RecordingTransport?
  private(set) var monitor: MonitorRecorder?
  private var virtualClock: HostClock?

  init(_ spec: AdapterSpec, _ invocation: Invocation) async throws(Failure) {
    let path = invocation.text("--record")
    do {
      let transport: any HCITransport
      switch spec {
      case .kernel(let wanted):
        Self.restoreAdapters()
        let index = try await Self.adapter(wanted)
        let kernel = KernelAdapter(index)
        adapter = kernel
        try await kernel.open()
        monitor = path == nil ? nil : try MonitorRecorder(index)
        // From here on we may be somebody else: a recording belongs to whoever has called us.
        try Privileges.afterOpening(.rawSocket)
        if let path { try monitor?.record(to: try CaptureWriter(path: path)) }
        return
      case .user(let index):
        Self.restoreAdapters()
        transport = try await UserChannelTransport(index, force: invocation.has("--take")) {
          Console.error("halo-raw: \($0)")
        }
      case .virtual(let options, let isFast):
        if isFast { EventLoop.shared.useVirtualTime() }
        let clock = Self.clock(of: options)
        virtualClock = clock
        transport = VirtualTransport(options.set(by: clock))
      case .tcp(let host, let port): transport = try await HCIStreamTransport.tcp(host: host, port: port)
      case .unix(let path): transport = try await HCIStreamTransport.unix(path: path)
      case .serial(let path, let baud): transport = try HCIStreamTransport.serial(path: path, baud: baud)
      case .replay(let path, let strictness):
        let replay = try ReplayTransport(path: path, strictness: strictness)
        if let commands = replay.kernelCommands { throw Failure(recordedBesideKernel: path, commands) }
        self.replay = replay
        transport = replay
      }
      let wallOffset = virtualClock?.wallOffset
      do {
        try Privileges.afterOpening(.other)
        recording = try path.map { path in
          RecordingTransport(
            transport, writer: try CaptureWriter(path: path), wallOffset: wallOffset)
        }
      } catch {
        // An adapter that was taken goes back.
        transport.close()
        throw error
      }
      adapter = HCIAdapter(recording ?? transport, randomAddress: replay?.randomAddress)
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
      return HostClock(wallOffset: replay.wallOffset, utcOffset: SessionNote.all(in: replay.notes).utcOffset)
    }
    if let virtualClock { return virtualClock }
    guard let recording else { return HostClock() }
    return HostClock(wallOffset: recording.wallOffset, utcOffset: Self.utcOffset)
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

  /// Writes a remark into the recording, if there is one.
  func record(_ note: SessionNote) {
    recording?.note(note.description)
    monitor?.note(note.description)
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
  private static func restoreAdapters() {
    for index in TakenAdapter.restoreAll() {
      Console.error("halo-raw: \(index) is up again; an earlier run had taken it, and was killed")
    }
  }
}
