import BluetoothCore
import Capture
import HCI
import L2CAP

/// An adapter, as far as the capture has shown it: commands that wait for their event, links, and the attributes of
/// the devices that it met. All of it is bounded: what was not used for longest is forgotten.
final class AdapterState {
  static let commandCapacity = 32
  static let linkCapacity = 64
  static let serverCapacity = 64

  @exclusivity(unchecked) private var commands: [(opcode: HCIOpcode, moment: Moment)] = []
  @exclusivity(unchecked) private(set) var links: [ConnectionHandle: Link] = [:]
  private var servers: [(address: BluetoothAddress, server: Server)] = []
  /// The attributes of this machine.
  let localServer = Server()

  private let knownDevices: [Dissector.KnownDevice]

  init(_ knownDevices: [Dissector.KnownDevice]) { self.knownDevices = knownDevices }

  func dissect(_ packet: inout DissectedPacket, _ bytes: RawSpan) {
    let moment = Moment(packet.info)
    guard let hci = packet.hci else { return }
    switch hci.type {
    case .command: sendCommand(hci, moment)
    case .event: receiveEvent(&packet, bytes, moment)
    case .acl: receiveData(&packet, bytes, moment)
    default: break
    }
  }

  var knownServers: [Dissector.KnownServer] {
    var known = servers.map { Dissector.KnownServer(name: $0.address.description, table: $0.server.table) }
    for (handle, link) in links.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where link.peer == nil {
      known.append(.init(name: "the peer of link \(handle)", table: link.peerServer.table))
    }
    known.append(.init(name: "this machine", table: localServer.table))
    return known.filter { !$0.table.attributes.isEmpty }
  }

  private func sendCommand(_ hci: HCILayer, _ moment: Moment) {
    guard let opcode = hci.opcode else { return }
    if commands.count >= Self.commandCapacity { commands.removeFirst() }
    commands.append((opcode, moment))
  }

  private func receiveEvent(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: Moment) {
    guard let hci = packet.hci else { return }
    if let opcode = hci.opcode, let index = commands.firstIndex(where: { $0.opcode == opcode }) {
      packet.hci?.command = PacketReference(commands.remove(at: index).moment, to: moment)
    }
    switch (hci.event, hci.subevent) {
    case (.disconnectionComplete?, _):
      guard let handle = hci.connection else { return }
      packet.hci?.peer = links[handle]?.peer
      if hci.status == .success {
        packet.unanswered = links.removeValue(forKey: handle)?.open ?? []
      }
    case (.leMeta?, .connectionComplete?), (.leMeta?, .enhancedConnectionComplete?),
      (.leMeta?, .enhancedConnectionCompleteV2?):
      var reader = ByteReader(bytes.extracting(min(1, bytes.byteCount)..<bytes.byteCount))
      guard case .leConnectionComplete(let event)? = try? HCIEvent(parsing: &reader), event.status == .success
      else { return }
      packet.hci?.peer = event.peerAddress
      packet.unanswered = open(event.handle, event.peerAddress, moment)
    case (HCIEventCode(rawValue: 0x03)?, _) where hci.status == .success:
      // Connection Complete of BR/EDR: status, handle, address (Vol 4, Part E, 7.7.3).
      var reader = ByteReader(bytes.extracting(min(6, bytes.byteCount)..<bytes.byteCount))
      guard let handle = hci.connection, let peer = try? BluetoothAddress(parsing: &reader, kind: .public)
      else { return }
      packet.hci?.peer = peer
      packet.unanswered = open(handle, peer, moment)
    default: packet.hci?.peer = hci.connection.flatMap { links[$0]?.peer }
    }
  }

  /// - Returns: requests on an earlier link of that number whose end was not seen
  private func open(_ handle: ConnectionHandle, _ peer: BluetoothAddress, _ moment: Moment) -> [Int] {
    let lost = links.removeValue(forKey: handle)?.open ?? []
    add(Link(peer: peer, peerServer: server(of: peer), localServer: localServer), handle, moment)
    return lost
  }

  private func add(_ link: Link, _ handle: ConnectionHandle, _ moment: Moment) {
    if links.count >= Self.linkCapacity, let oldest = links.min(by: { $0.value.lastUsed < $1.value.lastUsed })
    {
      links[oldest.key] = nil
    }
    link.lastUsed = moment.number
    links[handle] = link
  }

  private func server(of address: BluetoothAddress) -> Server {
    if let index = servers.firstIndex(where: { $0.address == address }) {
      let known = servers.remove(at: index)
      servers.append(known)
      return known.server
    }
    if servers.count >= Self.serverCapacity { servers.removeFirst() }
    let server = Server()
    if let device = knownDevices.first(where: { $0.address == address }) { server.table.learn(device) }
    servers.append((address, server))
    return server
  }

  private func receiveData(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: Moment) {
    guard let handle = packet.hci?.connection, handle != .controllerDebug,
      let acl = try? ACLPacket(bytes.extracting(min(1, bytes.byteCount)..<bytes.byteCount))
    else { return }
    if links[handle] == nil {
      // The capture begins in the middle of the link.
      add(Link(peer: nil, peerServer: Server(), localServer: localServer), handle, moment)
    }
    guard let link = links[handle] else { return }
    link.lastUsed = moment.number
    packet.hci?.peer = link.peer
    link.receive(acl, into: &packet, at: moment)
  }
}
