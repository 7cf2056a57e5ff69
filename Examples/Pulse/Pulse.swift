import EventLoop
import GATTClient
import HCI
import RingLink
import VirtualRing

@main
enum Pulse {
  static func main() async throws { try await stream() }

  @BluetoothActor
  static func stream() async throws {
    let central = Central(HCIAdapter(VirtualTransport(VirtualRingOptions())))
    try await central.start()
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
    let ring = try await Ring.open(try await central.connect(ConnectionRequest(peer: device.address)))
    print(try await ring.battery())
    try await ring.startRawStream { sample, time in print(time, sample) }
    await EventLoop.shared.sleep(for: .seconds(5))
    await ring.stopRawStream()
    await central.stop()
  }
}
