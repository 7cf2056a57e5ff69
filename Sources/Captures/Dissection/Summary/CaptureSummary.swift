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
  /// The devices that advertised.
  package var devices: [BluetoothAddress: Device] { reports.devices }
  /// The links, in the order in which they began.
  package var connections: [ConnectionSummary] { links.connections }
  /// The connections on the air, in the order in which they began.
  package var airConnections: [AirConnectionSummary] { air.connections }
  /// The GATT procedures of all links.
  package private(set) var procedures: [ObservedProcedure: Procedure] = [:]
  /// The notifications and indications, by their source.
  package var values: [Source: Values] {
    sources.values
  }
  /// The number of errors of each kind.
  package private(set) var errors: [String: Int] = [:]
  /// A ring's frames by their names.
  package var ringFrames: [String: Int] {
    frames.texts
  }
  /// The number of packets that the recorder lost.
  package private(set) var lost = 0
  /// The number of omitted items.
  package var overflow: Int {
    omitted + reports.overflow + links.overflow + air.overflow + sources.overflow
      + attributes.overflow + frames.overflow
  }

  private var links = LinkTally()
  private var reports = DeviceTally()
  private var air = AirTally()

  /// The number of omitted errors.
  private var omitted = 0

  // Texts are made of these at the end, not for each packet.

  /// The number of packets of each H4 type.
  private var types = Array(repeating: 0, count: 256)
  /// The records that are no packets, by kind.
  private var notes: [String: Int] = [:]
  private var frames = RingFrameTally()
  private var sources = ValueTally()
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
    if let problem = hci.problem, problem != .unknownType { countError("damaged HCI packets") }
    switch hci.type {
    case .event: addEvent(hci, packet)
    case .acl: addData(hci, packet)
    default: break
    }
    if let ring = packet.ring { add(ring) }
    for _ in packet.unanswered { countError("requests that were never answered") }
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

  private mutating func countError(_ key: String) {
    guard errors[key] != nil || errors.count < Self.capacity else {
      omitted += 1
      return
    }
    errors[key, default: 0] += 1
  }

  // MARK: Events

  private mutating func addEvent(_ hci: HCILayer, _ packet: DissectedPacket) {
    if let status = hci.status, status != .success {
      let what = hci.opcode?.name ?? hci.subevent?.name ?? hci.event?.name ?? "event"
      countError("\(what): \(status)")
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
        reports.add(
          AdvertisingReport(address: device.address, eventType: [], rssi: device.rssi, data: device.data))
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
    let info = packet.info
    let change = LinkChange(packet.bytes.span.bytes)
    if change != nil { attributes.add(packet, of: nil) }
    switch change {
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
    case .leAdvertisingReports(let event): for report in event.reports { reports.add(report) }
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
    if packet.l2cap != nil { name(hci, packet) }
    if packet.smp != nil { links.change(links.index(handle, packet.info)) { $0.pairingPDUs += 1 } }
    guard let att = packet.att else { return }
    let isSent = packet.info.direction == .hostToController
    let mtu = packet.gatt?.mtu
    let index = links.index(handle, packet.info)
    links.change(index) {
      if isSent { $0.sentPDUs += 1 } else { $0.receivedPDUs += 1 }
      if let mtu { $0.mtu = mtu }
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
    if let problem = att.problem, problem != .cut { countError("damaged ATT PDUs") }
    if let error = att.error, let failed = att.failed, error != .attributeNotFound {
      countError("\(failed): \(error)")
    }
    switch att.opcode {
    case .handleValueNotification, .handleValueIndication:
      guard let handle = att.handle else { break }
      let isSent = packet.direction == .hostToController
      sources.add(att, packet, of: handle, peer, connection, isSent: isSent, link: link)
      // Its confirmation is the answer.
      if att.opcode == .handleValueIndication { procedures[.indications, default: .init()].requests += 1 }
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
      countError("packets with a wrong CRC")
    } else if layer.problem != nil {
      countError("damaged packets")
    }
    for _ in packet.unanswered { countError("requests that were never answered") }
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
      reports.add(
        AdvertisingReport(
          address: sender, eventType: [], rssi: packet.reception?.rssi, data: Array(bytes[report.data])))
    }
    air.begin(report, packet.info)
  }

  // MARK: Values

  private mutating func add(_ gatt: GATTLayer, _ att: ATTLayer) {
    if gatt.unanswered != nil { countError("requests that were never answered") }
    guard let procedure = gatt.procedure else { return }
    if let request = gatt.request {
      if let time = request.microseconds { procedures[procedure, default: .init()].roundTrips.add(time) }
      // Discovery ends with this error.
      if let error = att.error, error != .attributeNotFound {
        procedures[procedure, default: .init()].errors += 1
      }
    } else {
      procedures[procedure, default: .init()].requests += 1
    }
  }

  private mutating func add(_ ring: RingLayer) {
    if case .damaged(let what) = ring.content { return countError("ring: \(what)") }
    frames.add(ring)
  }
}
