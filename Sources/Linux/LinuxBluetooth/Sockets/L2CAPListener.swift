import Glibc
import HaloBluetoothCore
import HaloSystem

/// Takes the ATT channels of the links that centrals make, with a socket that listens on the fixed channel 4.
///
/// Several programs may listen: the kernel gives each link to the one that began last. bluetoothd listens, too, so that a
/// program that began before gets no links once it has started.
@BluetoothActor
final class L2CAPListener {
  /// Links that wait to be accepted.
  private static let backlog: Int32 = 8

  private let address: BluetoothAddress
  private let timers: Timers
  private let accept: (L2CAPSocket, BluetoothAddress) -> Void
  private var socket: ListeningSocket?

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
    socket = try listen()
  }

  /// Listens anew, so that this program is the last one that began to.
  func listenAnew() throws(SystemError) {
    socket = nil
    socket = try listen()
  }

  private func listen() throws(SystemError) -> ListeningSocket {
    try ListeningSocket(
      AF_BLUETOOTH, SOCK_SEQPACKET, KernelABI.protocolL2CAP, backlog: Self.backlog, timers: timers
    ) { [address] listener in
      KernelAddress.l2cap(address).withPointer { SystemCall.bind(listener, $0, $1) }
    } accept: { [weak self] in
      self?.take($0)
    }
  }

  private func take(_ link: Int32) {
    // A link that is gone again has no peer.
    guard let peer = KernelAddress.l2capPeer(of: link),
      let socket = try? L2CAPSocket(link, handle: L2CAPSocket.handle(of: link), timers: timers)
    else { return KernelCall.close(link, timers: timers) }
    accept(socket, peer)
  }
}

/// L2CAP sockets with a large receive buffer, for connection attempts to come.
///
/// A buffer beyond the system's limit requires CAP_NET_ADMIN when its size is set (`SO_RCVBUFFORCE`), but links are made
/// after the process has dropped it. Within the limit of 208 KiB a program that is held up loses notifications after 530.
@BluetoothActor
final class L2CAPSocketPool {
  /// A link takes one, and so does each repeated attempt.
  private static let size = 8

  private var descriptors: [Int32] = []

  /// Opens the sockets. Without CAP_NET_ADMIN the stock is empty.
  init() {
    guard Capability.netAdmin.isEffective else { return }
    for _ in 0..<Self.size {
      guard let descriptor = try? Self.open() else { return }
      PacketSocket.raiseReceiveBuffer(of: descriptor)
      descriptors.append(descriptor)
    }
  }

  /// - Parameter descriptors: sockets to take, the last one first
  init(_ descriptors: [Int32]) {
    self.descriptors = descriptors
  }

  isolated deinit {
    for descriptor in descriptors { Glibc.close(descriptor) }
  }

  /// A socket that is neither bound nor connected; the caller closes it. When the stock is used up, a new one, whose buffer
  /// the system limits.
  func take() throws(SystemError) -> Int32 {
    if let descriptor = descriptors.popLast() { return descriptor }
    return try Self.open()
  }

  private static func open() throws(SystemError) -> Int32 {
    try retryingInterrupts("socket") {
      SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, KernelABI.protocolL2CAP)
    }
  }
}
