import HCI
import HaloBluetoothCore
import HaloCapture

/// An adapter, as far as the capture has shown it: commands that wait for their event, links, and the attributes of the devices
/// that it met. All of it is bounded: the least recently used is forgotten.
final class AdapterState {
  @exclusivity(unchecked) private var commands = CommandTracker()
  @exclusivity(unchecked) private var names = DeviceNames()
  /// The manufacturer of the controller, once it was read.
  @exclusivity(unchecked) private var manufacturer: CompanyIdentifier?
  @exclusivity(unchecked) private(set) var links = LinkFollower<DissectedLink>()
  private var servers: DeviceServers
  /// The attributes of this machine.
  let localServer = DissectedServer()

  private let security: SecurityKnowledge
  private let ownAddresses = OwnAddresses()

  init(_ knownDevices: [Dissector.KnownDevice], _ security: SecurityKnowledge) {
    servers = DeviceServers(knownDevices)
    self.security = security
  }

  func dissect(_ packet: inout DissectedPacket, _ bytes: RawSpan) {
    let moment = PacketTime(packet.info)
    guard let type = packet.hci?.type else { return }
    switch type {
    case .command: sendCommand(&packet, bytes, moment)
    case .event: receiveEvent(&packet, bytes, moment)
    case .acl: receiveData(&packet, bytes, moment)
    default: identify(&packet)
    }
  }

  var knownServers: [Dissector.KnownServer] {
    var known = servers.known
    for link in links.open.sorted(by: { $0.identity.number < $1.identity.number }) where link.peer == nil {
      known.append(
        .init(
          name: "the peer of link \(link.identity.handle)", device: .link(link.identity.number),
          table: link.peerServer.table))
    }
    known.append(.init(name: "this machine", device: nil, table: localServer.table))
    return known.filter { !$0.table.isEmpty }
  }

  private func sendCommand(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let hci = packet.hci else { return }
    if hci.opcode?.isVendorSpecific == true { packet.hci?.manufacturer = manufacturer }
    commands.send(hci, moment)
    if let opcode = hci.opcode, LinkChange.mayBe(opcode) { follow(&packet, bytes) }
    identify(&packet)
    followSecurity(&packet, bytes)
  }

  private func receiveEvent(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let hci = packet.hci, let event = hci.event else { return }
    if let command = commands.receive(hci) {
      packet.hci?.command = PacketReference(command.moment, to: moment)
      if hci.connection == nil { packet.hci?.connection = command.handle }
    }
    let parameters = bytes.extracting(min(3, bytes.byteCount)..<bytes.byteCount)
    for address in names.learn(from: event, hci.subevent, parameters) { rename(address) }
    // The end of a link is about that link, every other event about the link that there is afterwards.
    if event == .disconnectionComplete { identify(&packet) }
    follow(&packet, bytes)
    if event != .disconnectionComplete { identify(&packet) }
    followSecurity(&packet, bytes)
    // Status, HCI version and revision, LMP version, manufacturer (7.4.1).
    if event == .commandComplete, hci.opcode == ReadLocalVersionInformation.opcode, hci.status == .success {
      manufacturer = Self.manufacturer(in: parameters, at: 8)
    }
    if event == .vendorSpecific || event == .commandComplete && hci.opcode?.isVendorSpecific == true {
      packet.hci?.manufacturer = manufacturer
    }
  }

  /// Handles a record of the monitor that is not a packet: it may name the manufacturer of the adapter.
  func note(_ packet: DissectedPacket, _ bytes: RawSpan) {
    // Address and manufacturer.
    guard packet.info.content == .monitor(.indexInfo) else { return }
    manufacturer = Self.manufacturer(in: bytes, at: 6)
  }

  private static func manufacturer(in bytes: RawSpan, at offset: Int) -> CompanyIdentifier? {
    var reader = ByteReader(bytes)
    guard (try? reader.skip(offset)) != nil else { return nil }
    return (try? reader.readUInt16()).map(CompanyIdentifier.init)
  }

  // MARK: Links

  /// Adds the link of a packet, and its peer.
  private func identify(_ packet: inout DissectedPacket) {
    guard let handle = packet.hci?.connection else { return }
    packet.link = links[handle, packet.info.adapter]?.identity ?? LinkIdentity(handle, nil, name: nil)
    packet.hci?.peer = packet.link?.peer
  }

  private func rename(_ address: BluetoothAddress) {
    for link in links.open where link.peer?.value == address.value { link.rename(names[address]) }
  }

  /// Follows the links, and adds the requests that will never be answered as their link is gone.
  private func follow(_ packet: inout DissectedPacket, _ bytes: RawSpan) {
    guard let change = LinkChange(bytes) else { return }
    packet.changesLinks = true
    let ended = links.take(change, packet.info, begin: begin)
    if !ended.isEmpty { packet.unanswered = ended.flatMap(\.link.open) }
  }

  private func begin(_ new: NewLink) -> DissectedLink {
    if let address = new.event?.localResolvableAddress { ownAddresses.add(address) }
    let peers = [new.event?.peerResolvableAddress, new.peer].compactMap(\.self)
    return DissectedLink(
      LinkIdentity(new.handle, new.peer, name: new.peer.flatMap { names[$0] }),
      peerServer: new.peer.map { servers.server(of: $0) } ?? DissectedServer(), localServer: localServer,
      security: ProtectionFollower(
        security, own: ownAddresses, peers: peers, protection: new.event == nil ? .unknown : .clear))
  }

