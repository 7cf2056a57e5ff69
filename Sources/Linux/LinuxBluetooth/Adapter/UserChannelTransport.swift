import HCI
import HaloBluetoothCore
import HaloSystem

/// Exclusive access to a controller of this machine (`HCI_CHANNEL_USER`): the kernel and bluetoothd do not see the
/// adapter until it is released. Above the transport, it is a controller like any other.
@BluetoothActor
package final class UserChannelTransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)? {
    didSet { socket.packets.onPacket = onPacket }
  }
  package var onClose: ((String) -> Void)?
  package let timers = EpollLoop.shared.timers
  package var droppedPackets: Int? { droppedBefore + socket.packets.droppedPackets }
  package var name: String { index.description }

  /// Its number, which may change when the adapter is re-added.
  private var index: AdapterIndex
  private let address: BluetoothAddress
  private let force: Bool
  private let helper: AdapterHelper
  private var socket: HCISocket<UserChannel>
  private var droppedBefore = 0
  /// The record that the adapter has to be brought up at the end; nil if it was down.
  private let taken: TakenAdapter?
  private var closing: Task<Void, Never>?

  /// Opens the user channel of an adapter, which has to be down. Cancelling the task stops waiting for the kernel; an
  /// operation still in progress is undone once it completes.
  ///
  /// - Parameters:
  ///   - index: of the adapter: 0 for hci0
  ///   - force: allows an adapter that is up: it is brought down, its links end, and it is brought up again by
  ///     ``close()``, or, if that fails or this process ends before, by the next
  ///     ``TakenAdapter/restoreAll(recordedIn:)``
  ///   - folders: where that is recorded: the first that this user can write; not recorded if empty
  ///   - onWarning: called with the links and functions that end because of `force`
  package convenience init(
    _ index: AdapterIndex, force: Bool, recordedIn folders: [String] = [],
    onWarning: (String) -> Void = { _ in }
  ) async throws(StackError) {
    let operation = "take \(index)"
    guard Capability.netAdmin.isEffective else { throw StackError(operation, .missing(.netAdmin)) }
    guard let state = try await Controllers.state(of: index) else {
      throw StackError(operation, .noSuchAdapter)
    }
    if let obstacle = state.obstacle { throw StackError(operation, obstacle) }
    guard force || !state.isUp else { throw StackError(operation, .adapterUp) }
    let helper = try AdapterHelper(for: state.address)
    var taken: TakenAdapter?
    let descriptor: Int32
    do throws(StackError) {
      if state.isUp {
        let links = (try? HCIDevices.links(of: index)) ?? []
        for link in links { onWarning("the link of \(index) to \(link.peer) is ended") }
        taken = try TakenAdapter(index, address: state.address, in: folders)
        try await helper.bringDown(index)
      }
      descriptor = try await helper.take(index)
    } catch {
      await Self.giveBack(index, taken, helper).value
      throw error
    }
    self.init(
      index, address: state.address, force: force, descriptor: descriptor, taken: taken, helper: helper)
  }

  /// - Parameters:
  ///   - descriptor: of the user channel, opened by `helper`
  ///   - taken: the record that the adapter has to be brought up at the end; nil if it was down
  init(
    _ index: AdapterIndex, address: BluetoothAddress, force: Bool, descriptor: Int32, taken: TakenAdapter?,
    helper: AdapterHelper
  ) {
    self.index = index
    self.address = address
    self.force = force
    self.helper = helper
    self.taken = taken
    socket = HCISocket<UserChannel>(taken: descriptor)
  }

  isolated deinit {
    close()
  }

  package func start() {
    socket.packets.onPacket = onPacket
    socket.packets.onClosed = { [weak self] error in
      guard let self else { return }
      onClose.take()?(
        error.map { "\(index): \(StackError(opening: $0, adapter: index))" }
          ?? "the kernel has closed \(index)")
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      onClose?("\(index): \(error)")
    }
  }

  package func send(_ packet: RawSpan) {
    socket.packets.send(packet)
  }

  package var canReopen: Bool { true }

  /// Closes the adapter and opens it again, by its number, or by its address under another number: the driver switches
  /// the controller off and on.
  ///
  /// - Parameter time: not used: the driver gets 20 s for each step, as some load firmware first
  package func reopen(within time: Duration) async throws(StackError) {
    guard closing == nil else { throw .cancelled }
    droppedBefore += socket.packets.droppedPackets
    await Self.close(socket.packets)
    let found = try find()
    let descriptor = try await take(found)
    guard closing == nil else {
      KernelCall.close(descriptor)
      throw .cancelled
    }
    index = found
    socket = HCISocket<UserChannel>(taken: descriptor)
  }

  /// A newly plugged-in adapter has no address until the kernel has set it up.
  private func find() throws(StackError) -> AdapterIndex {
    let same = try HCIDevices.list().filter { $0.address == address }
    if let device = same.first(where: { $0.index == index }) { return device.index }
    guard let moved = same.first, address.value != 0 else {
      throw StackError("take \(index)", .adapterRemoved)
    }
    return moved.index
  }

  private func take(_ index: AdapterIndex) async throws(StackError) -> Int32 {
    do throws(StackError) {
      return try await helper.take(index)
    } catch {
      // The kernel, or bluetoothd, has switched it on.
      guard error.code == .adapterUp, force else { throw error }
      try await helper.bringDown(index)
      return try await helper.take(index)
    }
  }

  package func close() {
    guard closing == nil else { return }
    let (index, packets, taken, helper) = (index, socket.packets, taken, helper)
    closing = BluetoothActor.run {
      await Self.close(packets)
      await Self.giveBack(index, taken, helper).value
    }
  }

  package func finishClosing() async {
    await closing?.value
  }

  /// Returns when the kernel has closed the controller, within two seconds. It can't be cancelled: an adapter that is
  /// being closed can't be opened.
  private static func close(_ packets: PacketSocket) async {
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      packets.close { done(.success(())) }
      return {}
    }
  }

  /// Brings up an adapter that was up before, even if the task is cancelled.
  private static func giveBack(
    _ index: AdapterIndex, _ taken: TakenAdapter?, _ helper: AdapterHelper
  ) -> Task<Void, Never> {
    BluetoothActor.run {
      if let taken {
        do throws(StackError) {
          try await helper.bringUp(index)
          taken.forget()
        } catch {
          taken.leave()
        }
      }
      helper.close()
    }
  }
}
