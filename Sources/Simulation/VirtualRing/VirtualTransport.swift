import HCI
import HaloBluetoothCore

/// The transport to a virtual ring in this process: `virtual[:OPTIONS]`. Its users cannot distinguish it from a radio.
@BluetoothActor
package final class VirtualTransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)?
  /// Never called: memory does not go away.
  package var onClose: ((String) -> Void)?

  /// The controller and its rings, from ``start()`` to ``close()``.
  package private(set) var radio: RingRadio?
  package let timers: Timers
  private let options: VirtualRingOptions

  package init(_ options: VirtualRingOptions, timers: Timers) {
    self.options = options
    self.timers = timers
  }

  package func start() {
    let timers = self.timers
    radio = RingRadio(options: options, timers: timers) { [weak self] packet in
      // The time at which it was due, not at which the loop processed it: the same in every run.
      self?.onPacket?(packet, Arrival(timers.now.wholeMicroseconds))
    }
  }

  package func send(_ packet: RawSpan) {
    radio?.receive(packet)
  }

  package func close() {
    radio = nil
    onPacket = nil
  }
}
