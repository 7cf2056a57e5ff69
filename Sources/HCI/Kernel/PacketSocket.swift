import BluetoothCore
import CBlueZHCI
import EventLoop
import Glibc

/// A socket of the kernel that keeps packets apart: one read gives one packet, one write takes one.
///
/// Receiving copies nothing but from the kernel into one buffer, and allocates nothing.
@BluetoothActor
public final class PacketSocket {
  /// Called for each packet, with the time at which the kernel received it. The span is valid only during the call. It
  /// is never called from within ``send(_:)``.
  public var onPacket: ((RawSpan, Instant) -> Void)?
  /// Called once, when nothing can be received any more: with the kernel's reason, or nil if the other side has
  /// ended it in order. The socket is closed by then. Not called after ``close()``.
  public var onClosed: ((SystemError?) -> Void)?
  /// Called when the kernel had to drop packets, because they were not read in time (`SO_RXQ_OVFL`): with how many
  /// since the socket was opened. HCI sockets don't tell it with their packets; see ``droppedPackets``.
  public var onDrops: ((UInt32) -> Void)?
  /// Called when there is room again for packets that can wait, after ``hasRoom`` was false.
  public var onRoom: (() -> Void)?
  private var dropped: UInt32 = 0

  /// How many packets may wait for the kernel to have room. Who sends more to a link that takes nothing loses it.
  public static let maximumUnsent = 512
  /// From here on there is no room for packets that can wait. The rest is for answers, which can't.
  static let full = 64
  /// There is room again when no more than this wait.
  static let drained = 16
  /// What the receive buffer is raised to. The kernel counts some 800 bytes for a packet of 20, so that its default
  /// of 208 KiB is full after 264 notifications.
  static let receiveBuffer: Int32 = 1 << 21

  private(set) var descriptor: Int32
  private let closesOnThread: Bool
  private let buffer: UnsafeMutableRawBufferPointer
  private var watch: EventLoop.Watch?
  private var unsent: [[UInt8]] = []
  private var wasFull = false
  /// Until when a send that fails with ENOTCONN is tried again: right after `connect`, some kernels are not ready.
  private var graceEnd: Instant?

