import BluetoothCore
import CBlueZHCI
import EventLoop

/// A controller of this machine, ours alone (`HCI_CHANNEL_USER`): the kernel and bluetoothd have no such adapter
/// meanwhile. Above the transport, it is a controller like any other.
@BluetoothActor
public final class UserChannelTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)?
  public var droppedPackets: Int? { socket.packets.droppedPackets }

  private let index: AdapterIndex
  private let socket: HCISocket<UserChannel>
  /// What is to be restored at the end; nil if the adapter was down.
  private var taken: TakenAdapter?

  /// How long the driver may take to open or close a controller; some load its firmware first.
  static let takingTime = Duration.seconds(20)

  /// Takes an adapter, which has to be down. Cancelling the task ends the wait for the kernel; what it still does is
  /// undone as soon as it has done it.
  ///
  /// - Parameters:
  ///   - force: takes one that is up, too: it is brought down, its links end, and it is brought up again by
  ///     ``close()``, or by the next ``TakenAdapter/restoreAll()`` if this process does not get that far
  ///   - onWarning: told what ends by that
  public init(
    _ index: AdapterIndex, force: Bool, onWarning: (String) -> Void = { _ in }
  ) async throws(KernelError) {
    self.index = index
    let operation = "take \(index)"
    guard Capability.netAdmin.isEffective else { throw KernelError(operation, .missing(.netAdmin)) }
    guard let state = try await Controllers.list(isDetailed: false).first(where: { $0.index == index }) else {
      throw KernelError(operation, .noSuchAdapter)
    }
    guard !state.isTaken else { throw KernelError(operation, .adapterTaken) }
    if state.isUp {
      guard force else { throw KernelError(operation, .adapterUp) }
      let links = (try? HCIDevices.links(of: index)) ?? []
      for link in links { onWarning("the link of \(index) to \(link.peer) is ended") }
      let taken = try TakenAdapter(index, address: state.address)
      do throws(KernelError) {
        try await Self.call(operation) { () throws(KernelError) in try HCIDevices.bringDown(index) }
        socket = try await Self.take(index)
      } catch {
        taken.restore()
        throw error
      }
      self.taken = taken
    } else {
      socket = try await Self.take(index)
    }
  }

  private static func take(_ index: AdapterIndex) async throws(KernelError) -> HCISocket<UserChannel> {
    let socket = try HCISocket<UserChannel>()
    do throws(KernelError) {
      let descriptor = socket.packets.descriptor
      try await call("take \(index)") { () throws(KernelError) in
        try HCISocket<UserChannel>.take(index, with: descriptor)
      }
    } catch {
      socket.packets.close()
      throw error
    }
    return socket
  }

  /// Waits for a call that the driver of the controller may keep for long.
  private static func call(
    _ operation: String, _ work: @escaping @Sendable () throws(KernelError) -> Void
  ) async throws(KernelError) {
    let result = await KernelCall.run(deadline: takingTime) { () -> KernelError? in
      do throws(KernelError) { try work() } catch { return error }
      return nil
    }
    guard let result else {
      throw KernelError(operation, Task.isCancelled ? .cancelled : .kernelSilent)
    }
    if let error = result { throw error }
  }

  public func start() {
    socket.packets.onPacket = { [weak self] packet, time in self?.onPacket?(packet, time) }
    socket.packets.onClosed = { [weak self] error in
      guard let self else { return }
      let onClose = self.onClose
      self.onClose = nil
      onClose?(
        error.map { "\(index): \(KernelError.Reason(opening: $0, adapter: index))" }
          ?? "the kernel has closed \(index)")
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      onClose?("\(index): \(error)")
    }
  }

  public func send(_ packet: RawSpan) {
    socket.packets.send(packet)
  }

  public func close() {
    socket.packets.close()
    taken?.restore()
    taken = nil
  }
}
