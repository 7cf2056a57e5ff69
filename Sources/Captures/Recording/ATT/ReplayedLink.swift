import GAP
import HCI
import HaloBluetoothCore
import L2CAP

/// The link to a replayed peripheral.
@BluetoothActor
final class ReplayedLink: ATTLink {
  let peer: BluetoothAddress
  let parameters: LinkParameters?
  var onPDU: ((RawSpan, Arrival) -> Void)?
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  /// Called once, before ``onClosed``.
  var onEnd: ((LinkLoss, HCIErrorCode) -> Void)?

  let server: ReplayedServer
  private let timers: Timers
  private let packets: ReplayedPackets?
  private var isOpen = true

  init(
    _ peer: BluetoothAddress, _ parameters: LinkParameters?, _ server: ReplayedServer, timers: Timers,
    _ packets: ReplayedPackets?
  ) {
    self.peer = peer
    self.parameters = parameters
    self.server = server
    self.timers = timers
    self.packets = packets
  }

  func begin() {
    guard isOpen else { return }
    server.onPDU = { [weak self] bytes, time in
      guard let self, isOpen else { return }
      packets?.pdu(bytes.span.bytes, isSent: false, at: time)
      onPDU?(bytes.span.bytes, Arrival(time))
    }
    // The link object lives for as long as the link does.
    server.onLoss = { reason in self.end(.remote(reason), reason) }
    server.start()
  }

  func send(_ pdu: RawSpan) {
    guard isOpen else { return }
    packets?.pdu(pdu, isSent: true, at: timers.now)
    // The answer never arrives within the call.
    let bytes = Array(pdu)
    timers.schedule(after: .zero) { [weak self] in
      guard let self, isOpen else { return }
      server.receive(bytes.span.bytes)
    }
  }

  func disconnect() {
    timers.schedule(after: .zero) { self.end(.local, .connectionTerminatedByLocalHost) }
  }

  func readRSSI() async throws(StackError) -> Int8? { nil }

  private func end(_ loss: LinkLoss, _ reason: HCIErrorCode) {
    guard isOpen else { return }
    isOpen = false
    server.stop()
    onPDU = nil
    onEvent = nil
    onEnd.take()?(loss, reason)
    onClosed.take()?(loss)
  }
}

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
