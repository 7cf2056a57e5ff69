import HCI
import HaloBluetoothCore
import L2CAP

@testable import HaloSimulation

/// The way to a controller, on which a test sees, changes and adds packets. The host above it is an honest one, unless its
/// packets are changed.
@BluetoothActor
final class TappedTransport: HCITransport {
  var onPacket: ((RawSpan, Arrival) -> Void)?
  var onClose: ((String) -> Void)?
  var timers: Timers { transport.timers }
  var canReopen: Bool { true }

  /// What is sent in place of a PDU of the Security Manager.
  var edit: ([UInt8]) -> [[UInt8]] = { [$0] }
  /// What the host is given in place of a packet of the controller, H4 type byte first.
  var editPacket: ([UInt8]) -> [[UInt8]] = { [$0] }
  /// Called when a link is there, in either role.
  var onLink: () -> Void = {}
  /// The PDUs of the Security Manager that have come.
  private(set) var heard: [[UInt8]] = []
  /// The PDUs of ATT that have come.
  private(set) var attributePDUs: [[UInt8]] = []

  /// The controller, as others hear it.
  var controller: VirtualController? { transport.controller }

  private let transport: SimulatedTransport
  private var handle: UInt16 = 0
  private var recombiner = Recombiner()

  init(_ medium: RadioMedium, _ options: ControllerOptions) {
    transport = SimulatedTransport(medium, options)
  }

  func start() {
    transport.onPacket = { [weak self] packet, arrival in self?.receive(Array(packet), arrival) }
    transport.start()
  }

  private func receive(_ packet: [UInt8], _ arrival: Arrival) {
    if packet[0] == 0x02 { listen(packet) }
    for packet in editPacket(packet) { onPacket?(packet.span.bytes, arrival) }
    // LE Connection Complete, or the enhanced one.
    if packet.starts(with: [0x04, 0x3E]), [0x01, 0x0A].contains(packet[3]), packet[4] == 0 {
      handle = UInt16(packet[5]) | UInt16(packet[6]) << 8
      recombiner = Recombiner()
      onLink()
    }
  }

  private func listen(_ packet: [UInt8]) {
    let data = Array(packet[5...])
    recombiner.receive(data.span.bytes, isStart: packet[2] >> 4 & 3 != 1) { channel, payload in
      switch channel {
      case .securityManager: heard.append(Array(payload))
      case .attribute: attributePDUs.append(Array(payload))
      default: break
      }
    }
  }

  func send(_ packet: RawSpan) {
    let bytes = Array(packet)
    guard bytes[0] == 0x02, bytes.count > 9, bytes[7] == 0x06, bytes[8] == 0x00 else {
      return transport.send(packet)
    }
    let pdus = edit(Array(bytes[9...]))
    for pdu in pdus { send(pdu) }
    // The host takes it for sent.
    guard pdus.isEmpty else { return }
    timers.schedule(after: .milliseconds(1)) { [weak self] in
      guard let self else { return }
      deliver(
        .numberOfCompletedPackets(NumberOfCompletedPackets([.init(handle: connectionHandle, count: 1)])))
    }
  }

  /// Sends a PDU of the Security Manager.
  func send(_ pdu: [UInt8]) { sendFrame(.securityManager, pdu) }

  func sendFrame(_ channel: ChannelID, _ payload: [UInt8]) {
    var writer = ByteWriter()
    writer.write(UInt8(2))
    ACLHeader(
      handle: ConnectionHandle(rawValue: handle), boundary: .firstNonFlushable,
      dataLength: UInt16(payload.count + 4)
    ).write(into: &writer)
    BasicHeader.writeFrame(payload.span.bytes, on: channel, into: &writer)
    transport.send(writer.span)
  }

  /// Sends a command that the host above does not know of.
  func send(_ command: some HCICommand) {
    var writer = ByteWriter()
    command.packet(into: &writer)
    transport.send(writer.span)
  }

  /// Gives the host an event that the controller has not sent.
  func deliver(_ event: HCIEvent) { onPacket?(event.packet.span.bytes, Arrival(timers.now)) }

  var connectionHandle: ConnectionHandle { ConnectionHandle(rawValue: handle) }

  /// The adapter is pulled out.
  func fail(_ reason: String) {
    let onClose = self.onClose
    close()
    onClose?(reason)
  }

  func reopen(within time: Duration) { close() }

  func close() {
    transport.close()
    onPacket = nil
  }
}
