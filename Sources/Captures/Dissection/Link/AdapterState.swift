import BluetoothCore
import HCI
import HaloCapture
import L2CAP

/// An adapter, as far as the capture has shown it: commands that wait for their event, links, and the attributes of
/// the devices that it met. All of it is bounded: what was not used for longest is forgotten.
final class AdapterState {
  static let linkCapacity = 64

  @exclusivity(unchecked) private var commands = CommandTracker()
  @exclusivity(unchecked) private var names = DeviceNames()
  /// The manufacturer of the controller, once it was read.
  @exclusivity(unchecked) private var manufacturer: CompanyIdentifier?
  @exclusivity(unchecked) private(set) var links: [ConnectionHandle: DissectedLink] = [:] {
    didSet { last = nil }
  }
  /// The link of the last data: most packets are on the same.
  @exclusivity(unchecked) private var last: DissectedLink?
  /// Links for voice, and isochronous streams.
  @exclusivity(unchecked) private var others: [ConnectionHandle: LinkIdentity] = [:]
  private var servers: DeviceServers
  /// The attributes of this machine.
  let localServer = Server()

  init(_ knownDevices: [Dissector.KnownDevice]) { servers = DeviceServers(knownDevices) }

  func dissect(_ packet: inout DissectedPacket, _ bytes: RawSpan) {
    let moment = PacketTime(packet.info)
    guard let hci = packet.hci else { return }
    switch hci.type {
    case .command: sendCommand(&packet, bytes, moment)
    case .event: receiveEvent(&packet, bytes, moment)
    case .acl: receiveData(&packet, bytes, moment)
    default: identify(&packet)
    }
  }

  var knownServers: [Dissector.KnownServer] {
    var known = servers.known
    for (handle, link) in links.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where link.peer == nil {
      known.append(.init(name: "the peer of link \(handle)", table: link.peerServer.table))
    }
    known.append(.init(name: "this machine", table: localServer.table))
    return known.filter { !$0.table.attributes.isEmpty }
  }

  private func sendCommand(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let hci = packet.hci else { return }
    if hci.opcode?.isVendorSpecific == true { packet.hci?.manufacturer = manufacturer }
    commands.send(hci, moment)
    if hci.opcode == .leCreateCIS { noteStreams(bytes.extracting(min(4, bytes.byteCount)..<bytes.byteCount)) }
    identify(&packet)
  }

  private func receiveEvent(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let hci = packet.hci, let event = hci.event else { return }
    if let command = commands.receive(hci) {
      packet.hci?.command = PacketReference(command.moment, to: moment)
      if hci.connection == nil { packet.hci?.connection = command.handle }
    }
    let parameters = bytes.extracting(min(3, bytes.byteCount)..<bytes.byteCount)
    for address in names.learn(from: event, hci.subevent, parameters) { rename(address) }
    switch (event, hci.subevent) {
    case (.disconnectionComplete, _):
      identify(&packet)
      guard let handle = hci.connection, hci.status == .success else { return }
      packet.unanswered = links.removeValue(forKey: handle)?.open ?? []
      others[handle] = nil
      return
    case (.leMeta, .connectionComplete?), (.leMeta, .enhancedConnectionComplete?),
      (.leMeta, .enhancedConnectionCompleteV2?):
      var reader = ByteReader(bytes.extracting(min(1, bytes.byteCount)..<bytes.byteCount))
      guard case .leConnectionComplete(let event)? = try? HCIEvent(parsing: &reader), event.status == .success
      else { return }
      packet.unanswered = open(event.handle, event.peerAddress, moment)
    case (.connectionComplete, _), (.synchronousConnectionComplete, _):
      // Status, handle, address, type of the link (Vol 4, Part E, 7.7.3 and 7.7.35).
      var reader = ByteReader(parameters.extracting(min(3, parameters.byteCount)..<parameters.byteCount))
      guard hci.status == .success, let handle = hci.connection,
        let peer = try? BluetoothAddress(parsing: &reader, kind: .public)
      else { break }
      if event == .connectionComplete, reader.peek() == LinkType.acl.rawValue {
        packet.unanswered = open(handle, peer, moment)
      } else {
        addOther(handle, peer)
      }
    case (.leMeta, .cisRequest?):
      // The ACL link, then the stream (7.7.65.26).
      if let stream = parameters.handle(at: 3), let peer = links[parameters.handle(at: 1) ?? stream]?.peer {
        addOther(stream, peer)
      }
    case (.commandComplete, _):
      // Status, HCI version and revision, LMP version, manufacturer (7.4.1).
      if hci.opcode == ReadLocalVersionInformation.opcode, hci.status == .success {
        manufacturer = parameters.uint16(at: 8).map(CompanyIdentifier.init)
      }
      if hci.opcode?.isVendorSpecific == true { packet.hci?.manufacturer = manufacturer }
    case (.vendorSpecific, _): packet.hci?.manufacturer = manufacturer
    default: break
    }
    identify(&packet)
  }

