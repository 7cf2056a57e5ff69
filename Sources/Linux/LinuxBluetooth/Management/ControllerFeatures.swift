import HCI
import HaloBluetoothCore
import HaloEventLoop
import HaloSystemCalls

extension Controllers {
  /// Reads the link layer features of a controller shared with the kernel. It has to be up, and each command requires
  /// CAP_NET_RAW. It takes `HostController/commandDeadline` at most; a task that is cancelled returns at once.
  package static func features(of index: AdapterIndex) async throws(StackError) -> LEFeatures {
    let socket = try HCISocket<RawChannel>(index, filter: .rawController)
    defer { socket.packets.close() }
    let controller = RawController(timers: EpollLoop.shared.timers) { socket.packets.send($0) }
    socket.packets.onPacket = { packet, arrival in controller.receive(packet, at: arrival.time) }
    socket.packets.onClosed = { error in
      let reason = error.map { StackError(opening: $0, adapter: index) } ?? .adapterRemoved
      controller.fail(StackError("ask what \(index) can do", reason))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("ask what \(index) can do", .system(error))
    }
    return try await awaitCallback { (done: @escaping (Result<LEFeatures, StackError>) -> Void) in
      controller.readFeatures(completion: done)
      return { controller.fail(.cancelled) }
    }
  }
}
