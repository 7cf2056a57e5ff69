import HCI
import HaloBluetoothCore
import HaloSystem

/// The kernel's Bluetooth management interface: the list of adapters, their power state and the parameters of new
/// links. Reading requires no privilege; changes require CAP_NET_ADMIN when this object is created.
@BluetoothActor
package final class Management {
  /// Called for each event that is not an answer.
  package var onEvent: ((ManagementEvent, AdapterIndex) -> Void)? {
    get { queue.onEvent }
    set { queue.onEvent = newValue }
  }

  /// Whether the kernel takes commands that change something.
  package let isPrivileged = Capability.netAdmin.isEffective

  private let socket: HCISocket<ControlChannel>
  let queue: ManagementQueue
  var descriptor: Int32 { socket.packets.descriptor }

  package init() throws(StackError) {
    let socket = try HCISocket<ControlChannel>()
    self.socket = socket
    queue = ManagementQueue(timers: EpollLoop.shared.timers) { packet in socket.packets.send(packet) }
    socket.packets.onPacket = { [queue] packet, _ in queue.receive(packet) }
    socket.packets.onClosed = { [queue] error in
      let reason = error.map { StackError(opening: $0) } ?? .connectionEnded
      queue.fail(StackError("reach the kernel's Bluetooth management", reason))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("reach the kernel's Bluetooth management", .system(error))
    }
  }

  /// Sends a command.
  ///
  /// - Parameters:
  ///   - command: the command with its parameters
  ///   - index: of the adapter; `.none` for commands without one
  ///   - completion: called exactly once, within three seconds
  package func send<Response>(
    _ command: ManagementCommand<Response>, to index: AdapterIndex = .none,
    completion: @escaping (Result<Response, StackError>) -> Void
  ) {
    queue.enqueue(command, to: index, completion: completion)
  }

  /// Sends a command and waits for the answer: for at most three seconds, or until the task is cancelled, which does
  /// not cancel the command.
  package func send<Response>(
    _ command: ManagementCommand<Response>, to index: AdapterIndex = .none
  ) async throws(StackError) -> Response {
    try await awaitCallback { (done: @escaping (Result<Response, StackError>) -> Void) in
      queue.enqueue(command, to: index, completion: done)
    }
  }

  /// Ends the connection to the kernel.
  package func close() {
    socket.packets.close()
  }
}