  /// Handles a record of the monitor that is not a packet: it may name the manufacturer of the adapter.
  func note(_ packet: DissectedPacket, _ bytes: RawSpan) {
    // Address and manufacturer.
    guard packet.info.content == .monitor(.indexInfo) else { return }
    manufacturer = bytes.uint16(at: 6).map(CompanyIdentifier.init)
  }

  // MARK: Links

  /// Adds the link of a packet, and its peer.
  private func identify(_ packet: inout DissectedPacket) {
    guard let handle = packet.hci?.connection else { return }
    packet.link = links[handle]?.identity ?? others[handle] ?? LinkIdentity(handle, nil, name: nil)
    packet.hci?.peer = packet.link?.peer
  }

  private func rename(_ address: BluetoothAddress) {
    for link in links.values where link.peer?.value == address.value { link.rename(names[address]) }
  }

  /// The isochronous streams of LE Create CIS: pairs of a stream and its ACL link (7.8.99).
  private func noteStreams(_ parameters: RawSpan) {
    for index in 0..<Int(parameters.byte(at: 0) ?? 0) {
      guard let stream = parameters.handle(at: 1 + 4 * index),
        let peer = parameters.handle(at: 3 + 4 * index).flatMap({ links[$0]?.peer })
      else { return }
      addOther(stream, peer)
    }
  }

  /// A link without L2CAP: voice, or an isochronous stream.
  private func addOther(_ handle: ConnectionHandle, _ peer: BluetoothAddress) {
    if others.count >= Self.linkCapacity { others.removeAll() }
    others[handle] = LinkIdentity(handle, peer, name: names[peer])
  }

  /// - Returns: requests on an earlier link of that number whose end was not seen
  private func open(_ handle: ConnectionHandle, _ peer: BluetoothAddress, _ moment: PacketTime) -> [Int] {
    let lost = links.removeValue(forKey: handle)?.open ?? []
    let identity = LinkIdentity(handle, peer, name: names[peer])
    add(
      DissectedLink(identity, peerServer: servers.server(of: peer), localServer: localServer), handle, moment)
    return lost
  }

  private func add(_ link: DissectedLink, _ handle: ConnectionHandle, _ moment: PacketTime) {
    if links.count >= Self.linkCapacity, let oldest = links.min(by: { $0.value.lastUsed < $1.value.lastUsed })
    {
      links[oldest.key] = nil
    }
    link.lastUsed = moment.number
    links[handle] = link
  }

  private func receiveData(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let handle = packet.hci?.connection, handle != .controllerDebug else { return }
    let data = bytes.extracting(min(1, bytes.byteCount)..<bytes.byteCount)
    // A packet that the capture does not have to its end is read as far as it goes.
    let whole = packet.isCut ? nil : try? ACLPacket(data)
    let link: DissectedLink
    if let last, last.identity.handle == handle {
      link = last
    } else if let known = links[handle] {
      link = known
    } else {
      guard whole != nil || packet.isCut else { return }
      // The capture begins in the middle of the link.
      let identity = LinkIdentity(handle, nil, name: nil)
      link = DissectedLink(identity, peerServer: Server(), localServer: localServer)
      add(link, handle, moment)
    }
    last = link
    link.lastUsed = moment.number
    packet.link = link.identity
    packet.hci?.peer = link.peer
    if whole == nil || link.isTruncated {
      var reader = ByteReader(data)
      if let header = try? ACLHeader(parsing: &reader),
        link.receiveTruncated(header, reader.readRest(), into: &packet, at: moment)
      {
        return
      }
    }
    if let whole { link.receive(whole, into: &packet, at: moment) }
    if packet.att != nil { learnName(packet, of: link) }
  }

  /// A Device Name that was read names the device.
  private func learnName(_ packet: DissectedPacket, of link: DissectedLink) {
    guard let peer = link.peer, let range = packet.deviceName else { return }
    let source = packet.source
    if names.learn(source.span.bytes.extracting(range), of: peer) { rename(peer) }
  }
}

extension RawSpan {
  fileprivate func uint16(at offset: Int) -> UInt16? {
    guard let low = byte(at: offset), let high = byte(at: offset + 1) else { return nil }
    return UInt16(high) << 8 | UInt16(low)
  }

  fileprivate func handle(at offset: Int) -> ConnectionHandle? {
    uint16(at: offset).map(ConnectionHandle.init)
  }
}
