import ATT
import HCI
import HaloBluetoothCore

/// The ATT traffic of one LE connection of a capture, with the side that is the server.
package struct RecordedConnection: Sendable, CustomStringConvertible {
  /// A PDU, complete.
  package struct PDU: Hashable, Sendable {
    /// The number of the packet that completes it, counted from 1.
    package var packet: Int
    /// In microseconds since 1970-01-01 UTC; does not decrease within a connection.
    package var time: Int64
    /// Whether the side that is the server sent it.
    package var isFromServer: Bool
    /// The opcode and its parameters.
    package var bytes: [UInt8]

    /// The handle behind the opcode, of a PDU that has one there; nil if it is too short.
    package var leadingHandle: AttributeHandle? {
      bytes.count >= 3 ? AttributeHandle(UInt16(bytes[2]) << 8 | UInt16(bytes[1])) : nil
    }
  }

  /// Counted from 1 in the order of the capture, among the connections with ATT traffic.
  package internal(set) var number = 1
  /// The index of the adapter, if the capture has adapters.
  package internal(set) var adapter: UInt16?
  /// The address of the peer of the host that was captured; nil if the capture begins in mid-connection.
  package internal(set) var peer: BluetoothAddress?
  /// The parameters at the start; nil if the capture begins in mid-connection.
  package internal(set) var parameters: LinkParameters?
  /// Whether the peer is the server; if not, the host that was captured is.
  package internal(set) var isServerPeer = true
  package internal(set) var pdus: [PDU] = []
  /// The time of the connection event, else of the first packet, in microseconds since 1970-01-01 UTC.
  package internal(set) var start: Int64 = 0
  /// The time of the end of the connection, else of the last packet.
  package internal(set) var end: Int64 = 0
  /// Why the connection ended, as reported to the host; nil if the end is not in the capture.
  package internal(set) var reason: HCIErrorCode?

  /// Made by hand, for tests.
  package init(peer: BluetoothAddress?, pdus: [PDU], reason: HCIErrorCode? = nil, end: Int64? = nil) {
    self.peer = peer
    self.pdus = pdus
    self.reason = reason
    start = pdus.first?.time ?? 0
    self.end = end ?? pdus.last?.time ?? 0
  }

  /// The attributes that its discoveries and reads show.
  package var attributes: RecordedAttributes {
    var attributes = RecordedAttributes()
    attributes.learn(self)
    return attributes
  }

  /// The numbers of its first and last packet.
  package var packets: ClosedRange<Int>? {
    guard let first = pdus.first, let last = pdus.last else { return nil }
    return first.packet...max(first.packet, last.packet)
  }

  /// Why the server's side, or the radio, ended the connection; nil if the client did, or if the end is unknown.
  var loss: HCIErrorCode? {
    guard let reason else { return nil }
    let isLocal = reason == .connectionTerminatedByLocalHost
    if isServerPeer { return isLocal ? nil : reason }
    if isLocal { return .remoteUserTerminatedConnection }
    return reason == .connectionTimeout ? reason : nil
  }

  /// The amount of its contents: how many notifications and indications its server sent, and how many responses.
  package var content: (values: Int, responses: Int) {
    (
      count(.notification, isFromServer: true) + count(.indication, isFromServer: true),
      count(.response, isFromServer: true)
    )
  }

  private func count(_ kind: ATTOpcode.Kind, isFromServer: Bool) -> Int {
    pdus.count { $0.isFromServer == isFromServer && ATTOpcode(rawValue: $0.bytes.first ?? 0).kind == kind }
  }

  /// Makes the side the server that alone sent notifications, else the one that sent more of these and of responses; the
  /// peer if they are equal. A phone and a watch ask each other.
  ///
  /// Indications do not count: the hosts of phones indicate Service Changed to all that connect. Until this is called,
  /// `isFromServer` means that the peer sent a PDU.
  mutating func findServer() {
    func sent(isByPeer: Bool) -> (notifications: Int, responses: Int) {
      (count(.notification, isFromServer: isByPeer), count(.response, isFromServer: isByPeer))
    }
    let (peer, host) = (sent(isByPeer: true), sent(isByPeer: false))
    if (peer.notifications == 0) != (host.notifications == 0) {
      isServerPeer = peer.notifications > 0
    } else {
      isServerPeer = peer.notifications + peer.responses >= host.notifications + host.responses
    }
    guard !isServerPeer else { return }
    for index in pdus.indices { pdus[index].isFromServer.toggle() }
  }

  /// `2: C0:11:22:33:A1:B2, packets 120 to 480, 96 ATT PDUs`
  package var description: String {
    let place = packets.map { ", packets \($0.lowerBound) to \($0.upperBound)" } ?? ""
    return "\(number): \(peer.map(\.description) ?? "unknown peer")\(place), \(pdus.count) ATT PDUs"
  }
}
