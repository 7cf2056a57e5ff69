import BluetoothCore
import CBlueZHCI
import EventLoop
import Glibc
import HCI

/// The ATT channel of a link that the kernel makes and keeps: an L2CAP socket on the fixed channel 4
/// (Core Specification Vol 3, Part A, 2.1). One write is one PDU, one read is one PDU.
@BluetoothActor
public final class L2CAPSocket {
  /// Called for each PDU, with the time at which the kernel received it. The span is valid only during the call.
  public var onPDU: ((RawSpan, Instant) -> Void)? {
    get { packets.onPacket }
    set { packets.onPacket = newValue }
  }
  /// Called once, when the link is gone, with the kernel's reason; nil if it ended in order. Not after ``close()``.
  public var onClosed: ((SystemError?) -> Void)? {
    get { packets.onClosed }
    set { packets.onClosed = newValue }
  }
  /// Called when the kernel had to drop PDUs, because they were not read in time: with how many by now.
  public var onDrops: ((UInt32) -> Void)? {
    get { packets.onDrops }
    set { packets.onDrops = newValue }
  }
  /// How many PDUs that were by now.
  public var droppedPackets: Int { packets.droppedPackets }
  /// Whether there is room for a PDU that can wait.
  public var hasRoom: Bool { packets.hasRoom }
  /// Called when there is room again, after ``hasRoom`` was false.
  public var onRoom: (() -> Void)? {
    get { packets.onRoom }
    set { packets.onRoom = newValue }
  }
  /// The kernel's number for the link, which is the controller's; nil if unknown.
  public let handle: ConnectionHandle?

  /// The largest ATT PDU is 517 bytes. More is read, so that a peer that sends more is found out by its length.
  private static let largestPDU = 1024
  /// For how long a socket that has just been connected may say that it is not.
  private static let grace = Duration.seconds(1)

  private let packets: PacketSocket

  fileprivate init(_ descriptor: Int32) throws(SystemError) {
    var information = l2cap_conninfo()
    var length = socklen_t(MemoryLayout<l2cap_conninfo>.size)
    let result = getsockopt(descriptor, SOL_L2CAP, L2CAP_CONNINFO, &information, &length)
    handle = result == 0 ? ConnectionHandle(rawValue: information.hci_handle) : nil
    packets = PacketSocket(descriptor: descriptor, largestPacket: Self.largestPDU, closesOnThread: true)
    try packets.start(grace: Self.grace)
  }

  /// Connects to a peer.
  ///
  /// - Parameters:
  ///   - local: the adapter's address, which is how the kernel knows the adapter; all zero for any
  ///   - deadline: how long to wait for the peer
  ///   - completion: called exactly once. PDUs may follow at once, so the closures are set in here.
  /// - Returns: a closure that gives up: it closes the socket, by which the kernel stops looking for the peer
  public static func connect(
    to peer: BluetoothAddress, from local: BluetoothAddress, deadline: Duration,
    completion: @escaping (Result<L2CAPSocket, L2CAPConnectFailure>) -> Void
  ) -> () -> Void {
    KernelCall.prepareToClose()
    let attempt = ConnectAttempt(completion)
    attempt.start(peer: peer, local: local, deadline: deadline)
    return { attempt.finish(.failure(.cancelled)) }
  }

  /// Sends a PDU, as soon as the kernel has room for it.
  public func send(_ pdu: RawSpan) {
    packets.send(pdu)
  }

  /// Gives the socket up. The kernel keeps the link for two seconds, in case another program wants it.
  ///
  /// - Parameter completion: called from the loop when the kernel has closed it
  public func close(completion: (() -> Void)? = nil) {
    packets.close(completion: completion)
  }

  /// Ends the socket, as the link is about to end: what has arrived is delivered, and ``onClosed`` called, before this
  /// returns. Where the kernel has a fault (see ``KernelCall``), a socket must be closed before its link has ended.
  public func finish() {
    packets.finish()
  }
}

/// A connect that is under way. It keeps itself alive by the closures that it hands out.
@BluetoothActor
private final class ConnectAttempt {
  private var completion: ((Result<L2CAPSocket, L2CAPConnectFailure>) -> Void)?
  private var descriptor: Int32 = -1
  private var watch: EventLoop.Watch?
  private var timer: Timers.Token?

  init(_ completion: @escaping (Result<L2CAPSocket, L2CAPConnectFailure>) -> Void) {
    self.completion = completion
  }

  func start(peer: BluetoothAddress, local: BluetoothAddress, deadline: Duration) {
    do throws(SystemError) {
      descriptor = try retryingInterrupts("socket") {
        SystemCall.socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)
      }
      try bindAndConnect(peer: peer, local: local)
      timer = EventLoop.shared.timers.schedule(after: deadline) { self.finish(.failure(.deadline)) }
      watch = try EventLoop.shared.watch(descriptor, for: .writable) { _ in self.settle() }
    } catch {
      // From the loop: the caller does not yet hold the closure that gives up.
      EventLoop.shared.timers.schedule(after: .zero) { self.finish(.failure(.system(error))) }
    }
  }

  private func bindAndConnect(peer: BluetoothAddress, local: BluetoothAddress) throws(SystemError) {
    // Bound to the channel, and with an LE address type on both sides, or connect is an invalid argument.
    let descriptor = self.descriptor
    try retryingInterrupts("bind") {
      Self.withAddress(local) { SystemCall.bind(descriptor, $0, $1) }
    }
    let result = Self.withAddress(peer) { address, length in
      SystemCall.perform(.connect, descriptor, 0) { _ in Int(Glibc.connect(descriptor, address, length)) }
    }
    guard result == 0 || errno == EINPROGRESS || errno == EINTR else { throw .last("connect") }
  }

  private static func withAddress<Result>(
    _ device: BluetoothAddress, _ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_l2()
    address.l2_family = UInt16(AF_BLUETOOTH)
    address.l2_cid = ChannelID.attribute.rawValue.littleEndian
    address.l2_bdaddr_type = device.kernelType
    withUnsafeMutableBytes(of: &address.l2_bdaddr) { bytes in
      for index in bytes.indices {
        bytes[index] = UInt8(truncatingIfNeeded: device.value >> UInt64(8 * index))
      }
    }
    return withUnsafeBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { body($0.baseAddress, socklen_t(bytes.count)) }
    }
  }

  /// Writable means that it is decided; SO_ERROR tells how.
  private func settle() {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    if result != 0 { code = errno }
    guard code == 0 else { return finish(.failure(.system(SystemError("connect", errno: code)))) }
    watch?.cancel()
    watch = nil
    let connected = descriptor
    descriptor = -1
    do throws(SystemError) {
      finish(.success(try L2CAPSocket(connected)))
    } catch {
      finish(.failure(.system(error)))
    }
  }

  func finish(_ result: Result<L2CAPSocket, L2CAPConnectFailure>) {
    guard let completion else { return }
    self.completion = nil
    EventLoop.shared.timers.cancel(timer)
    watch?.cancel()
    watch = nil
    if descriptor >= 0 { KernelCall.close(descriptor) }
    descriptor = -1
    completion(result)
  }
}
