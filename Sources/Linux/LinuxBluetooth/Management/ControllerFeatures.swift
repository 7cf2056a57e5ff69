import HCI
import HaloBluetoothCore
import HaloEventLoop
import HaloSystemCalls

extension Controllers {
  /// Reads the link layer features of a controller shared with the kernel. It has to be up, and each command requires
  /// CAP_NET_RAW. It takes `HostController/commandDeadline` at most; a task that is cancelled returns at once.
  package static func features(of index: AdapterIndex) async throws(HCIError) -> LEFeatures {
    let socket: HCISocket<RawChannel>
    do throws(AdapterError) {
      socket = try HCISocket<RawChannel>(index, filter: .rawController)
    } catch {
      throw .adapter(error)
    }
    defer { socket.packets.close() }
    let controller = RawController(timers: EpollLoop.shared.timers) { socket.packets.send($0) }
    socket.packets.onPacket = { packet, time in controller.receive(packet, at: time) }
    socket.packets.onClosed = { error in
      let reason = error.map { AdapterError.Reason(opening: $0, adapter: index) } ?? .adapterRemoved
      controller.fail(.adapter(AdapterError("ask what \(index) can do", reason)))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw .adapter(AdapterError("ask what \(index) can do", .system(error)))
    }
    return try await awaitCallback { (done: @escaping (Result<LEFeatures, HCIError>) -> Void) in
      controller.readFeatures(completion: done)
      return { controller.fail(.cancelled) }
    }
  }
}
