import BluetoothCore
import EventLoop
import HCI

/// The transport to a virtual ring in this process: `virtual[:OPTIONS]`. Its users cannot distinguish it from a radio.
@BluetoothActor
public final class VirtualTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  /// Never called: memory does not go away.
  public var onClose: ((String) -> Void)?

  /// The controller and its ring, from ``start()`` to ``close()``.
  public private(set) var controller: VirtualController?
  private let options: VirtualRingOptions

  public init(_ options: VirtualRingOptions) {
    self.options = options
  }

  public func start() {
    let timers = EventLoop.shared.timers
    controller = VirtualController(options: options, timers: timers) { [weak self] packet in
      // The time at which it was due, not at which the loop processed it: the same in every run.
      self?.onPacket?(packet, timers.now.wholeMicroseconds)
    }
  }

  public func send(_ packet: RawSpan) {
    controller?.receive(packet)
  }

  public func close() {
    controller = nil
    onPacket = nil
  }
}
