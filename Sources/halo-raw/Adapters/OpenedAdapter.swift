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

  init(_ spec: AdapterSpec, _ invocation: Invocation) async throws(Failure) {
    let path = invocation.text("--record")
    if case .kernel(let wanted) = spec {
      Self.restoreAdapters()
      let index = try await Self.adapter(wanted)
      if let path { monitor = try Self.monitor(index, path) }
      adapter = KernelAdapter(index)
      return
    }
    let transport = try await Self.transport(spec, takes: invocation.has("--take"))
    replay = transport as? ReplayTransport
    if let path {
      do throws(CaptureError) {
        recording = RecordingTransport(transport, writer: try CaptureWriter(path: path))
      } catch {
        // An adapter that was taken goes back.
        transport.close()
        throw Failure(error)
      }
    }
    adapter = HCIAdapter(recording ?? transport, randomAddress: replay?.randomAddress)
  }

  private static func transport(
    _ spec: AdapterSpec, takes: Bool
  ) async throws(Failure) -> any HCITransport {
    do {
      switch spec {
      case .kernel: preconditionFailure("the kernel's own way has no transport")
      case .user(let index):
        restoreAdapters()
        return try await UserChannelTransport(index, force: takes) { Console.error("halo-raw: \($0)") }
      case .virtual(let options, let isFast):
        if isFast { EventLoop.shared.useVirtualTime() }
        return VirtualTransport(options)
      case .tcp(let host, let port): return try await HCIStreamTransport.tcp(host: host, port: port)
      case .unix(let path): return try await HCIStreamTransport.unix(path: path)
      case .serial(let path, let baud): return try HCIStreamTransport.serial(path: path, baud: baud)
      case .replay(let path, let strictness): return try ReplayTransport(path: path, strictness: strictness)
      }
    } catch let error as CaptureError {
      throw Failure(error)
    } catch let error as KernelError {
      throw Failure(error)
    } catch {
      throw Failure(.noAdapter, "\(error)")
    }
  }

  /// The adapter that is meant: without a name the first that is up and nobody's, else the first.
  private static func adapter(_ wanted: AdapterIndex?) async throws(Failure) -> AdapterIndex {
    if let wanted { return wanted }
    do throws(KernelError) {
      let all = try await Controllers.list(isDetailed: false)
      guard let first = all.first(where: { $0.isUp && !$0.isTaken }) ?? all.first else {
        throw KernelError("find an adapter", .noAdapters)
      }
      return first.index
    } catch {
      throw Failure(error)
    }
  }

  private static func monitor(_ index: AdapterIndex, _ path: String) throws(Failure) -> MonitorRecorder {
    do {
      return try MonitorRecorder(index, writer: try CaptureWriter(path: path))
    } catch let error as CaptureError {
      throw Failure(error)
    } catch let error as KernelError {
      throw Failure(error)
    } catch {
      throw Failure(.noAdapter, "\(error)")
    }
  }

  /// Gives the kernel back what an earlier run has taken and, as it was killed, could not give back.
  private static func restoreAdapters() {
    for index in TakenAdapter.restoreAll() {
      Console.error("halo-raw: \(index) is up again; an earlier run had taken it, and was killed")
    }
  }
}
