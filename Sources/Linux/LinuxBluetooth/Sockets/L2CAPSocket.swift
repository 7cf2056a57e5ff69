import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The ATT channel of a link managed by the kernel: an L2CAP socket on the fixed channel 4 (Core Specification Vol 3,
/// Part A, 2.1). One write is one PDU, one read is one PDU.
@BluetoothActor
package final class L2CAPSocket {
  /// The kernel's number for the link, which is the connection handle; nil if unknown.
  package let handle: ConnectionHandle?

  /// The largest ATT PDU is 517 bytes. The buffer is larger, so that oversized PDUs are detected.
  private static let largestPDU = 1024
  /// How long a newly connected socket may report that it is not connected.
  private static let grace = Duration.seconds(1)

  /// Receives and sends PDUs. The kernel keeps the link for two seconds after it is closed, in case another program uses it.
  let packets: PacketSocket

  /// Takes over a connected socket.
  init(_ descriptor: Int32, handle: ConnectionHandle?, timers: Timers) throws(SystemError) {
    self.handle = handle
    packets = PacketSocket(
      descriptor: descriptor, largestPacket: Self.largestPDU, closesOnThread: true, timers: timers)
    try packets.start(grace: Self.grace)
  }

  static func handle(of descriptor: Int32) -> ConnectionHandle? {
    var handle: UInt16 = 0
    return KernelFunction.handle(descriptor, &handle) == 0 ? ConnectionHandle(rawValue: handle) : nil
  }

  /// Connects to a peer.
  ///
  /// - Parameters:
  ///   - peer: the address to connect to
  ///   - local: the adapter's address, by which the kernel selects the adapter; all zero for any
  ///   - deadline: how long to wait for the peer
  ///   - sockets: the pool of the socket
  ///   - timers: the clock of the deadline
  ///   - completion: called exactly once. PDUs may arrive immediately afterwards, so set the closures in here.
  /// - Returns: a closure that cancels: it closes the socket, and the kernel stops connecting
  static func connect(
    to peer: BluetoothAddress, from local: BluetoothAddress, deadline: Duration, sockets: L2CAPSocketPool,
    timers: Timers = EpollLoop.shared.timers,
    completion: @escaping (Result<L2CAPSocket, L2CAPConnectFailure>) -> Void
  ) -> () -> Void {
    KernelCall.prepareToClose()
    let attempt = ConnectAttempt(timers, completion)
    attempt.start(sockets, peer: peer, local: local, deadline: deadline)
    return { attempt.end(.failure(.cancelled)) }
  }

  /// The kernel's option for the security of the link. Tests replace it.
  var securityOption:
    (read: (Int32) -> KernelSecurityOption?, raise: (Int32, LESecurityLevel) throws(SystemError) -> Void) = (
      KernelSecurityOption.read, KernelSecurityOption.raise
    )

  /// The security of the link; nil if the kernel does not know.
  var security: KernelSecurityOption? { packets.isOpen ? securityOption.read(packets.descriptor) : nil }

  /// Has the kernel raise the security of the link; see ``KernelSecurityOption``.
  func raise(to level: LESecurityLevel) throws(SystemError) {
    try securityOption.raise(packets.descriptor, level)
  }

  /// The PHYs of the link; nil if the kernel does not know.
  package var phys: LinkPHYs? { packets.isOpen ? KernelPHY.phys(of: packets.descriptor) : nil }

  /// Whether the kernel lets programs choose the PHY of a link.
  package nonisolated static var offersPHYs: Bool { KernelPHY.isOffered }
}

/// A connection attempt. The closures that it returns keep it alive.
@BluetoothActor
private final class ConnectAttempt {
  private let completion: (Result<L2CAPSocket, L2CAPConnectFailure>) -> Void
  private var descriptor: Int32 = -1
  private var watch: EpollLoop.Watch?
  private let timers: Timers
  private(set) lazy var end = OneShot<Result<L2CAPSocket, L2CAPConnectFailure>> { result in
    self.watch?.cancel()
    self.watch = nil
    if self.descriptor >= 0 { KernelCall.close(self.descriptor, timers: self.timers) }
    self.descriptor = -1
    self.completion(result)
  }

  init(_ timers: Timers, _ completion: @escaping (Result<L2CAPSocket, L2CAPConnectFailure>) -> Void) {
    self.timers = timers
    self.completion = completion
  }

  func start(
    _ sockets: L2CAPSocketPool, peer: BluetoothAddress, local: BluetoothAddress, deadline: Duration
  ) {
    do throws(SystemError) {
      descriptor = try sockets.take()
      try bindAndConnect(peer: peer, local: local)
      end.expire(after: deadline, in: timers, with: .failure(.deadline))
      watch = try EpollLoop.shared.watch(descriptor, for: .writable) { _ in self.settle() }
    } catch {
      // Called from the loop, as the caller does not have the closure that cancels yet.
      end.expire(after: .zero, in: timers, with: .failure(.system(error)))
    }
  }

  private func bindAndConnect(peer: BluetoothAddress, local: BluetoothAddress) throws(SystemError) {
    // Binding to the channel, and LE address types on both sides, are required, or connect fails with EINVAL.
    let descriptor = self.descriptor
    try retryingInterrupts("bind") {
      KernelAddress.l2cap(local).withPointer { SystemCall.bind(descriptor, $0, $1) }
    }
    let result = KernelAddress.l2cap(peer).withPointer { address, length in
      SystemCall.perform(.connect, descriptor, 0) { _ in Int(Glibc.connect(descriptor, address, length)) }
    }
    guard result == 0 || errno == EINPROGRESS || errno == EINTR else { throw .last("connect") }
  }

  /// Writable means that the attempt has completed; SO_ERROR has the result.
  private func settle() {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    if result != 0 { code = errno }
    guard code == 0 else { return _ = end(.failure(.system(SystemError("connect", errno: code)))) }
    watch.take()?.cancel()
    let connected = descriptor
    descriptor = -1
    do throws(SystemError) {
      end(.success(try L2CAPSocket(connected, handle: L2CAPSocket.handle(of: connected), timers: timers)))
    } catch {
      end(.failure(.system(error)))
    }
  }
}
