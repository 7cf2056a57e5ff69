import ATT
import HaloBluetoothCore

/// The two sides of an ATT bearer as clients: each has one open request. The fixed channel of a link is one bearer,
/// each credit-based channel with the PSM of EATT another one (Core Specification Vol 3, Part F, 3.2.11).
struct ATTBearers {
  /// The host as a client, and the peer as one.
  private(set) var host = GATTTracker()
  private(set) var remote = GATTTracker()

  /// The requests without a response.
  var open: [Int] { [host.open, remote.open].compactMap { $0?.moment.number } }

  mutating func receive(
    _ att: ATTLayer, _ source: RawSpan, isSent: Bool, at moment: PacketTime, peer: DissectedServer,
    local: DissectedServer
  ) -> GATTLayer? {
    let kind = att.opcode.kind
    let isFromClient = att.isFromClient
    let isHostClient = isFromClient == isSent
    let server = isHostClient ? peer : local
    // Values that do not describe attributes are read in place.
    let pdu = att.opcode.carriesOnlyValue ? nil : try? ATTReader.read(source.extracting(att.range))
    if isFromClient {
      if att.opcode == .writeRequest, let value = att.value {
        server.noteWrite(att.handle, source.extracting(value))
      }
      return isHostClient
        ? host.takeRequest(att, pdu, at: moment, server) : remote.takeRequest(att, pdu, at: moment, server)
    }
    guard kind != .unknown else { return nil }
    if att.opcode == .handleValueNotification || att.opcode == .handleValueIndication {
      server.noteValue(att.handle)
    }
    return isHostClient
      ? host.takeResponse(att, pdu, at: moment, server) : remote.takeResponse(att, pdu, at: moment, server)
  }
}

extension ATTLayer {
  /// Whether a client sends this PDU, as opposed to a server.
  var isFromClient: Bool {
    let kind = opcode.kind
    return kind == .request || kind == .command || kind == .confirmation
  }
}

extension ATTOpcode {
  /// Whether a handle and a value are all that it has.
  var carriesOnlyValue: Bool {
    switch self {
    case .writeRequest, .writeCommand, .handleValueNotification, .handleValueIndication: true
    default: false
    }
  }
}
