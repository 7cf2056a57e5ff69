import HCI
import HaloBluetoothCore

/// The transport to a controller in the ``Air``: for hosts that meet in one process.
@BluetoothActor
public final class AirTransport: HCITransport {
  public var onPacket: ((RawSpan, Instant) -> Void)?
  /// Called by tests alone: memory does not go away.
  public var onClose: ((String) -> Void)?
  public var timers: Timers { air.timers }

  /// The controller, from ``start()`` to ``close()``.
  public private(set) var controller: VirtualController?
  private let air: Air
  private let options: ControllerOptions

  public init(_ air: Air, _ options: ControllerOptions = ControllerOptions()) {
    self.air = air
    self.options = options
  }

  public func start() {
    let timers = air.timers
    let controller = VirtualController(options, in: air) { [weak self] packet in
      self?.onPacket?(packet, timers.now.wholeMicroseconds)
    }
    self.controller = controller
    air.add(controller)
  }

  public func send(_ packet: RawSpan) {
    controller?.receive(packet)
  }

  /// The next ``start()`` makes another controller.
  public func reopen(within time: Duration) { close() }

  public func close() {
    if let controller { air.remove(controller) }
    controller = nil
    onPacket = nil
  }
}
