import BluetoothCore
import EventLoop

extension Controllers {
  /// Reads the link layer features of a controller shared with the kernel. It has to be up, and each command requires
  /// CAP_NET_RAW.
  public static func features(of index: AdapterIndex) async throws(HCIError) -> LEFeatures {
    let socket: HCISocket<RawChannel>
    do throws(KernelError) {
      socket = try HCISocket<RawChannel>(index, filter: RawController.filter)
    } catch {
      throw .kernel(error)
    }
    defer { socket.packets.close() }
    let controller = RawController(timers: EventLoop.shared.timers) { socket.packets.send($0) }
    socket.packets.onPacket = { packet, time in controller.receive(packet, at: time) }
    socket.packets.onClosed = { error in
      let reason = error.map { KernelError.Reason(opening: $0, adapter: index) } ?? .adapterRemoved
      controller.fail(.kernel(KernelError("ask what \(index) can do", reason)))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw .kernel(KernelError("ask what \(index) can do", .system(error)))
    }
    return try await awaitCallback { (done: @escaping (Result<LEFeatures, HCIError>) -> Void) in
      controller.readFeatures(completion: done)
      return { controller.fail(.cancelled) }
    }
  }
}
