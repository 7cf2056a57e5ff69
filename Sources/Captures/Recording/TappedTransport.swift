import HCI
import HaloBluetoothCore
import HaloCapture

/// A transport with a tap, which receives each packet in order.
@BluetoothActor
public final class TappedTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)? {
    didSet { listen() }
  }
  public var onClose: ((String) -> Void)? {
    get { transport.onClose }
    set { transport.onClose = newValue }
  }
  public var timers: Timers { transport.timers }
  public var droppedPackets: Int? { transport.droppedPackets }
  public var reads: UInt64? { transport.reads }
  public var linkPreferences: LinkPreferences? { transport.linkPreferences }
  public var name: String { transport.name }

  private let transport: any HCITransport
  private let tap: TrafficTap
  private let sent: CaptureDirection
  private let received: CaptureDirection

  /// - Parameters:
  ///   - transport: carries the packets
  ///   - tap: receives a copy of each
  ///   - isController: whether this side is the controller, and the host is behind the transport
  public init(_ transport: any HCITransport, _ tap: TrafficTap, isController: Bool = false) {
    self.transport = transport
    self.tap = tap
    sent = isController ? .controllerToHost : .hostToController
    received = isController ? .hostToController : .controllerToHost
  }

  public func start() {
    listen()
    transport.start()
  }

  private func listen() {
    // Without this object: a closure that has it weakly makes each of its retains and releases slow.
    transport.onPacket = { [tap, received, onPacket] packet, time in
      let time = tap.take(packet, .hci(received), at: time)
      onPacket?(packet, time)
    }
  }

  public func send(_ packet: RawSpan) {
    // The time at which the loop began to handle the event that caused this packet: not before that of the previous
    // packets, nor after that of the following ones.
    tap.take(packet, .hci(sent), at: timers.now)
    transport.send(packet)
  }

  public func reopen(within time: Duration) async throws(HCIError) {
    try await transport.reopen(within: time)
  }

  public func close() {
    transport.close()
  }

  public func finishClosing() async {
    await transport.finishClosing()
  }
}
