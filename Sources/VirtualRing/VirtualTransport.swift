import BluetoothCore
import HCI

/// The transport to a virtual ring in this process: `virtual[:OPTIONS]`. Its users cannot distinguish it from a radio.
@BluetoothActor
public final class VirtualTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  /// Never called: memory does not go away.
  public var onClose: ((String) -> Void)?

  /// The controller and its ring, from ``start()`` to ``close()``.
  public private(set) var controller: VirtualController?
  public let timers: Timers
  private let options: VirtualRingOptions

  public init(_ options: VirtualRingOptions, timers: Timers) {
    self.options = options
    self.timers = timers
  }

  public func start() {
    let timers = self.timers
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
