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

  /// Takes an adapter, which has to be down.
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
        try HCIDevices.bringDown(index)
        socket = try HCISocket<UserChannel>(index)
      } catch {
        taken.restore()
        throw error
      }
      self.taken = taken
    } else {
      socket = try HCISocket<UserChannel>(index)
    }
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
