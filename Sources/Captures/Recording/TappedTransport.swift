import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSystem

/// A transport with a tap, which receives each packet in order.
@BluetoothActor
package final class TappedTransport: HCITransportLayer {
  package var onPacket: ((RawSpan, Arrival) -> Void)? {
    didSet { listen() }
  }

  package let transport: any HCITransport
  private let tap: TrafficTap
  private let sent: CaptureDirection
  private let received: CaptureDirection

  /// - Parameters:
  ///   - transport: carries the packets
  ///   - tap: receives a copy of each
  ///   - isController: whether this side is the controller, and the host is behind the transport
  package init(_ transport: any HCITransport, _ tap: TrafficTap, isController: Bool = false) {
    self.transport = transport
    self.tap = tap
    sent = isController ? .controllerToHost : .hostToController
    received = isController ? .hostToController : .controllerToHost
  }

  package func start() {
    listen()
    transport.start()
  }

  private func listen() {
    // Without this object: a closure that has it weakly makes each of its retains and releases slow.
    transport.onPacket = { [tap, received, onPacket] packet, arrival in
      let time = tap.take(packet, .hci(received), at: arrival.time)
      onPacket?(packet, Arrival(time, read: arrival.read))
    }
  }

  package func send(_ packet: RawSpan) {
    // The time at which the loop began to handle the event that caused this packet: not before that of the previous
    // packets, nor after that of the following ones.
    tap.take(packet, .hci(sent), at: timers.now.wholeMicroseconds)
    transport.send(packet)
  }
}

/// Observes HCI traffic: numbers the packets in one order, and passes each to a recording, to an observer, or to both.
/// The number, the time and the bytes are those of the recording.
@BluetoothActor
package final class TrafficTap: @BluetoothActor TickObserver {
  /// Called for each packet and each note, after it was written. The span is valid only during the call.
  @exclusivity(unchecked) package var onPacket: ((RawSpan, CaptureRecordInfo) -> Void)?
  /// Called once, when writing has failed; observing continues.
  package var onFailure: ((CaptureError) -> Void)?

  /// The number of packets.
  @exclusivity(unchecked) package private(set) var count = 0
  /// The offset from the loop's microseconds to the time of day, in microseconds since 1970-01-01 UTC. Determined once:
  /// the wall clock may be set during the capture, and its times must not jump.
  package let wallOffset: Int64

  /// The recording; nil if none.
  package let writer: CaptureWriter?
  private let timers: Timers
  @exclusivity(unchecked) private var last = Instant.zero
  /// Whether records are collected, which are written at the end of this turn of the loop.
  @exclusivity(unchecked) private var isCollecting = false

  /// - Parameters:
  ///   - writer: the recording; nil if none
  ///   - timers: the time of the packets
  ///   - wallOffset: see ``wallOffset``; by default, from the kernel's clock
  package init(writer: CaptureWriter? = nil, timers: Timers, wallOffset: Int64? = nil) {
    self.writer = writer
    self.timers = timers
    self.wallOffset = wallOffset ?? SystemClock.wallOffset(of: timers)
  }

  /// Processes the next packet.
  ///
  /// The kernel's timestamp of a packet may be earlier than that of a packet sent before it was read; the times of a
  /// capture must not decrease, also for a replay.
  ///
  /// - Parameters:
  ///   - bytes: an HCI packet with its type byte; or the data described by `content`
  ///   - content: the kind of the data
  ///   - adapter: its index; nil if it is not an adapter of the kernel
  ///   - time: when it was received or sent
  /// - Returns: the time assigned to it
  @discardableResult
  package func take(
    _ bytes: RawSpan, _ content: CaptureContent, adapter: UInt16? = nil, at time: Instant
  ) -> Instant {
    last = max(last, time)
    count += 1
    let info = CaptureRecordInfo(
      number: count, microseconds: last.nanoseconds / 1000 + wallOffset, adapter: adapter, content: content,
      originalLength: bytes.byteCount)
    if let writer {
      writer.collect(bytes, info)
      if !isCollecting {
        isCollecting = true
        EpollLoop.shared.atEndOfTick(self)
      }
    }
    onPacket?(bytes, info)
    return last
  }

  /// Records a note; see `CaptureNote`.
  package func note(_ text: String) {
    take(
      CaptureNote.packet(text).span.bytes, .hci(.controllerToHost), at: timers.now)
  }

  /// The packets of one wake-up are written together.
  package func tickDidEnd() {
    isCollecting = false
    guard let writer, onFailure != nil || writer.failure == nil else { return }
    writer.flush()
    if let failure = writer.failure { onFailure.take()?(failure) }
  }
}
