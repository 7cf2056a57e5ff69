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
      let kernel = KernelAdapter(index)
      adapter = kernel
      let opened = try await kernelFailure { () async throws(KernelError) in
        try await kernel.open()
        return path == nil ? nil : try MonitorRecorder(index)
      }
      try Privileges.afterOpening(.rawSocket)
      if let path, let opened {
        let writer = try Self.writer(path)
        try await kernelFailure { () async throws(KernelError) in try opened.record(to: writer) }
        monitor = opened
      }
      return
    }
    let transport = try await Self.transport(spec, takes: invocation.has("--take"))
    replay = transport as? ReplayTransport
    do throws(Failure) {
      try Privileges.afterOpening(.other)
      if let path { recording = RecordingTransport(transport, writer: try Self.writer(path)) }
    } catch {
      // An adapter that was taken goes back.
      transport.close()
      throw error
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

  /// Makes the file of a recording, which belongs to whoever we are by now.
  private static func writer(_ path: String) throws(Failure) -> CaptureWriter {
    do throws(CaptureError) {
      return try CaptureWriter(path: path)
    } catch {
      throw Failure(error)
    }
  }

  /// Gives the kernel back what an earlier run has taken and, as it was killed, could not give back.
  private static func restoreAdapters() {
    for index in TakenAdapter.restoreAll() {
      Console.error("halo-raw: \(index) is up again; an earlier run had taken it, and was killed")
    }
  }
}

/// Runs something that fails with a ``KernelError``, and tells it as the program's failure.
@BluetoothActor
private func kernelFailure<Value>(
  _ work: @BluetoothActor () async throws(KernelError) -> Value
) async throws(Failure) -> Value {
  do throws(KernelError) {
    return try await work()
  } catch {
    throw Failure(error)
  }
}
