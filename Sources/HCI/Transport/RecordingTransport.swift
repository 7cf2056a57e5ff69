import BluetoothCore
import Capture
import EventLoop

/// A tap on another transport: each packet that passes is written to a capture file, in the order in which it
/// passes.
@BluetoothActor
public final class RecordingTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)? {
    get { transport.onClose }
    set { transport.onClose = newValue }
  }
  public var droppedPackets: Int? { transport.droppedPackets }
  /// Called once, when nothing can be written any more; the transport works on.
  public var onRecordingFailure: ((CaptureError) -> Void)?

  private let transport: any HCITransport
  private let writer: CaptureWriter
  /// What to add to the loop's microseconds to get the time of day, in microseconds since 1970-01-01 UTC. Taken once:
  /// the clock on the wall may be set meanwhile, and times in a capture must not jump.
  public let wallOffset: Int64
  private var last = Instant.zero

  /// - Parameter wallOffset: see ``wallOffset``; by itself, what the kernel's clock says
  public init(_ transport: any HCITransport, writer: CaptureWriter, wallOffset: Int64? = nil) {
    self.transport = transport
    self.writer = writer
    self.wallOffset =
      wallOffset ?? SystemClock.wallMicroseconds - EventLoop.shared.now.nanoseconds / 1000
  }

  public func start() {
    transport.onPacket = { [weak self] packet, time in
      guard let self else { return }
      // The kernel's stamp of a packet may be earlier than what was sent before it was fetched; a capture, and what a
      // replay makes of it, goes forward only.
      let time = max(last, time)
      record(packet, .controllerToHost, at: time)
      onPacket?(packet, time)
    }
    transport.start()
  }

  public func send(_ packet: RawSpan) {
    // The time at which the loop began to handle whatever makes us send; never before what was handled already,
    // and so never after what will be.
    record(packet, .hostToController, at: max(last, EventLoop.shared.timers.now))
    transport.send(packet)
  }

  /// Writes a remark.
  public func note(_ text: String) {
    record(CaptureNote.packet(text).span.bytes, .controllerToHost, at: max(last, EventLoop.shared.timers.now))
  }

  public func close() {
    transport.close()
  }

  private func record(_ packet: RawSpan, _ direction: CaptureDirection, at time: Instant) {
    guard writer.failure == nil else { return }
    last = time
    writer.write(packet, direction: direction, microseconds: time.nanoseconds / 1000 + wallOffset)
    if let failure = writer.failure {
      let onRecordingFailure = self.onRecordingFailure
      self.onRecordingFailure = nil
      EventLoop.shared.timers.schedule(after: .zero) { onRecordingFailure?(failure) }
    }
  }
}
