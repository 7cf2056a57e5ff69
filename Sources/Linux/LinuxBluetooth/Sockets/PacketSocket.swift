import Glibc
import HaloBluetoothCore
import HaloSystem

/// A kernel socket that preserves packet boundaries: one write sends one packet. A read receives one, or, while they come
/// fast, up to 16 with one system call.
///
/// Receiving copies only from the kernel into one buffer, and does not allocate.
@BluetoothActor
package final class PacketSocket {
  /// Called for each packet, with the time at which the kernel received it. The span is valid only during the call. Not
  /// called from within ``send(_:)``.
  @exclusivity(unchecked) package var onPacket: ((RawSpan, Arrival) -> Void)?
  /// Called once, when no more packets can be received: with the kernel's error, or nil if the other side has closed
  /// normally. The socket is already closed. Not called after `close()`.
  package var onClosed: ((SystemError?) -> Void)?
  /// Called when the kernel has dropped packets because they were not read in time (`SO_RXQ_OVFL`), with the number
  /// since the socket was opened. HCI sockets do not report drops with their packets; see ``droppedPackets``.
  package var onDrops: ((UInt32) -> Void)?
  /// Called when there is room again for packets that can wait, after ``hasRoom`` was false.
  @exclusivity(unchecked) package var onRoom: (() -> Void)?
  @exclusivity(unchecked) private var dropped: UInt32 = 0
  /// How often packets are read, if they can wait: all of the time since the last read with few system calls. Nil for
  /// as soon as there are some.
  @exclusivity(unchecked) package var readInterval: Duration?

  /// The maximum number of packets waiting for the kernel. Packets beyond it are dropped.
  package static let maximumUnsent = 512
  /// From this number on there is no room for packets that can wait. The rest is reserved for answers, which can't.
  static let full = 64
  /// There is room again when at most this number of packets waits.
  static let drained = 16
  /// The size of the receive buffer. The kernel counts about 800 bytes for a packet of 20, so its default of 208 KiB is
  /// full after 264 notifications.
  static let receiveBuffer: Int32 = 1 << 21

  // On the way of every packet without dynamic checks for exclusive access, which cost 80 instructions each.
  @exclusivity(unchecked) private(set) var descriptor: Int32
  let closesOnThread: Bool
  private let timers: Timers
  private let largestPacket: Int
  /// Room for ``mostPackets`` packets, side by side, and for the kernel's data about each. The kernel provides memory only for
  /// pages that are written.
  private let buffer: UnsafeMutableRawPointer
  private let received = UnsafeMutablePointer<ReceivedPacket>.allocate(capacity: PacketSocket.mostPackets)
  /// The received packets that were not delivered yet.
  @exclusivity(unchecked) private var pending = 0..<0
  /// How often packets were read.
  @exclusivity(unchecked) private(set) var reads: UInt64 = 0
  /// When the last packet was read.
  @exclusivity(unchecked) private var lastRead = Instant.zero
  /// As HALO_RECEIVE_MOST.
  nonisolated static let mostPackets = 16
  /// Asking for a second packet where there is none costs the kernel as much as handling a quarter of a packet. So only
  /// one is asked for, unless the last one was read within this time, in nanoseconds.
  private static let crowded: Int64 = 200_000
  @exclusivity(unchecked) private var watch: EpollLoop.Watch?
  @exclusivity(unchecked) private var unsent = PacketQueue()
  @exclusivity(unchecked) private var wasFull = false
  /// Whether packets wait until ``sendHeld()``.
  @exclusivity(unchecked) private var isHolding = false
  /// Until when a send that fails with ENOTCONN is repeated: some kernels are not ready right after `connect`.
  private var graceEnd: Instant?

  /// - Parameters:
  ///   - descriptor: a non-blocking socket; it is closed with this object
  ///   - largestPacket: the maximum packet length in bytes
  ///   - closesOnThread: whether to close it with ``KernelCall``
  ///   - timers: the time for deadlines
  package init(
    descriptor: Int32, largestPacket: Int, closesOnThread: Bool = false,
    timers: Timers = EpollLoop.shared.timers
  ) {
    self.descriptor = descriptor
    self.timers = timers
    self.closesOnThread = closesOnThread
    self.largestPacket = largestPacket
    buffer = .allocate(byteCount: Self.mostPackets * largestPacket, alignment: 16)
    setOption(SOL_SOCKET, SO_TIMESTAMPNS, 1)
    setOption(SOL_SOCKET, SO_RXQ_OVFL, 1)
    Self.raiseReceiveBuffer(of: descriptor)
  }

  isolated deinit {
    close()
    buffer.deallocate()
    received.deallocate()
  }

  package var isOpen: Bool { descriptor >= 0 }

  @discardableResult
  func setOption<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) -> Bool {
    Self.setOption(of: descriptor, level, option, value)
  }

  private static func setOption<Value: BitwiseCopyable>(
    of descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Value
  ) -> Bool {
    withUnsafeBytes(of: value) {
      setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) == 0
    }
  }

  /// Sets the size of a socket's receive buffer to ``receiveBuffer``; without CAP_NET_ADMIN, the system's limit applies. A
  /// buffer of that size stays: setting it without the capability would reduce it.
  static func raiseReceiveBuffer(of descriptor: Int32) {
    var size: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length)
    guard size < receiveBuffer else { return }
    if !setOption(of: descriptor, SOL_SOCKET, SO_RCVBUFFORCE, receiveBuffer) {
      _ = setOption(of: descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer)
    }
  }

  /// Starts to deliver packets.
  ///
  /// - Parameter grace: how long the kernel may report that the socket is not connected
  package func start(grace: Duration = .zero) throws(SystemError) {
    guard isOpen, watch == nil else { return }
    if grace > .zero { graceEnd = timers.current + grace }
    watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] readiness in
      self?.ready(readiness)
    }
  }

  /// Closes the socket; no closure is called afterwards.
  ///
  /// - Parameter completion: called on the loop when the kernel has closed it
  package func close(completion: (() -> Void)? = nil) {
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
    watch.take()?.cancel()
    dropped = askForDrops()
    unsent.removeAll()
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
  package var droppedPackets: Int { Int(askForDrops()) }

  /// Every kind of socket has the counter (`SO_MEMINFO`); only some report it with their packets.
  private func askForDrops() -> UInt32 {
    guard isOpen else { return dropped }
    var figures = [UInt32](repeating: 0, count: KernelABI.lostPackets + 1)
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
    for (packet, time) in rest { onPacket?(packet.span.bytes, Arrival(time, read: reads)) }
    let onClosed = self.onClosed
    close()
    onClosed?(error)
  }

  /// Ends the socket now, if its end is known from elsewhere: remaining packets are delivered, and ``onClosed`` called,
  /// before this returns.
  package func finish() {
    end(nil)
  }

  private func ready(_ readiness: EpollLoop.Readiness) {
    if readiness.contains(.writable) { flush() }
    guard isOpen, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
    guard readiness.isDisjoint(with: [.hungUp, .failed]) else { return end(nil) }
    if let readInterval { readAll(every: readInterval) } else { _ = receive() }
  }

  /// Delivers the packets that are there, and those of each interval from now on, until one has none.
  private func readAll(every interval: Duration) {
    lastRead = timers.now
    receivePending()
    guard isOpen else { return }
    if let watch, watch.interest.contains(.readable) { watch.interest.remove(.readable) }
    timers.schedule(after: interval) { [weak self] in self?.intervalEnds() }
  }

  private func intervalEnds() {
    guard isOpen, let readInterval else { return }
    lastRead = timers.now
    if receive() { readAll(every: readInterval) } else { watch?.interest.insert(.readable) }
  }

  /// Delivers the packets that the kernel holds already, without waiting for the loop.
  package func receivePending() {
    while isOpen, receive() {}
  }

  // MARK: Receiving

  /// One read per wake-up: the loop calls again if there is more, so that other descriptors get their turn.
  ///
  /// - Returns: whether packets were received
  private func receive() -> Bool {
    // Left by a handler that asks for more from within the delivery.
    if pending.isEmpty {
      let now = EpollLoop.shared.arrival(timers)
      let isCrowded = now.nanoseconds(since: lastRead) < Self.crowded
      lastRead = now
      switch fetch(upTo: isCrowded ? Self.mostPackets : 1) {
      case .packets: break
      case .nothing: return false
      case .end(let error):
        end(error)
        return false
      }
    }
    let (now, wallNow) = clocks
    while let index = nextPending() {
      onPacket?(
        RawSpan(_unsafeBytes: packet(index)), Arrival(time(index, now, wallNow), read: reads))
    }
    return true
  }

  /// The number of the next packet to deliver.
  private func nextPending() -> Int? {
    guard isOpen, var index = pending.first else { return nil }
    // A packet of no bytes has no meaning.
    while received[index].length == 0 {
      index += 1
      guard index < pending.upperBound else {
        pending = 0..<0
        return nil
      }
    }
    pending = index + 1..<pending.upperBound
    let about = received[index]
    if about.hasDrops, about.drops != dropped {
      dropped = about.drops
      onDrops?(dropped)
    }
    return index
  }

  private func packet(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: buffer + index * largestPacket, count: received[index].length)
  }

  private var clocks: (now: Instant, wallNow: Int64) { (timers.current, SystemClock.wallNanoseconds) }

  private func time(_ index: Int, _ now: Instant, _ wallNow: Int64) -> Instant {
    ReceiveTime.instant(ofWallNanoseconds: received[index].wallNanoseconds, now: now, wallNow: wallNow)
  }

  private enum Fetched {
    /// They are pending.
    case packets
    case nothing
    case end(SystemError?)
  }

  private func fetch(upTo most: Int) -> Fetched {
    let count = SystemCall.perform(.receive, descriptor, largestPacket) {
      Int(KernelFunction.receive(descriptor, buffer, $0, largestPacket, Int32(most), received))
    }
    guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? .nothing : .end(.last("recvmsg")) }
    // The end of the socket is read as packets of no bytes, again and again. A peer may send such packets, too.
    // Without a closure, which would check at run time that it is on the actor: that takes 370 instructions.
    var end = count
    while end > 0, received[end - 1].length == 0 { end -= 1 }
    if end == 0, count == 0 || isHungUp { return most == 1 ? fetch(upTo: Self.mostPackets) : .end(nil) }
    pending = 0..<end
    reads &+= 1
    return .packets
  }

  /// Whether the other end is gone, or the socket is shut down.
  private var isHungUp: Bool {
    // POLLRDHUP, which Glibc does not export.
    var state = pollfd(fd: descriptor, events: 0x2000, revents: 0)
    let count = SystemCall.control(descriptor) { poll(&state, 1, 0) }
    return count != 0
  }

  /// All packets that were not delivered, and that the kernel holds for a socket that has ended. The kernel reports the
  /// error before the preceding packets.
  private func fetchRest(_ error: inout SystemError?) -> [(packet: [UInt8], time: Instant)] {
    var rest: [(packet: [UInt8], time: Instant)] = []
    var hasError = error != nil
    while isOpen {
      let (now, wallNow) = clocks
      while let index = nextPending() { rest.append((Array(packet(index)), time(index, now, wallNow))) }
      switch fetch(upTo: Self.mostPackets) {
      case .packets: break
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
  package func send(_ packet: RawSpan) {
    guard isOpen else { return }
    if unsent.isEmpty, !isHolding, transmit(packet) { return }
    guard isOpen, unsent.count < Self.maximumUnsent else {
      return endSoon(SystemError("send", errno: ENOBUFS))
    }
    unsent.append(packet)
  }

  /// Queues all packets from now on, as the kernel would refuse them for a while.
  func hold() {
    isHolding = true
    watch?.interest.remove(.writable)
  }

  /// Sends the packets that were held, and those to come.
  func sendHeld() {
    guard isHolding else { return }
    isHolding = false
    flush()
  }

  /// Whether there is room for a packet that can wait.
  package var hasRoom: Bool {
    if unsent.count >= Self.full { wasFull = true }
    return isOpen && !wasFull
  }

  private func endSoon(_ error: SystemError) {
    timers.schedule(after: .zero) { [weak self] in self?.end(error) }
  }

  /// Queued packets are sent in order, and removed only when the kernel has accepted them.
  private func flush() {
    guard !isHolding else { return }
    // The queue is moved out and back, as the end of the socket removes its packets.
    var packets = PacketQueue()
    swap(&packets, &unsent)
    while !packets.isEmpty, transmit(packets.first) { packets.removeFirst() }
    swap(&packets, &unsent)
    if unsent.isEmpty { watch?.interest.remove(.writable) }
    guard isOpen, wasFull, unsent.count <= Self.drained else { return }
    wasFull = false
    onRoom?()
  }

  /// - Returns: whether the packet is done: it was accepted, or has failed permanently
  private func transmit(_ packet: RawSpan) -> Bool {
    while true {
      let result = Self.send(packet, to: descriptor)
      if result >= 0 { return true }
      switch Self.verdict(
        result, errno: errno, isInGrace: graceEnd.map { timers.current < $0 } ?? false)
      {
      case .sent: return true
      case .again: continue
      case .whenWritable:
        watch?.interest.insert(.writable)
        return false
      case .soon:
        // It is writable, and takes nothing.
        watch?.interest.remove(.writable)
        timers.schedule(after: .milliseconds(50)) { [weak self] in self?.flush() }
        return false
      case .failed(let error):
        endSoon(error)
        return true
      }
    }
  }

  /// Not isolated, since a closure that is checks its isolation at each call, in 400 instructions.
  private nonisolated static func send(_ packet: RawSpan, to descriptor: Int32) -> Int {
    packet.withUnsafeBytes { SystemCall.send(descriptor, $0.baseAddress, $0.count, waits: false) }
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
