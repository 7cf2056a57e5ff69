import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP

/// Writes the traffic of a replayed link as the HCI packets of a host, for a tap.
@BluetoothActor
struct ReplayedPackets {
  private static let handle = ConnectionHandle(rawValue: 0x0040)
  private let tap: TrafficTap

  init(_ tap: TrafficTap) { self.tap = tap }

  func connected(to peer: BluetoothAddress, _ parameters: LinkParameters?, at time: Instant) {
    var event = LEConnectionComplete()
    event.handle = Self.handle
    event.peerAddress = peer
    if let parameters { event.parameters = parameters }
    take(.leConnectionComplete(event), at: time)
  }

  func disconnected(_ reason: HCIErrorCode, at time: Instant) {
    take(.disconnectionComplete(DisconnectionComplete(handle: Self.handle, reason: reason)), at: time)
  }

  func report(_ report: AdvertisingReport, at time: Instant) {
    let form: AdvertisingReports.Form =
      report.eventType.contains(.legacy) && report.data.count <= 31
      ? .legacy : .extended
    take(.leAdvertisingReports(AdvertisingReports(form, [report])), at: time)
  }

  func pdu(_ pdu: RawSpan, isSent: Bool, at time: Instant) {
    var frame = ByteWriter(capacity: pdu.byteCount + BasicHeader.length)
    BasicHeader.writeFrame(pdu, on: .attribute, into: &frame)
    var packet = ByteWriter(capacity: frame.count + 5)
    packet.write(HCIPacketType.acl.rawValue)
    ACLHeader(
      handle: Self.handle, boundary: isSent ? .firstNonFlushable : .firstFlushable,
      dataLength: UInt16(clamping: frame.count)
    ).write(into: &packet)
    packet.write(frame.span)
    tap.take(packet.span, .hci(isSent ? .hostToController : .controllerToHost), at: time)
  }

  private func take(_ event: HCIEvent, at time: Instant) {
    var writer = ByteWriter(capacity: 64)
    event.packet(into: &writer)
    tap.take(writer.span, .hci(.controllerToHost), at: time)
  }
}
