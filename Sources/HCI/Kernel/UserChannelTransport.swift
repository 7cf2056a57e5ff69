import BluetoothCore
import EventLoop

/// A controller of this machine, ours alone (`HCI_CHANNEL_USER`): for the kernel and bluetoothd there is no such adapter
/// until it is given back. Above the transport, it is a controller like any other.
@BluetoothActor
public final class UserChannelTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)?
  public var droppedPackets: Int? { droppedBefore + socket.packets.droppedPackets }
  public var name: String { index.description }

  /// Its number; it may come back under another one.
  private var index: AdapterIndex
  private let address: BluetoothAddress
  private let force: Bool
  private let helper: AdapterHelper
  private var socket: HCISocket<UserChannel>
  private var droppedBefore = 0
  /// The note that it is to be brought up at the end; nil if the adapter was down.
  private let taken: TakenAdapter?
  private var closing: Task<Void, Never>?

  /// Takes an adapter, which has to be down. Cancelling the task ends the wait for the kernel; what it still does is
  /// undone as soon as it has done it.
  ///
  /// - Parameters:
  ///   - force: takes one that is up, too: it is brought down, its links end, and it is brought up again by
  ///     ``close()``, or by the next ``TakenAdapter/restoreAll()`` if this process does not get that far
  ///   - onWarning: called with what ends by that
  public init(
    _ index: AdapterIndex, force: Bool, onWarning: (String) -> Void = { _ in }
  ) async throws(KernelError) {
    let operation = "take \(index)"
    guard Capability.netAdmin.isEffective else { throw KernelError(operation, .missing(.netAdmin)) }
    guard let state = try await Controllers.list(isDetailed: false).first(where: { $0.index == index }) else {
      throw KernelError(operation, .noSuchAdapter)
    }
    guard !state.isTaken else { throw KernelError(operation, .adapterTaken) }
    guard force || !state.isUp else { throw KernelError(operation, .adapterUp) }
    let helper = try AdapterHelper(for: state.address)
    var taken: TakenAdapter?
    do throws(KernelError) {
      if state.isUp {
        let links = (try? HCIDevices.links(of: index)) ?? []
        for link in links { onWarning("the link of \(index) to \(link.peer) is ended") }
        taken = try TakenAdapter(index, address: state.address)
        try await helper.bringDown(index)
      }
      socket = HCISocket<UserChannel>(taken: try await helper.take(index))
    } catch {
      await Self.giveBack(index, taken, helper).value
      throw error
    }
    self.index = index
    self.address = state.address
    self.force = force
    self.helper = helper
    self.taken = taken
  }

  isolated deinit {
    close()
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

  /// Gives the adapter back and takes it again, with its number or with its address under another: the driver switches
  /// the controller off and on.
  public func reopen(within time: Duration) async throws(HCIError) {
    guard closing == nil else { throw .cancelled }
    droppedBefore += socket.packets.droppedPackets
    await Self.close(socket.packets)
    do throws(KernelError) {
      let found = try find()
      let descriptor = try await take(found)
      guard closing == nil else {
        KernelCall.close(descriptor)
        throw KernelError("take \(found)", .cancelled)
      }
      index = found
      socket = HCISocket<UserChannel>(taken: descriptor)
    } catch {
      throw error.reason == .cancelled ? .cancelled : .kernel(error)
    }
  }

  /// One that was plugged in has no address until the kernel has set it up.
  private func find() throws(KernelError) -> AdapterIndex {
    let same = try HCIDevices.list().filter { $0.address == address }
    if let device = same.first(where: { $0.index == index }) { return device.index }
    guard let moved = same.first, address.value != 0 else {
      throw KernelError("take \(index)", .adapterRemoved)
    }
    return moved.index
  }

  private func take(_ index: AdapterIndex) async throws(KernelError) -> Int32 {
    do throws(KernelError) {
      return try await helper.take(index)
    } catch {
      // The kernel, or bluetoothd, has switched it on.
      guard error.reason == .adapterUp, force else { throw error }
      try await helper.bringDown(index)
      return try await helper.take(index)
    }
  }

  public func close() {
    guard closing == nil else { return }
    let (index, packets, taken, helper) = (index, socket.packets, taken, helper)
    closing = EventLoop.run {
      await Self.close(packets)
      await Self.giveBack(index, taken, helper).value
    }
  }

  public func finishClosing() async {
    await closing?.value
  }

  /// Returns when the kernel has closed the controller, after two seconds at the latest.
  private static func close(_ packets: PacketSocket) async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      packets.close { done(.success(())) }
      return {}
    }
  }

  /// Brings an adapter up that was so before; a task that is cancelled does not keep that from being done.
  private static func giveBack(
    _ index: AdapterIndex, _ taken: TakenAdapter?, _ helper: AdapterHelper
  ) -> Task<Void, Never> {
    EventLoop.run {
      if let taken {
        try? await helper.bringUp(index)
        taken.forget()
      }
      helper.close()
    }
  }
}
