import Glibc
import HCI
import HaloBluetoothCore
import HaloEventLoop
import HaloSystemCalls

/// Takes the ATT channels of the links that centrals make, with a socket that listens on the fixed channel 4.
///
/// Several programs may listen: the kernel gives each link to the one that began last. bluetoothd listens, too, so that a
/// program that was there first gets no links from its start on.
@BluetoothActor
final class L2CAPListener {
  /// How long no link is accepted after the process has run out of descriptors.
  private static let pauseTime = Duration.milliseconds(200)
  /// Links that wait to be accepted.
  private static let backlog: Int32 = 8

  private let address: BluetoothAddress
  private let timers: Timers
  private let accept: (L2CAPSocket, BluetoothAddress) -> Void
  private var descriptor: Int32 = -1
  private var watch: EpollLoop.Watch?
  private var retry: Timers.Token?

  /// - Parameters:
  ///   - address: the adapter's, by which the kernel selects the adapter; all zero for any
  ///   - timers: the clock of the links
  ///   - accept: called with the socket of each link, and the address of the central. PDUs may arrive immediately
  ///     afterwards, so set the closures in here.
  init(
    at address: BluetoothAddress, timers: Timers,
    accept: @escaping (L2CAPSocket, BluetoothAddress) -> Void
  ) throws(SystemError) {
    self.address = address
    self.timers = timers
    self.accept = accept
    KernelCall.prepareToClose()
    try listen()
  }

  isolated deinit {
    close()
  }

  /// Listens anew, so that this program is the last one that began to.
  func listenAnew() throws(SystemError) {
    close()
    try listen()
  }

  func close() {
    timers.cancel(retry.take())
    watch.take()?.cancel()
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  private func listen() throws(SystemError) {
    let listener = try retryingInterrupts("socket") {
      SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, KernelABI.protocolL2CAP)
    }
    descriptor = listener
    let address = self.address
    do throws(SystemError) {
      try retryingInterrupts("bind") {
        KernelAddress.l2cap(address).withPointer { SystemCall.bind(listener, $0, $1) }
      }
      try retryingInterrupts("listen") { SystemCall.listen(listener, Self.backlog) }
      try start()
    } catch {
      close()
      throw error
    }
  }

  private func start() throws(SystemError) {
    watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] _ in self?.acceptOne() }
  }

  private func acceptOne() {
    let listener = descriptor
    let link = SystemCall.perform(.accept, on: listener) { Linux.accept(listener) }
    guard link >= 0 else {
      if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
      return
    }
    // A link that is gone again has no peer.
    guard let peer = KernelAddress.l2capPeer(of: link),
      let socket = try? L2CAPSocket(link, handle: L2CAPSocket.handle(of: link), timers: timers)
    else { return KernelCall.close(link, timers: timers) }
    accept(socket, peer)
  }

  /// The waiting link keeps the socket readable: without a pause the loop would spin.
  private func pause() {
    watch.take()?.cancel()
    retry = timers.schedule(after: Self.pauseTime) { [weak self] in
      guard let self else { return }
      retry = nil
      do throws(SystemError) { try start() } catch { pause() }
    }
  }
}
