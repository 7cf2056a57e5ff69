import BluetoothCore
import Capture
import EventLoop

/// Looks at HCI traffic while it passes: numbers the packets in one order, and hands each to a recording, to whoever
/// watches, or to both. The number, the time and the bytes are those that the recording will have.
@BluetoothActor
public final class TrafficTap {
  /// Called for each packet and each remark, once it is written. The span is valid only during the call.
  public var onPacket: ((RawSpan, CaptureRecordInfo) -> Void)?
  /// Called once, when nothing can be written any more; watching goes on.
  public var onFailure: ((CaptureError) -> Void)?

  /// How many packets have passed.
  public private(set) var count = 0
  /// What to add to the loop's microseconds to get the time of day, in microseconds since 1970-01-01 UTC. Taken once:
  /// the clock on the wall may be set meanwhile, and times in a capture must not jump.
  public let wallOffset: Int64

  /// The recording; nil if none.
  public let writer: CaptureWriter?
  private var last = Instant.zero

  /// - Parameters:
  ///   - writer: the recording; nil if none
  ///   - wallOffset: see ``wallOffset``; by itself, what the kernel's clock says
  public init(writer: CaptureWriter? = nil, wallOffset: Int64? = nil) {
    self.writer = writer
    self.wallOffset = wallOffset ?? SystemClock.wallMicroseconds - EventLoop.shared.now.nanoseconds / 1000
  }

  /// Takes the next packet.
  ///
  /// The kernel's stamp of a packet may be earlier than what was sent before it was fetched; a capture, and what a
  /// replay makes of it, goes forward only.
  ///
  /// - Parameters:
  ///   - bytes: an HCI packet with its type byte; or what `content` says
  ///   - adapter: its index; nil if it is not the kernel's
  /// - Returns: the time that it is given
  @discardableResult
  public func take(
    _ bytes: RawSpan, _ content: CaptureContent, adapter: UInt16? = nil, at time: Instant
  ) -> Instant {
    last = max(last, time)
    count += 1
    let info = CaptureRecordInfo(
      number: count, microseconds: last.nanoseconds / 1000 + wallOffset, adapter: adapter, content: content,
      originalLength: bytes.byteCount)
    if let writer, writer.failure == nil {
      writer.write(bytes, info)
      if let failure = writer.failure { report(failure) }
    }
    onPacket?(bytes, info)
    return last
  }

  /// Takes a remark; see ``CaptureNote``.
  public func note(_ text: String) {
    take(
      CaptureNote.packet(text).span.bytes, .hci(.controllerToHost), at: EventLoop.shared.timers.now)
  }

  private func report(_ failure: CaptureError) {
    let onFailure = self.onFailure
    self.onFailure = nil
    EventLoop.shared.timers.schedule(after: .zero) { onFailure?(failure) }
  }
}
