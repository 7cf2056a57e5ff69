import HaloBluetoothCore
import HaloCapture

/// The state of a capture of the air so far: connections by their access addresses, periodic advertising, and the attributes of
/// the devices. All of it is bounded: the least recently used is forgotten.
final class AirState {
  static let connectionCapacity = 64
  static let periodicCapacity = 64

  private var connections: [UInt32: AirConnection] = [:]
  /// The connection of the last PDU: most are on the same.
  private var last: AirConnection?
  /// Initial values of CRCs of periodic advertising, by access address, the oldest first.
  private var periodic: [(accessAddress: UInt32, crcInit: UInt32)] = []
  private var names = DeviceNames()
  private var servers: DeviceServers
  private var auxiliary = AuxiliaryTracker()

  private let security: SecurityKnowledge

  init(_ knownDevices: [Dissector.KnownDevice], _ security: SecurityKnowledge) {
    servers = DeviceServers(knownDevices)
    self.security = security
  }

  /// The number of connections so far.
  var connectionCount: Int { connections.count }

  /// The requests that have no answer so far.
  var openRequests: [Int] { connections.values.flatMap { $0.hasEnded ? [] : $0.link.open } }

  /// The devices with known attributes.
  var knownServers: [Dissector.KnownServer] {
    var known = servers.known
    for (address, connection) in connections.sorted(by: { $0.key < $1.key }) {
      let digits = Hex.string(UInt64(address), bytes: 4)
      if connection.link.peer == nil {
        known.append(
          .init(
            name: "the peripheral of \(digits)", device: .link(address),
            table: connection.link.peerServer.table))
      }
      if connection.link.identity.central == nil {
        known.append(
          .init(name: "the central of \(digits)", device: nil, table: connection.link.localServer.table))
      }
    }
    return known.filter { !$0.table.isEmpty }
  }

  /// Adds the layers of a packet.
  ///
  /// - Parameters:
  ///   - packet: receives the layers
  ///   - bytes: from the access address to the CRC
  ///   - reception: the sniffer's data about it
  func dissect(_ packet: inout DissectedPacket, _ bytes: RawSpan, _ reception: AirReception) {
    let periodic = Self.accessAddress(bytes).flatMap { address in
      self.periodic.last { $0.accessAddress == address }
    }
    var air = AirLayer(bytes, reception, isCut: packet.isCut, isPeriodic: periodic != nil)
    air.direction = reception.direction
    switch air.kind {
    case .advertising:
      let isOnItsOwn = air.accessAddress != AccessAddress.advertising.rawValue
      air.check(bytes, reception, initial: isOnItsOwn ? periodic?.crcInit : AirCRC.advertising)
      if isOnItsOwn || reception.role == .auxiliaryAdvertising || reception.channel.map({ $0 < 37 }) == true {
        air.notes.insert(.secondary)
      }
      packet.air = air
      if air.crc != .wrong { receiveAdvertisement(&packet, bytes, reception) }
    case .data, .control: receive(air, &packet, bytes, reception)
    case .isochronous, .unknown:
      air.check(bytes, reception, initial: nil)
      packet.air = air
    }
  }

  private static func accessAddress(_ bytes: RawSpan) -> UInt32? {
    var reader = ByteReader(bytes)
    return try? reader.readUInt32()
  }

  // MARK: Advertising

  private func receiveAdvertisement(
    _ packet: inout DissectedPacket, _ bytes: RawSpan, _ reception: AirReception
  ) {
    guard let air = packet.air else { return }
    let report = AirAdvertisement(air, bytes)
    let isPeriodic = air.accessAddress != AccessAddress.advertising.rawValue
    packet.air?.auxiliary = auxiliary.take(air, report, reception, isPeriodic: isPeriodic)
    if let sync = report.sync { learn(sync) }
    if let sender = report.sender, report.hasData,
      names.learn(fromStructures: bytes.extracting(report.data), of: sender)
    {
      rename(sender)
    }
    guard let request = report.request, let central = report.sender, let peripheral = report.receiver else {
      return
    }
    packet.unanswered = open(request, central, peripheral, PacketTime(packet.info))
  }

  private func learn(_ sync: SyncInfo) {
    let address = sync.accessAddress.rawValue
    periodic.removeAll { $0.accessAddress == address }
    if periodic.count >= Self.periodicCapacity { periodic.removeFirst() }
    periodic.append((address, sync.crcInit.value))
  }

