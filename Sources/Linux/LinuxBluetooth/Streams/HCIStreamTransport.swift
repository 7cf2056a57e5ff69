import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// HCI over a byte stream in H4 framing (Core Specification Vol 4, Part A): a socket or a serial line.
@BluetoothActor
package final class HCIStreamTransport: HCITransport {
  @exclusivity(unchecked) package var onPacket: ((RawSpan, Arrival) -> Void)?
  package var onClose: ((String) -> Void)?
  package var onSkippedBytes: ((Int, Instant) -> Void)?

  /// Reopens the stream, and returns its descriptor.
  typealias Opener = @BluetoothActor (Duration) async throws(StackError) -> Int32

  package let timers: Timers
  package let name: String
  private(set) var descriptor: Int32
  private let isSocket: Bool
  private let types: [HCIPacketType]
  @exclusivity(unchecked) private var framer: H4Framer
  private var garbageBefore: UInt64 = 0
  private let opener: Opener?
  /// The read buffer, reused for all packets. A read takes all that waits in a socket, up to this size.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  @exclusivity(unchecked) private var watch: EpollLoop.Watch?
  @exclusivity(unchecked) private var isOpen = true
  private var isGivenUp = false
  @exclusivity(unchecked) private var readCount: UInt64 = 0
  /// Whether packets of one read are being handled. All that is sent during that time is written together afterwards: when a
  /// controller reports free buffers, they are filled with one system call.
  @exclusivity(unchecked) private var isHandling = false
  /// Bytes that the descriptor has not accepted yet. The host's command and data credits keep it small.
  @exclusivity(unchecked) private var unsent: [UInt8] = []

  /// The maximum number of unsent bytes. It bounds the memory used if a program connected to our controller stops
  /// reading.
  private static let maximumUnsent = 1 << 20

  /// - Parameters:
  ///   - descriptor: a non-blocking stream; it is closed with the transport
  ///   - types: the packet types that the other side may send
  ///   - timers: the time in which packets arrive
  package convenience init(
    descriptor: Int32, accepting types: [HCIPacketType] = H4Framer.fromController,
    timers: Timers = EpollLoop.shared.timers
  ) {
    self.init("the controller", descriptor, accepting: types, timers: timers, opener: nil)
  }

  init(
    _ name: String, _ descriptor: Int32, accepting types: [HCIPacketType] = H4Framer.fromController,
    timers: Timers = EpollLoop.shared.timers, opener: Opener?
  ) {
    self.timers = timers
    self.name = name
    self.descriptor = descriptor
    self.types = types
    self.opener = opener
    var status = stat()
    isSocket = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    framer = H4Framer(accepting: types)
  }

  isolated deinit {
    close()
    buffer.deallocate()
  }

  package var skippedBytes: Int? { Int(garbageBefore + framer.garbageBytes) }

  package func start() {
    guard isOpen else { return }
    do {
      watch = try EpollLoop.shared.watch(descriptor, for: .readable) { [weak self] readiness in
        self?.ready(readiness)
      }
    } catch {
      fail(error.description)
    }
  }

  package var canReopen: Bool { opener != nil }

  package func reopen(within time: Duration) async throws(StackError) {
    guard let opener else { throw .notReady }
    guard !isGivenUp else { throw .cancelled }
    release()
    let opened: Int32
    do throws(StackError) {
      opened = try await opener(time)
    } catch {
      throw Task.isCancelled ? .cancelled : .transportClosed(error.description)
    }
    guard !isGivenUp, !isOpen else {
      Glibc.close(opened)
      throw .cancelled
    }
    descriptor = opened
    isOpen = true
    unsent = []
    garbageBefore += framer.garbageBytes
    framer = H4Framer(accepting: types)
  }

  package func close() {
    isGivenUp = true
    release()
  }

  private func release() {
    guard isOpen else { return }
    isOpen = false
    watch.take()?.cancel()
    Glibc.close(descriptor)
  }

  private func fail(_ reason: String) {
    // A failure reported after the transport was closed is ignored.
    guard isOpen else { return }
    release()
    onPacket = nil
    onClose.take()?(reason)
  }

  /// Fails later, from the loop, as callers do not expect the transport to close during the call.
  private func failSoon(_ reason: String) {
    timers.schedule(after: .zero) { [weak self] in self?.fail(reason) }
  }

  private func ready(_ readiness: EpollLoop.Readiness) {
    if readiness.contains(.writable) { flush() }
    if watch != nil, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) { receive() }
  }

  /// One read per wake-up: the loop calls again if there is more, so that other descriptors get their turn.
  private func receive() {
    let count = SystemCall.read(descriptor, buffer.baseAddress, buffer.count)
    guard count > 0 else {
      if count == 0 { return fail("the other side closed the connection") }
      if errno != EAGAIN, errno != EINTR { fail(SystemError.last("read").description) }
      return
    }
    let time = EpollLoop.shared.arrival(timers)
    readCount &+= 1
    let arrival = Arrival(time, read: readCount)
    guard isOpen, let onPacket else { return }
    let bytes = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    isHandling = true
    let garbage = framer.garbageBytes
    framer.receive(bytes) { packet in
      // Deliver no further packet if the handler of the previous one has closed the transport.
      if isOpen { onPacket(packet, arrival) }
    }
    isHandling = false
    if framer.garbageBytes != garbage { onSkippedBytes?(Int(framer.garbageBytes - garbage), time) }
    if !unsent.isEmpty { flush() }
  }

  package func send(_ packet: RawSpan) {
    guard watch != nil else { return }
    guard unsent.isEmpty, !isHandling else {
      guard unsent.count + packet.byteCount <= Self.maximumUnsent else {
        return failSoon("the other side does not read")
      }
      Self.append(packet, to: &unsent)
      return
    }
    guard let written = transmit(packet), written < packet.byteCount else { return }
    Self.append(packet.extracting(written..<packet.byteCount), to: &unsent)
    watch?.interest = [.readable, .writable]
  }

  private func flush() {
    guard watch != nil, let written = transmit(unsent.span.bytes) else { return }
    unsent.removeFirst(written)
    watch?.interest = unsent.isEmpty ? .readable : [.readable, .writable]
  }

  /// Writes as many bytes as the descriptor accepts, and returns their number; nil on failure.
  private func transmit(_ bytes: RawSpan) -> Int? {
    while true {
      let count = Self.write(bytes, to: descriptor, isSocket: isSocket)
      if count >= 0 { return count }
      if errno == EAGAIN { return 0 }
      if errno != EINTR {
        failSoon(SystemError.last("write").description)
        return nil
      }
    }
  }

  // These are not isolated, since a closure that is checks its isolation at each call, in 400 instructions.

  private nonisolated static func append(_ packet: RawSpan, to bytes: inout [UInt8]) {
    packet.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  private nonisolated static func write(_ bytes: RawSpan, to descriptor: Int32, isSocket: Bool) -> Int {
    bytes.withUnsafeBytes { bytes in
      // A closed controller must not end the process with SIGPIPE.
      isSocket
        ? SystemCall.send(descriptor, bytes.baseAddress, bytes.count)
        : SystemCall.write(descriptor, bytes.baseAddress, bytes.count)
    }
  }
}
