import HCI
import HaloBluetoothCore

/// The transport to a controller in the ``RadioMedium``: for hosts that meet in one process.
@BluetoothActor
package final class SimulatedTransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)?
  /// Called by tests alone: memory does not go away.
  package var onClose: ((String) -> Void)?
  package var timers: Timers { medium.timers }

  /// The controller, from ``start()`` to ``close()``.
  package private(set) var controller: VirtualController?
  private let medium: RadioMedium
  private let options: ControllerOptions

  package init(_ medium: RadioMedium, _ options: ControllerOptions = ControllerOptions()) {
    self.medium = medium
    self.options = options
  }

  package func start() {
    let timers = medium.timers
    let controller = VirtualController(options, in: medium) { [weak self] packet in
      self?.onPacket?(packet, Arrival(timers.now.wholeMicroseconds))
    }
    self.controller = controller
    medium.add(controller)
  }

  package func send(_ packet: RawSpan) {
    controller?.receive(packet)
  }

  package var canReopen: Bool { true }

  /// The next ``start()`` makes another controller.
  package func reopen(within time: Duration) { close() }

  package func close() {
    if let controller { medium.remove(controller) }
    controller = nil
    onPacket = nil
  }
}
