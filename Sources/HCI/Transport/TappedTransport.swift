import BluetoothCore
import EventLoop

/// Another transport with a tap: each packet that passes is seen, in the order in which it passes.
@BluetoothActor
public final class TappedTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)? {
    get { transport.onClose }
    set { transport.onClose = newValue }
  }
  public var droppedPackets: Int? { transport.droppedPackets }

  private let transport: any HCITransport
  private let tap: TrafficTap

  public init(_ transport: any HCITransport, _ tap: TrafficTap) {
    self.transport = transport
    self.tap = tap
  }

  public func start() {
    transport.onPacket = { [weak self] packet, time in
      guard let self else { return }
      onPacket?(packet, tap.take(packet, .hci(.controllerToHost), at: time))
    }
    transport.start()
  }

  public func send(_ packet: RawSpan) {
    // The time at which the loop began to handle whatever makes us send; never before what was handled already,
    // and so never after what will be.
    tap.take(packet, .hci(.hostToController), at: EventLoop.shared.timers.now)
    transport.send(packet)
  }

  public func close() {
    transport.close()
  }
}
