import BluetoothCore
import EventLoop
import HCI

/// The built-in ring and its controller as a transport, in this process. Packets take their way through the loop, as
/// they would through a wire: none arrives within the call that caused it.
@BluetoothActor
public final class VirtualTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  public var onClose: ((String) -> Void)?

  /// The controller with the ring behind it.
  public let controller: VirtualController

  private let inbox = Inbox()

  /// What the controller has sent and the host has not got yet. A class of its own, as the controller fills it
  /// before this object is complete.
  private final class Inbox {
    var packets: [[UInt8]] = []
    var isScheduled = false
    var deliver: (() -> Void)?

    func add(_ packet: RawSpan, _ timers: Timers) {
      packets.append(Array(packet))
      guard !isScheduled else { return }
      isScheduled = true
      timers.schedule(after: .zero) { [weak self] in
        self?.isScheduled = false
        self?.deliver?()
      }
    }
  }

  public init(_ options: VirtualRingOptions) {
    let timers = EventLoop.shared.timers
    let inbox = self.inbox
    controller = VirtualController(options: options, timers: timers) { inbox.add($0, timers) }
  }

  public func start() {
    inbox.deliver = { [weak self] in self?.deliver() }
  }

  private func deliver() {
    let time = EventLoop.shared.now.wholeMicroseconds
    let packets = inbox.packets
    inbox.packets.removeAll(keepingCapacity: true)
    for packet in packets { onPacket?(packet.span.bytes, time) }
  }

  public func send(_ packet: RawSpan) {
    let packet = Array(packet)
    EventLoop.shared.timers.schedule(after: .zero) { [weak self] in
      self?.controller.receive(packet.span.bytes)
    }
  }

  public func close() {
    inbox.deliver = nil
    onPacket = nil
    onClose = nil
  }
}