  /// Follows the keys and the encryption of links, and the addresses of this machine.
  private func followSecurity(_ packet: inout DissectedPacket, _ bytes: RawSpan) {
    guard let hci = packet.hci, hci.isAboutSecurity else { return }
    let link = hci.connection.flatMap { links[$0, packet.info.adapter] }
    packet.security = (try? Self.notes(of: hci, bytes, link?.security, ownAddresses)) ?? []
  }

  private static func notes(
    of hci: HCILayer, _ bytes: RawSpan, _ link: ProtectionFollower?, _ own: OwnAddresses
  ) throws(DecodeError) -> [SecurityNote] {
    var reader = ByteReader(bytes)
    try reader.skip(hci.type.headerLength)
    switch (hci.type, hci.opcode, hci.event) {
    case (.command, LEEnableEncryption.opcode?, _):
      try reader.skip(2)
      let (random, diversifier) = (try reader.readUInt64(), try reader.readUInt16())
      return link?.use(key: Array(try reader.readSpan(16)), isNamed: random != 0 || diversifier != 0) ?? []
    case (.command, LELongTermKeyRequestReply.opcode?, _):
      try reader.skip(2)
      return link?.use(key: Array(try reader.readSpan(16)), isNamed: nil) ?? []
    case (.command, LESetRandomAddress.opcode?, _):
      own.add(try BluetoothAddress(parsing: &reader, kind: .random))
    case (.command, LESetAdvertisingSetRandomAddress.opcode?, _):
      try reader.skip(1)
      own.add(try BluetoothAddress(parsing: &reader, kind: .random))
    case (_, ReadBDADDR.opcode?, .commandComplete?):
      // The number of commands, the opcode, the status.
      try reader.skip(4)
      own.add(try BluetoothAddress(parsing: &reader, kind: .public))
    case (_, _, .leMeta?):
      try reader.skip(3)
      link?.request(random: try reader.readUInt64(), diversifier: try reader.readUInt16())
    case (_, _, let event?):
      guard try reader.readUInt8() == HCIErrorCode.success.rawValue else { break }
      try reader.skip(2)
      let isOn = event == .encryptionKeyRefreshComplete ? true : try reader.readUInt8() != 0
      return link?.encryption(isOn, keySize: event == .encryptionChangeV2 ? try reader.readUInt8() : nil)
        ?? []
    default: break
    }
    return []
  }

  private func receiveData(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ moment: PacketTime) {
    guard let handle = packet.hci?.connection else { return }
    let data = bytes.extracting(min(1, bytes.byteCount)..<bytes.byteCount)
    // A packet that the capture does not have to its end is read as far as it goes.
    let whole = packet.isCut ? nil : try? ACLPacket(data)
    guard whole != nil || packet.isCut || links[handle, packet.info.adapter] != nil,
      let link = links.use(handle, packet.info) ?? links.discover(handle, packet.info, begin: begin)?.link
    else { return }
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
    if let renamed = names.learn(readIn: packet) { rename(renamed) }
  }
}

extension HCILayer {
  /// Whether it has a key, says that one is used, or an address of this machine.
  fileprivate var isAboutSecurity: Bool {
    switch event {
    case .encryptionChange, .encryptionChangeV2, .encryptionKeyRefreshComplete: true
    case .leMeta: subevent == .longTermKeyRequest
    case .commandComplete: opcode == ReadBDADDR.opcode
    case nil:
      opcode == LEEnableEncryption.opcode || opcode == LELongTermKeyRequestReply.opcode
        || opcode == LESetRandomAddress.opcode || opcode == LESetAdvertisingSetRandomAddress.opcode
    default: false
    }
  }
}

/// Finds the command of an event: the one that it answers, or the one whose result it brings. Bounded: the oldest
/// command is forgotten.
struct CommandTracker {
  static let capacity = 32

  struct Sent {
    var opcode: HCIOpcode
    var moment: PacketTime
    var handle: ConnectionHandle?
  }

  /// The commands without an event.
  private var sent: [Sent] = []
  /// The commands that were accepted with Command Status: their result follows as another event.
  private var pending: [Sent] = []

  mutating func send(_ hci: HCILayer, _ moment: PacketTime) {
    guard let opcode = hci.opcode else { return }
    if sent.count >= Self.capacity { sent.removeFirst() }
    sent.append(Sent(opcode: opcode, moment: moment, handle: hci.connection))
  }

  /// - Returns: the command that an event belongs to
  mutating func receive(_ hci: HCILayer) -> Sent? {
    if let opcode = hci.opcode {
      guard let index = sent.firstIndex(where: { $0.opcode == opcode }) else { return nil }
      let command = sent.remove(at: index)
      if hci.event == .commandStatus, hci.status == .success {
        if pending.count >= Self.capacity { pending.removeFirst() }
        pending.append(command)
      }
      return command
    }
    guard let event = hci.event, !(pending.isEmpty && sent.isEmpty),
      let opcodes = Self.results[hci.subevent.map { .leEvent($0) } ?? .event(event)]
    else { return nil }
    func isResult(of command: Sent) -> Bool {
      opcodes.contains(command.opcode)
        && (command.handle == nil || hci.connection == nil || command.handle == hci.connection)
    }
    if let index = pending.firstIndex(where: isResult) { return pending.remove(at: index) }
    // The capture may lack Command Status.
    if let index = sent.firstIndex(where: isResult) { return sent.remove(at: index) }
    return nil
  }

  /// The commands that end with an event.
  private static let results: [HCICommandInfo.Result: Set<HCIOpcode>] = {
    var results: [HCICommandInfo.Result: Set<HCIOpcode>] = [:]
    for info in HCICommandCatalog.standard.infos {
      for result in info.results { results[result, default: []].insert(info.opcode) }
    }
    return results
  }()
}
