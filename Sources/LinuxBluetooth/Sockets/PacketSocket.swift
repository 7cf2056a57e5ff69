import BluetoothCore
import CBlueZHCI
import EventLoop
import Glibc
import SystemCalls

/// A kernel socket that preserves packet boundaries: one read receives one packet, one write sends one.
///
/// Receiving copies only from the kernel into one buffer, and does not allocate.
@BluetoothActor
public final class PacketSocket {
  /// Called for each packet, with the time at which the kernel received it. The span is valid only during the call. Not
  /// called from within ``send(_:)``.
  public var onPacket: ((RawSpan, Instant) -> Void)?
  /// Called once, when no more packets can be received: with the kernel's error, or nil if the other side has closed
  /// normally. The socket is already closed. Not called after `close()`.
  public var onClosed: ((SystemError?) -> Void)?
  /// Called when the kernel has dropped packets because they were not read in time (`SO_RXQ_OVFL`), with the number
  /// since the socket was opened. HCI sockets do not report drops with their packets; see ``droppedPackets``.
  public var onDrops: ((UInt32) -> Void)?
  /// Called when there is room again for packets that can wait, after ``hasRoom`` was false.
  public var onRoom: (() -> Void)?
  private var dropped: UInt32 = 0

  /// The maximum number of packets waiting for the kernel. Packets beyond it are dropped.
  public static let maximumUnsent = 512
  /// From this number on there is no room for packets that can wait. The rest is reserved for answers, which can't.
  static let full = 64
  /// There is room again when at most this number of packets waits.
  static let drained = 16
  /// The size of the receive buffer. The kernel counts about 800 bytes for a packet of 20, so its default of 208 KiB is
  /// full after 264 notifications.
  static let receiveBuffer: Int32 = 1 << 21

  private(set) var descriptor: Int32
  private let closesOnThread: Bool
  private let timers: Timers
  private let buffer: UnsafeMutableRawBufferPointer
  private var watch: EpollLoop.Watch?
  private var unsent: [[UInt8]] = []
  private var wasFull = false
  /// Until when a send that fails with ENOTCONN is repeated: some kernels are not ready right after `connect`.
  private var graceEnd: Instant?

  /// - Parameters:
  ///   - descriptor: a non-blocking socket; it is closed with this object
  ///   - largestPacket: the maximum packet length in bytes
  ///   - closesOnThread: whether to close it with ``KernelCall``
  ///   - timers: the time for deadlines
  public init(
    descriptor: Int32, largestPacket: Int, closesOnThread: Bool = false,
    timers: Timers = EpollLoop.shared.timers
  ) {
    self.descriptor = descriptor
    self.timers = timers
    self.closesOnThread = closesOnThread
    buffer = .allocate(byteCount: largestPacket, alignment: 16)
    setOption(SOL_SOCKET, SO_TIMESTAMPNS, 1)
    setOption(SOL_SOCKET, SO_RXQ_OVFL, 1)
    // The adapter helper has set the buffer size; setting it without CAP_NET_ADMIN would reduce it.
    guard receiveBufferSize < Self.receiveBuffer else { return }
    if !setOption(SOL_SOCKET, SO_RCVBUFFORCE, Self.receiveBuffer) {
      // Without CAP_NET_ADMIN, the system-wide limit applies.
      setOption(SOL_SOCKET, SO_RCVBUF, Self.receiveBuffer)
    }
  }

  isolated deinit {
    close()
    buffer.deallocate()
  }

  public var isOpen: Bool { descriptor >= 0 }

