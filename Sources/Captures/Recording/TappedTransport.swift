import HCI
import HaloBluetoothCore
import HaloCapture

/// A transport with a tap, which receives each packet in order.
@BluetoothActor
package final class TappedTransport: HCITransportLayer {
  package var onPacket: ((RawSpan, Arrival) -> Void)? {
    didSet { listen() }
  }

  package let transport: any HCITransport
  private let tap: TrafficTap
  private let sent: CaptureDirection
  private let received: CaptureDirection

  /// - Parameters:
  ///   - transport: carries the packets
  ///   - tap: receives a copy of each
  ///   - isController: whether this side is the controller, and the host is behind the transport
  package init(_ transport: any HCITransport, _ tap: TrafficTap, isController: Bool = false) {
    self.transport = transport
    self.tap = tap
    sent = isController ? .controllerToHost : .hostToController
    received = isController ? .hostToController : .controllerToHost
  }

  package func start() {
    listen()
    transport.start()
  }

  private func listen() {
    // Without this object: a closure that has it weakly makes each of its retains and releases slow.
    transport.onPacket = { [tap, received, onPacket] packet, arrival in
      let time = tap.take(packet, .hci(received), at: arrival.time)
      onPacket?(packet, Arrival(time, read: arrival.read))
    }
  }

  package func send(_ packet: RawSpan) {
    // The time at which the loop began to handle the event that caused this packet: not before that of the previous
    // packets, nor after that of the following ones.
    tap.take(packet, .hci(sent), at: timers.now.wholeMicroseconds)
    transport.send(packet)
  }
}
