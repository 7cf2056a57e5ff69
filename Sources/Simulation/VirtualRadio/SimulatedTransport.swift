import HCI
import HaloBluetoothCore

/// The transport to a controller in the ``Air``: for hosts that meet in one process.
@BluetoothActor
package final class AirTransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)?
  /// Called by tests alone: memory does not go away.
  package var onClose: ((String) -> Void)?
  package var timers: Timers { air.timers }

  /// The controller, from ``start()`` to ``close()``.
  package private(set) var controller: VirtualController?
  private let air: Air
  private let options: ControllerOptions

  package init(_ air: Air, _ options: ControllerOptions = ControllerOptions()) {
    self.air = air
    self.options = options
  }

  package func start() {
    let timers = air.timers
    let controller = VirtualController(options, in: air) { [weak self] packet in
      self?.onPacket?(packet, Arrival(timers.now.wholeMicroseconds))
    }
    self.controller = controller
    air.add(controller)
  }

  package func send(_ packet: RawSpan) {
    controller?.receive(packet)
  }

  package var canReopen: Bool { true }

  /// The next ``start()`` makes another controller.
  package func reopen(within time: Duration) { close() }

  package func close() {
    if let controller { air.remove(controller) }
    controller = nil
    onPacket = nil
  }
}