  private func rename(_ address: BluetoothAddress) {
    for connection in connections.values where connection.link.peer?.value == address.value {
      connection.link.rename(names[address])
    }
  }

  // MARK: Connections

  /// - Returns: requests on an earlier connection with the same access address whose end was not seen
  private func open(
    _ parameters: AirConnectionParameters, _ central: BluetoothAddress, _ peripheral: BluetoothAddress,
    _ moment: PacketTime
  ) -> [Int] {
    let address = parameters.accessAddress.rawValue
    let lost = connections[address].map { $0.hasEnded ? [] : $0.link.open } ?? []
    let identity = LinkIdentity(address, central: central, peripheral, name: names[peripheral])
    let link = DissectedLink(
      identity, peerServer: servers.server(of: peripheral), localServer: servers.server(of: central),
      security: ProtectionFollower(
        security, own: OwnAddresses([central]), peers: [peripheral], protection: .clear))
    add(AirConnection(link, crcInit: parameters.crcInit.value), address, moment)
    return lost
  }

  private func add(_ connection: AirConnection, _ address: UInt32, _ moment: PacketTime) {
    if connections.count >= Self.connectionCapacity, connections[address] == nil,
      let oldest = connections.min(by: { $0.value.link.lastUsed < $1.value.link.lastUsed })
    {
      connections[oldest.key] = nil
    }
    connection.link.lastUsed = moment.number
    connections[address] = connection
    last = nil
  }

  private func receive(
    _ layer: AirLayer, _ packet: inout DissectedPacket, _ bytes: RawSpan, _ reception: AirReception
  ) {
    var air = layer
    let moment = PacketTime(packet.info)
    let connection: AirConnection
    if let last, last.link.identity.accessAddress == air.accessAddress {
      connection = last
    } else if let known = connections[air.accessAddress] {
      connection = known
    } else {
      air.check(bytes, reception, initial: nil)
      packet.air = air
      // A packet that was received wrongly may have any access address.
      guard air.crc != .wrong, air.problem == nil else { return }
      // The capture begins in the middle of the connection.
      let identity = LinkIdentity(air.accessAddress, central: nil, nil, name: nil)
      connection = AirConnection(
        DissectedLink(
          identity, peerServer: DissectedServer(), localServer: DissectedServer(),
          security: ProtectionFollower(security, own: OwnAddresses(), peers: [], protection: .unknown)),
        crcInit: nil)
      add(connection, air.accessAddress, moment)
    }
    last = connection
    connection.link.lastUsed = moment.number
    packet.link = connection.link.identity
    air.check(bytes, reception, initial: connection.crcInit)
    packet.air = air
    connection.receive(&packet, bytes, reception, at: moment)
    if let renamed = names.learn(readIn: packet) { rename(renamed) }
  }
}

/// Determines the types of extended advertising PDUs, which share a number (Core Specification Vol 6, Part B, 2.3.4).
///
/// The nRF Sniffer reports the type. Otherwise, a PDU with the access address of periodic advertising is AUX_SYNC_IND; one that
/// the last auxiliary pointer on a secondary channel has pointed to is AUX_CHAIN_IND; one that follows AUX_SCAN_REQ is
/// AUX_SCAN_RSP; others are AUX_ADV_IND. Where packets are missing in a capture, a name may be wrong.
private struct AuxiliaryTracker {
  /// The channel that the last PDU on a secondary channel points to.
  private var chained: UInt8?
  /// The advertiser of the AUX_SCAN_REQ before.
  private var asked: BluetoothAddress?

  mutating func take(
    _ air: AirLayer, _ report: AirAdvertisement, _ reception: AirReception, isPeriodic: Bool
  ) -> AirReception.AuxiliaryType? {
    guard air.notes.contains(.secondary) else { return nil }
    let type = air.advertisingType
    defer {
      asked = type == .scanRequest ? report.receiver : nil
      if type == .extended { chained = report.pointer.flatMap { $0.offset > 0 ? $0.channel : nil } }
    }
    guard type == .extended else { return nil }
    if let said = reception.auxiliaryType { return said }
    if let chained, chained == reception.channel, report.sender == nil { return .chain }
    if isPeriodic { return .synchronization }
    if let asked, asked == report.sender { return .scanResponse }
    return .advertisement
  }
}