  /// - Parameters:
  ///   - descriptor: a socket that does not block; it is closed with this object
  ///   - largestPacket: the most bytes that a packet may have
  ///   - closesOnThread: whether to close it by ``KernelCall``
  public init(descriptor: Int32, largestPacket: Int, closesOnThread: Bool = false) {
    self.descriptor = descriptor
    self.closesOnThread = closesOnThread
    buffer = .allocate(byteCount: largestPacket, alignment: 16)
    setOption(SOL_SOCKET, SO_TIMESTAMPNS, 1)
    setOption(SOL_SOCKET, SO_RXQ_OVFL, 1)
    // The adapter helper has done so; what is asked for without CAP_NET_ADMIN would undo it.
    guard receiveBufferSize < Self.receiveBuffer else { return }
    if !setOption(SOL_SOCKET, SO_RCVBUFFORCE, Self.receiveBuffer) {
      // Without CAP_NET_ADMIN, as far as the machine's limit allows.
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

  /// Begins to deliver packets.
  ///
  /// - Parameter grace: for how long the kernel may still say that the socket is not connected
  public func start(grace: Duration = .zero) throws(SystemError) {
    guard isOpen, watch == nil else { return }
    if grace > .zero { graceEnd = EventLoop.shared.now + grace }
    watch = try EventLoop.shared.watch(descriptor, for: .readable) { [weak self] readiness in
      self?.ready(readiness)
    }
  }

  /// Closes the socket; nothing is called any more.
  ///
  /// - Parameter completion: called from the loop when the kernel has closed it
  public func close(completion: (() -> Void)? = nil) {
    release(completion)
    // What is called may hold this object.
    onPacket = nil
    onClosed = nil
    onDrops = nil
    onRoom = nil
  }

  /// Gives the descriptor back to the kernel.
  private func release(_ completion: (() -> Void)? = nil) {
    guard isOpen else {
      if let completion { EventLoop.shared.timers.schedule(after: .zero, completion) }
      return
    }
    watch?.cancel()
    watch = nil
    dropped = askForDrops()
    unsent = []
    let closed = descriptor
    descriptor = -1
    if closesOnThread {
      KernelCall.close(closed, completion: completion)
    } else {
      Glibc.close(closed)
      if let completion { EventLoop.shared.timers.schedule(after: .zero, completion) }
    }
  }

  /// How many packets the kernel had to drop since the socket was opened, because they were not read in time.
  public var droppedPackets: Int { Int(askForDrops()) }

  /// Every kind of socket has the counter (`SO_MEMINFO`); only some tell it with their packets.
  private func askForDrops() -> UInt32 {
    guard isOpen else { return dropped }
    var figures = [UInt32](repeating: 0, count: SK_MEMINFO_DROPS + 1)
    var length = socklen_t(figures.count * MemoryLayout<UInt32>.stride)
    let whole = length
    let result = getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &figures, &length)
    guard result == 0, length >= whole, let drops = figures.last else { return dropped }
    return max(dropped, drops)
  }

  /// The end: the socket is closed first, as some kernels don't survive that it is kept (see ``KernelCall``). What came
  /// before the end is delivered after that, and then the reason.
  private func end(_ error: SystemError?) {
    guard isOpen else { return }
    var error = error
    let rest = fetchRest(&error)
    release()
    for (packet, time) in rest {
      _ = EventLoop.shared.arrival()
      onPacket?(packet.span.bytes, time)
    }
    let onClosed = self.onClosed
    close()
    onClosed?(error)
  }

  /// Ends the socket now, as its end is known from elsewhere: what the kernel holds is delivered, and ``onClosed``
  /// called, before this returns.
  public func finish() {
    end(nil)
  }

  private func ready(_ readiness: EventLoop.Readiness) {
    if readiness.contains(.writable) { flush() }
    guard isOpen, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
    if readiness.isDisjoint(with: [.hungUp, .failed]) { _ = receive() } else { end(nil) }
  }

  /// Delivers what the kernel holds already, without waiting for the loop: for who must know it before going on.
  public func receivePending() {
    while isOpen, receive() {}
  }

  // MARK: Receiving

  /// One read for each wake-up: the loop comes back if there is more, and others get their turn.
  ///
  /// - Returns: whether there was a packet
  private func receive() -> Bool {
    switch fetch() {
    case .packet(let count, let stamp):
      let time = ReceiveTime.instant(
        ofWallNanoseconds: stamp, now: EventLoop.shared.arrival(), wallNow: SystemClock.wallNanoseconds)
      onPacket?(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count])), time)
      return true
    case .nothing: return false
    case .end(let error):
      end(error)
      return false
    }
  }

  private enum Fetched {
    /// So many bytes are in the buffer, received at this time of day in nanoseconds.
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

  /// All that the kernel holds of a socket that is at its end. It tells an error before the packets that came ahead of
  /// it.
  private func fetchRest(_ error: inout SystemError?) -> [(packet: [UInt8], time: Instant)] {
    var rest: [(packet: [UInt8], time: Instant)] = []
    var hasError = error != nil
    while isOpen {
      switch fetch() {
      case .packet(let count, let stamp):
        let time = ReceiveTime.instant(
          ofWallNanoseconds: stamp, now: EventLoop.shared.now.wholeMicroseconds,
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

  /// Sends a packet, or keeps it until the kernel has room. A packet that can't be sent ends the socket, and
  /// ``onClosed`` tells why, from the loop: who sends is not prepared to lose everything meanwhile.
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
    EventLoop.shared.timers.schedule(after: .zero) { [weak self] in self?.end(error) }
  }

  /// What waited goes out in its order, and each packet is forgotten only when the kernel has taken it.
  private func flush() {
    watch?.interest = .readable
    while let packet = unsent.first, transmit(packet.span.bytes) { unsent.removeFirst() }
    guard isOpen, wasFull, unsent.count <= Self.drained else { return }
    wasFull = false
    onRoom?()
  }

  /// - Returns: whether the packet needs no more care: it was taken, or has failed for good
  private func transmit(_ packet: RawSpan) -> Bool {
    while true {
      let result = packet.withUnsafeBytes { bytes in
        SystemCall.send(descriptor, bytes.baseAddress, bytes.count, waits: false)
      }
      switch Self.verdict(
        result, errno: errno, isInGrace: graceEnd.map { EventLoop.shared.now < $0 } ?? false)
      {
      case .sent: return true
      case .again: continue
      case .whenWritable:
        watch?.interest = [.readable, .writable]
        return false
      case .soon:
        EventLoop.shared.timers.schedule(after: .milliseconds(50)) { [weak self] in self?.flush() }
        return false
      case .failed(let error):
        endSoon(error)
        return true
      }
    }
  }

  /// What is to be done after a send.
  enum SendVerdict: Hashable {
    case sent
    case again
    case whenWritable
    case soon
    case failed(SystemError)
  }

  /// Judges the result of `send`. Zero is success: some kernels return it from the management socket though all was
  /// sent, and a packet can't be sent in part.
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