  @discardableResult
  func setOption<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
    withUnsafeBytes(of: value) {
      setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) == 0
    }
  }

  private var receiveBufferSize: Int32 {
    var size: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length)
    return size
  }

  /// Starts to deliver packets.
  ///
  /// - Parameter grace: how long the kernel may report that the socket is not connected
  public func start(grace: Duration = .zero) throws(SystemError) {
    guard isOpen, watch == nil else { return }
    if grace > .zero { graceEnd = timers.current + grace }
    watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] readiness in
      self?.ready(readiness)
    }
  }

  /// Closes the socket; no closure is called afterwards.
  ///
  /// - Parameter completion: called on the loop when the kernel has closed it
  public func close(completion: (() -> Void)? = nil) {
    release(completion)
    // The closures may retain this object.
    onPacket = nil
    onClosed = nil
    onDrops = nil
    onRoom = nil
  }

  /// Closes the descriptor.
  private func release(_ completion: (() -> Void)? = nil) {
    guard isOpen else {
      if let completion { timers.schedule(after: .zero, completion) }
      return
    }
    watch?.cancel()
    watch = nil
    dropped = askForDrops()
    unsent = []
    let closed = descriptor
    descriptor = -1
    if closesOnThread {
      KernelCall.close(closed, timers: timers, completion: completion)
    } else {
      Glibc.close(closed)
      if let completion { timers.schedule(after: .zero, completion) }
    }
  }

  /// The number of packets that the kernel has dropped since the socket was opened because they were not read in time.
  public var droppedPackets: Int { Int(askForDrops()) }

  /// Every kind of socket has the counter (`SO_MEMINFO`); only some report it with their packets.
  private func askForDrops() -> UInt32 {
    guard isOpen else { return dropped }
    var figures = [UInt32](repeating: 0, count: SK_MEMINFO_DROPS + 1)
    var length = socklen_t(figures.count * MemoryLayout<UInt32>.stride)
    let whole = length
    let result = getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &figures, &length)
    guard result == 0, length >= whole, let drops = figures.last else { return dropped }
    return max(dropped, drops)
  }

  /// Ends the socket. It is closed first, as some kernels fault if it stays open (see ``KernelCall``). Then the
  /// remaining packets are delivered, followed by the reason.
  private func end(_ error: SystemError?) {
    guard isOpen else { return }
    var error = error
    let rest = fetchRest(&error)
    release()
    for (packet, time) in rest {
      _ = EpollLoop.shared.arrival(timers)
      onPacket?(packet.span.bytes, time)
    }
    let onClosed = self.onClosed
    close()
    onClosed?(error)
  }

  /// Ends the socket now, if its end is known from elsewhere: remaining packets are delivered, and ``onClosed`` called,
  /// before this returns.
  public func finish() {
    end(nil)
  }

  private func ready(_ readiness: EpollLoop.Readiness) {
    if readiness.contains(.writable) { flush() }
    guard isOpen, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
    if readiness.isDisjoint(with: [.hungUp, .failed]) { _ = receive() } else { end(nil) }
  }

  /// Delivers the packets that the kernel holds already, without waiting for the loop.
  public func receivePending() {
    while isOpen, receive() {}
  }

  // MARK: Receiving

  /// One read per wake-up: the loop calls again if there is more, so that other descriptors get their turn.
  ///
  /// - Returns: whether a packet was received
  private func receive() -> Bool {
    switch fetch() {
    case .packet(let count, let stamp):
      let time = ReceiveTime.instant(
        ofWallNanoseconds: stamp, now: EpollLoop.shared.arrival(timers), wallNow: SystemClock.wallNanoseconds)
      onPacket?(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])), time)
      return true
    case .nothing: return false
    case .end(let error):
      end(error)
      return false
    }
  }

  private enum Fetched {
    /// The number of bytes in the buffer, and the time of day at which they were received, in nanoseconds.
    case packet(Int, Int64)
    case nothing
    case end(SystemError?)
  }

  private func fetch() -> Fetched {
    var about = halo_received()
    let count = SystemCall.perform(.receive, descriptor, buffer.count) {
      halo_receive(descriptor, buffer.baseAddress, $0, &about)
    }
    guard count > 0 else {
      if count == 0 { return .end(nil) }
      return errno == EAGAIN || errno == EINTR ? .nothing : .end(.last("recvmsg"))
    }
    if about.has_drops, about.drops != dropped {
      dropped = about.drops
      onDrops?(dropped)
    }
    return .packet(count, about.wall_nanoseconds)
  }

  /// All packets that the kernel holds for a socket that has ended. The kernel reports the error before the preceding
  /// packets.
  private func fetchRest(_ error: inout SystemError?) -> [(packet: [UInt8], time: Instant)] {
    var rest: [(packet: [UInt8], time: Instant)] = []
    var hasError = error != nil
    while isOpen {
      switch fetch() {
      case .packet(let count, let stamp):
        let time = ReceiveTime.instant(
          ofWallNanoseconds: stamp, now: timers.current.wholeMicroseconds,
          wallNow: SystemClock.wallNanoseconds)
        rest.append((Array(buffer[..<count]), time))
      case .end(let reason?) where !hasError:
        error = reason
        hasError = true
      case .nothing, .end: return rest
      }
    }
    return rest
  }

  // MARK: Sending

  /// Sends a packet, or queues it until the kernel has room. If it can't be sent, the socket ends, and ``onClosed`` is
  /// called later from the loop, as callers do not expect the socket to end during this call.
  public func send(_ packet: RawSpan) {
    guard isOpen else { return }
    if unsent.isEmpty, transmit(packet) { return }
    guard isOpen, unsent.count < Self.maximumUnsent else {
      return endSoon(SystemError("send", errno: ENOBUFS))
    }
    unsent.append(Array(packet))
  }

  /// Whether there is room for a packet that can wait.
  public var hasRoom: Bool {
    if unsent.count >= Self.full { wasFull = true }
    return isOpen && !wasFull
  }

  private func endSoon(_ error: SystemError) {
    timers.schedule(after: .zero) { [weak self] in self?.end(error) }
  }

  /// Queued packets are sent in order, and removed only when the kernel has accepted them.
  private func flush() {
    watch?.interest = .readable
    while let packet = unsent.first, transmit(packet.span.bytes) { unsent.removeFirst() }
    guard isOpen, wasFull, unsent.count <= Self.drained else { return }
    wasFull = false
    onRoom?()
  }

  /// - Returns: whether the packet is done: it was accepted, or has failed permanently
  private func transmit(_ packet: RawSpan) -> Bool {
    while true {
      let result = packet.withUnsafeBytes { bytes in
        SystemCall.send(descriptor, bytes.baseAddress, bytes.count, waits: false)
      }
      switch Self.verdict(
        result, errno: errno, isInGrace: graceEnd.map { timers.current < $0 } ?? false)
      {
      case .sent: return true
      case .again: continue
      case .whenWritable:
        watch?.interest = [.readable, .writable]
        return false
      case .soon:
        timers.schedule(after: .milliseconds(50)) { [weak self] in self?.flush() }
        return false
      case .failed(let error):
        endSoon(error)
        return true
      }
    }
  }

  /// The action after a send.
  enum SendVerdict: Hashable {
    case sent
    case again
    case whenWritable
    case soon
    case failed(SystemError)
  }

  /// Evaluates the result of `send`. Zero is success: some kernels return it from the management socket although
  /// everything was sent, and a packet can't be sent in part.
  nonisolated static func verdict(_ result: Int, errno code: Int32, isInGrace: Bool) -> SendVerdict {
    guard result < 0 else { return .sent }
    switch code {
    case EINTR: return .again
    case EAGAIN: return .whenWritable
    case ENOBUFS, ENOMEM: return .soon
    case ENOTCONN where isInGrace: return .soon
    default: return .failed(SystemError("send", errno: code))
    }
  }
}
