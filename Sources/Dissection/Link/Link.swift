import ATT
import BluetoothCore
import Capture
import GATTClient
import HCI
import L2CAP
import RingLink

/// A link, as far as the capture has shown it.
final class Link {
  /// The largest frame that L2CAP has.
  static let maximumPayload = 65535

  var peer: BluetoothAddress?
  let peerServer: Server
  let localServer: Server
  @exclusivity(unchecked) var lastUsed = 0

  /// The host as a client, and the peer as one.
  @exclusivity(unchecked) private(set) var host = GATTTracker()
  @exclusivity(unchecked) private(set) var remote = GATTTracker()
  @exclusivity(unchecked) private var ring = RingTracker()
  private let sent = Recombiner(maximumPayload: Link.maximumPayload, reserved: 64)
  private let received = Recombiner(maximumPayload: Link.maximumPayload, reserved: 64)
  @exclusivity(unchecked) private var sentFragments = 0
  @exclusivity(unchecked) private var receivedFragments = 0

  init(peer: BluetoothAddress?, peerServer: Server, localServer: Server) {
    self.peer = peer
    self.peerServer = peerServer
    self.localServer = localServer
  }

  /// The requests without a response.
  var open: [Int] {
    [host.open, remote.open].compactMap { $0?.moment.number }
  }

  /// Handles the data of an ACL packet, and adds the layers of the frame that it completes.
  func receive(_ acl: ACLPacket, into packet: inout DissectedPacket, at moment: Moment) {
    let isStart = acl.header.boundary != .continuing
    let isSent = direction(of: acl.header.boundary, packet.info.direction) == .hostToController
    let recombiner = isSent ? sent : received
    var fragments = isStart ? 1 : (isSent ? sentFragments : receivedFragments) + 1
    let before = recombiner.counters
    var frame: L2CAPLayer?
    var whole: [UInt8]?
    recombiner.receive(acl.data, isStart: isStart) { channel, payload in
      if fragments == 1 {
        // The frame is complete in the packet, after the type byte and the header.
        let start = 1 + ACLHeader.length
        frame = L2CAPLayer(
          channel: channel, range: start..<start + BasicHeader.length + payload.byteCount, fragments: 1)
      } else {
        var writer = ByteWriter(capacity: payload.byteCount + BasicHeader.length)
        BasicHeader.writeFrame(payload, on: channel, into: &writer)
        frame = L2CAPLayer(channel: channel, range: 0..<writer.count, fragments: fragments)
        whole = writer.bytes
      }
    }
    if frame != nil { fragments = 0 }
    if isSent { sentFragments = fragments } else { receivedFragments = fragments }
    packet.reassembled = whole
    packet.l2cap = frame
    let after = recombiner.counters
    if after.overlong > before.overlong {
      packet.hci?.problem = .overlongFrame
    } else if after.orphans > before.orphans {
      packet.hci?.problem = .orphan
    } else if after.unfinished > before.unfinished {
      packet.hci?.problem = .unfinishedFrame
    }
    if let frame { receive(frame, into: &packet, isSent: isSent, at: moment) }
  }

  /// Where the direction is unknown: a host starts non-flushable frames, a controller others (Vol 4, Part E, 5.4.2); a
  /// continuation belongs to the incomplete frame.
  private func direction(
    of boundary: ACLHeader.Boundary, _ known: CaptureDirection?
  ) -> CaptureDirection {
    if let known { return known }
    if boundary == .continuing { return sent.isCollecting ? .hostToController : .controllerToHost }
    return boundary == .firstNonFlushable ? .hostToController : .controllerToHost
  }

  private func receive(
    _ frame: L2CAPLayer, into packet: inout DissectedPacket, isSent: Bool, at moment: Moment
  ) {
    let bytes = packet.source
    let source = bytes.span.bytes
    switch frame.channel {
    case .attribute:
      guard let att = ATTLayer(source, frame.payload) else { return }
      packet.att = att
      receive(att, source, into: &packet, isSent: isSent, at: moment)
    case .leSignaling, ChannelID(rawValue: 1): packet.signaling = SignalingLayer(source, frame.payload)
    case .securityManager, ChannelID(rawValue: 7): packet.smp = SMPLayer(source, frame.payload)
    default: break
    }
  }

  private func receive(
    _ att: ATTLayer, _ source: RawSpan, into packet: inout DissectedPacket, isSent: Bool, at moment: Moment
  ) {
    let kind = att.opcode.kind
    let isFromClient = kind == .request || kind == .command || kind == .confirmation
    let isHostClient = isFromClient == isSent
    let server = isHostClient ? peerServer : localServer
    // Values that do not describe attributes are read in place.
    let pdu = att.opcode.carriesOnlyValue ? nil : try? ATTPDU(source.extracting(att.range))
    if isFromClient {
      packet.gatt =
        isHostClient
        ? host.takeRequest(att, pdu, at: moment, server) : remote.takeRequest(att, pdu, at: moment, server)
    } else if kind != .unknown {
      packet.gatt =
        isHostClient
        ? host.takeResponse(att, pdu, at: moment, server) : remote.takeResponse(att, pdu, at: moment, server)
    }
    guard let handle = att.handle, let value = att.value else { return }
    switch att.opcode {
    case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication:
      packet.ring = ring.take(
        source, value, handle: handle, uuid: packet.gatt?.attribute?.uuid, isFromRing: !isFromClient,
        at: moment)
    default: break
    }
  }
}

extension ATTOpcode {
  /// Whether a handle and a value are all that it has.
  fileprivate var carriesOnlyValue: Bool {
    switch self {
    case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication: true
    default: false
    }
  }
}
