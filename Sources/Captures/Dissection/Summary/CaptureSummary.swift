import ATT
import HCI
import HaloBluetoothCore
import HaloCapture

/// Statistics of a capture. Its memory is bounded: the first items of each kind are kept, and ``overflow`` counts the
/// rest.
package struct CaptureSummary: Sendable {
  static let capacity = 512

  /// How often a procedure was requested, and its results.
  package struct Procedure: Hashable, Sendable {
    /// The number of requests.
    package var requests = 0
    /// The number of requests that failed.
    package var errors = 0
    /// The times from request to response, in microseconds.
    package var roundTrips = DurationHistogram()
  }

  /// The number of packets.
  package private(set) var packets = 0
  /// The time of the first packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  package private(set) var start: Int64?
  /// The time of the last packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  package private(set) var end: Int64?
  /// Packets by kind: `commands`, `events`.
  package var kinds: [String: Int] {
    var kinds: [String: Int] = [:]
    for (type, count) in types.enumerated() where count > 0 {
      kinds[Self.name(of: HCIPacketType(rawValue: UInt8(type))), default: 0] += count
    }
    kinds.merge(air.kinds) { _, count in count }
    kinds.merge(notes) { _, count in count }
    return kinds
  }
  /// The devices that advertised, in the order in which they came.
  package var devices: [Device] { reports.entries.map(\.value) }
  /// The links, in the order in which they began.
  package var connections: [ConnectionSummary] { links.connections }
  /// The connections on the air, in the order in which they began.
  package var airConnections: [AirConnectionSummary] { air.connections }
  /// A GATT procedure, on all links.
  package func procedure(_ procedure: ObservedProcedure) -> Procedure? { procedures[procedure] }
  /// The notifications and indications, by their source.
  package var values: [Source: Values] {
    Dictionary(
      sources.entries.map { ($0.value.source(of: $0.key), $0.value.values(of: $0.key)) },
      uniquingKeysWith: { first, _ in first })
  }
  /// The number of errors of each kind.
  package var errors: [String: Int] { failures.counts(\.self) }
  /// A ring's frames by their names.
  package var ringFrames: [String: Int] {
    frames.counts(\.description)
  }
  /// The number of packets that the recorder lost.
  package private(set) var lost = 0
  /// The number of omitted items.
  package var overflow: Int {
    failures.overflow + reports.overflow + links.overflow + air.overflow + sources.overflow
      + attributes.overflow + frames.overflow
  }

  private var links = LinkTally()
  private var reports = BoundedTable<BluetoothAddress, Device>()
  private var air = AirTally()

  // Texts are made of these at the end, not for each packet.

  /// The number of packets of each H4 type.
  private var types = Array(repeating: 0, count: 256)
  /// The records that are no packets, by kind.
  private var notes: [String: Int] = [:]
  private var procedures = BoundedTable<ObservedProcedure, Procedure>()
  private var failures = BoundedTable<String, Int>()
  private var frames = BoundedTable<RingFrameKind, Int>()
  private var sources = BoundedTable<ValueSender, SourceValues>()
  private var attributes = AttributeTally()

  package init() {}

  /// Adds the next packet.
  package mutating func add(_ packet: DissectedPacket) {
    packets += 1
    lost += packet.info.drops
    if let time = packet.info.microseconds {
      start = min(start ?? time, time)
      end = max(end ?? time, time)
    }
    guard let hci = packet.hci else {
      if let air = packet.air { return add(air, packet) }
      let name = packet.info.content.kindName
      // A file can have interfaces of all link types.
      notes[
        notes[name] != nil || notes.count < Self.capacity ? name : "records of other kinds", default: 0] += 1
      return
    }
    types[Int(hci.type.rawValue)] += 1
    // A packet of an unknown type may be whole.
    if let problem = hci.problem, problem != .unknownType { failures.count("damaged HCI packets") }
    switch hci.type {
    case .event: addEvent(hci, packet)
    case .acl: addData(hci, packet)
    default: break
    }
    if let ring = packet.ring { add(ring) }
    for _ in packet.unanswered { failures.count("requests that were never answered") }
  }

  private static func name(of type: HCIPacketType) -> String {
    switch type {
    case .command: "commands"
    case .event: "events"
    case .acl: "ACL packets"
    case .synchronous: "synchronous packets"
    case .isochronous: "isochronous packets"
    default: "packets of an unknown type"
    }
  }

  // MARK: Events

  private mutating func addEvent(_ hci: HCILayer, _ packet: DissectedPacket) {
    if let status = hci.status, status != .success {
      let what = hci.opcode?.name ?? hci.subevent?.name ?? hci.event?.name ?? "event"
      failures.count("\(what): \(status)")
    }
    let bytes = packet.bytes
    var reader = ByteReader(bytes.span.bytes.extracting(min(1, bytes.count)..<bytes.count))
    followLinks(packet)
    switch (hci.event, hci.subevent) {
    case (.leMeta?, _), (.encryptionChange?, _):
      if let event = try? HCIEvent(parsing: &reader) { add(event, packet.info) }
    case (.inquiryResult?, _), (.inquiryResultWithRSSI?, _), (.extendedInquiryResult?, _):
      let devices = hci.event.flatMap { ClassicReports.devices(bytes.span.bytes, $0) }
      for device in devices ?? [] {
        add(AdvertisingReport(address: device.address, eventType: [], rssi: device.rssi, data: device.data))
      }
    default: break
    }
    name(hci, packet)
  }

  /// A link's peer may be named after the link has begun.
  private mutating func name(_ hci: HCILayer, _ packet: DissectedPacket) {
    guard let handle = hci.connection, let name = packet.link?.name else { return }
    links.name(handle, name, packet.info)
  }

  private mutating func followLinks(_ packet: DissectedPacket) {
    guard packet.changesLinks else { return }
    let info = packet.info
    attributes.add(packet, of: nil)
    switch LinkChange(packet.bytes.span.bytes) {
    case .began(let link):
      links.close(link.handle, info, reason: nil)
      links.change(links.begin(link.handle, info)) {
        $0.peer = link.peer
        $0.classicType = link.classicType
        $0.role = link.event?.role
        if let event = link.event { $0.add(Self.words(event.parameters), at: info.microseconds) }
      }
    case .ended(let handle, let reason): links.close(handle, info, reason: reason)
    case .reset: links.closeAll(info)
    case .streams, nil: break
    }
  }

  private mutating func add(_ event: HCIEvent, _ info: CaptureRecordInfo) {
    switch event {
    case .leAdvertisingReports(let event): for report in event.reports { add(report) }
    case .leConnectionUpdateComplete(let event) where event.status == .success:
      links.note(Self.words(event.parameters), event.handle, info)
    case .leDataLengthChange(let event):
      links.note(
        "data length \(event.lengths.transmit.octets) sent, \(event.lengths.receive.octets) received",
        event.handle, info)
    case .lePHYUpdateComplete(let event) where event.status == .success:
      links.note("\(event.phys.transmit) sent, \(event.phys.receive) received", event.handle, info)
    case .encryptionChange(let event) where event.status == .success:
      links.note(event.encryption == .off ? "encryption off" : "encryption on", event.handle, info)
    default: break
    }
  }

  private mutating func add(_ report: AdvertisingReport) {
    guard let index = reports.index(of: report.address, default: Device(address: report.address)) else {
      return
    }
    reports[at: index].add(report)
  }

  /// The device with an address, if it advertised.
  package func device(at address: BluetoothAddress) -> Device? { reports[address] }

  static func words(_ link: LinkParameters) -> String {
    "interval \(link.interval), latency \(link.latency), timeout \(link.supervisionTimeout)"
  }

  // MARK: Data

  private mutating func addData(_ hci: HCILayer, _ packet: DissectedPacket) {
    guard let handle = hci.connection else { return }
    if let psm = packet.l2cap?.psm {
      links.change(links.index(handle, packet.info)) {
        // The number of protocols that a peer can name is not bounded.
        if $0.frames[psm] != nil || $0.frames.count < ConnectionSummary.changeCapacity {
          $0.frames[psm, default: 0] += 1
        }
        if $0.peer == nil { $0.peer = hci.peer }
      }
    }
    if packet.smp != nil { links.change(links.index(handle, packet.info)) { $0.pairingPDUs += 1 } }
    guard let att = packet.att else {
      if packet.l2cap != nil { name(hci, packet) }
      return
    }
    let isSent = packet.info.direction == .hostToController
    let mtu = packet.gatt?.mtu
    let index = links.index(handle, packet.info)
    links.change(index) {
      if isSent { $0.sentPDUs += 1 } else { $0.receivedPDUs += 1 }
      if let mtu { $0.mtu = mtu }
      if let name = packet.link?.name { $0.name = name }
      if $0.peer == nil { $0.peer = hci.peer }
    }
    add(
      att, packet, peer: hci.peer, connection: UInt32(handle.rawValue), link: index)
  }

  /// - Parameters:
  ///   - connection: a connection handle, or an access address
  ///   - link: distinguishes connections
  private mutating func add(
    _ att: ATTLayer, _ packet: DissectedPacket, peer: BluetoothAddress?, connection: UInt32, link: Int?
  ) {
    if let problem = att.problem, problem != .cut { failures.count("damaged ATT PDUs") }
    if let error = att.error, let failed = att.failed, error != .attributeNotFound {
      failures.count("\(failed): \(error)")
    }
    switch att.opcode {
    case .handleValueNotification, .handleValueIndication:
      guard let handle = att.handle else { break }
      let source = ValueSender(peer, connection, handle, isSent: packet.direction == .hostToController)
      if let index = sources.index(of: source, default: SourceValues()) {
        sources[at: index].add(att, packet, link: link)
      }
      // Its confirmation is the answer.
      if att.opcode == .handleValueIndication { change(.indications) { $0.requests += 1 } }
    default: if let gatt = packet.gatt { add(gatt, att) }
    }
    attributes.add(packet, of: DeviceKey(peer, connection: connection))
  }

  /// Adds the attributes that are known by the key of a device.
  func addAttributes(to device: inout UsedDevice) { attributes.describe(&device) }

  // MARK: The air

  private mutating func add(_ layer: AirLayer, _ packet: DissectedPacket) {
    air.count(layer.kind)
    if layer.crc == .wrong {
      failures.count("packets with a wrong CRC")
    } else if layer.problem != nil {
      failures.count("damaged packets")
    }
    for _ in packet.unanswered { failures.count("requests that were never answered") }
    if let ring = packet.ring { add(ring) }
    if layer.kind == .advertising { return addAdvertisement(layer, packet) }
    guard let link = packet.link, let address = link.accessAddress else { return }
    let index = air.add(layer, packet, to: address)
    guard let att = packet.att else { return }
    // Other numbers than those of links over HCI.
    add(att, packet, peer: link.peer, connection: address, link: index.map { -1 - $0 })
  }

  private mutating func addAdvertisement(_ layer: AirLayer, _ packet: DissectedPacket) {
    guard layer.crc != .wrong else { return }
    let bytes = packet.bytes
    let report = AirAdvertisement(layer, bytes.span.bytes)
    if report.isReport, let sender = report.sender {
      add(
        AdvertisingReport(
          address: sender, eventType: [], rssi: packet.reception?.rssi, data: Array(bytes[report.data])))
    }
    air.begin(report, packet.info)
  }

  // MARK: Values

  private mutating func add(_ gatt: GATTLayer, _ att: ATTLayer) {
    if gatt.unanswered != nil { failures.count("requests that were never answered") }
    guard let procedure = gatt.procedure else { return }
    change(procedure) {
      guard let request = gatt.request else {
        $0.requests += 1
        return
      }
      if let time = request.microseconds { $0.roundTrips.add(time) }
      // Discovery ends with this error.
      if let error = att.error, error != .attributeNotFound { $0.errors += 1 }
    }
  }

  private mutating func change(_ procedure: ObservedProcedure, _ body: (inout Procedure) -> Void) {
    if let index = procedures.index(of: procedure, default: Procedure()) { body(&procedures[at: index]) }
  }

  private mutating func add(_ ring: RingLayer) {
    if case .damaged(let what) = ring.content { return failures.count("ring: \(what)") }
    if let kind = RingFrameKind(ring) { frames.count(kind) }
  }
}
