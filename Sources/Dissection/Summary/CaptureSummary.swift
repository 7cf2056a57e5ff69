import ATT
import BluetoothCore
import Capture
import HCI
import RingLink

/// Statistics of a capture. Its memory is bounded: the first items of each kind are kept, and ``overflow`` counts the
/// rest.
public struct CaptureSummary: Sendable {
  static let capacity = 512

  /// A device whose advertisements were received.
  public struct Device: Hashable, Sendable {
    public var address: BluetoothAddress
    /// The name, if it is known.
    public var name: String?
    /// The number of advertising reports.
    public var reports = 0
    /// In dBm, the strongest.
    public var rssi: Int8?
  }

  /// How often a procedure was requested, and its results.
  public struct Procedure: Hashable, Sendable {
    /// The number of requests.
    public var requests = 0
    /// The number of requests that failed.
    public var errors = 0
    /// The times from request to response, in microseconds.
    public var roundTrips = DurationHistogram()
  }

  /// Where notifications and indications are sent from; by the peer, those of the peer first.
  public struct Source: Hashable, Comparable, Sendable {
    /// The address of the peer as text.
    public var peer: String
    public var handle: AttributeHandle
    /// Whether the host that was captured sent the values to the peer.
    public var isSent = false

    public static func < (left: Self, right: Self) -> Bool {
      (left.peer, left.isSent ? 1 : 0, left.handle) < (right.peer, right.isSent ? 1 : 0, right.handle)
    }
  }

  /// The values from one source.
  public struct Values: Sendable {
    /// The name, if it is known.
    public var name: String?
    /// The number of bytes of all values.
    public var bytes = 0
    /// The rate and the gaps, within each connection.
    public var statistics = StreamStatistics()
  }

  /// The number of packets.
  public private(set) var packets = 0
  /// The time of the first packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  public private(set) var start: Int64?
  /// The time of the last packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  public private(set) var end: Int64?
  /// Packets by what they are: `commands`, `events`.
  public var kinds: [String: Int] {
    var kinds: [String: Int] = [:]
    for (type, count) in types.enumerated() where count > 0 {
      kinds[Self.name(of: HCIPacketType(rawValue: UInt8(type))), default: 0] += count
    }
    for (kind, count) in airKinds { kinds[Self.name(of: kind)] = count }
    if notes > 0 { kinds[airKinds.isEmpty ? "no HCI packet" : "no packet"] = notes }
    return kinds
  }
  /// The devices that advertised.
  public private(set) var devices: [BluetoothAddress: Device] = [:]
  /// The links, in the order in which they began.
  public private(set) var connections: [ConnectionSummary] = []
  /// The connections on the air, in the order in which they began.
  public private(set) var airConnections: [AirConnectionSummary] = []
  /// The GATT procedures of all links.
  public private(set) var procedures: [ObservedProcedure: Procedure] = [:]
  /// The notifications and indications, by their source.
  public var values: [Source: Values] {
    Dictionary(sources.values.map { ($0.source, $0.values) }, uniquingKeysWith: { first, _ in first })
  }
  /// The number of errors of each kind.
  public private(set) var errors: [String: Int] = [:]
  /// A ring's frames by their names.
  public var ringFrames: [String: Int] {
    Dictionary(frames.map { ($0.key.description, $0.value) }, uniquingKeysWith: +)
  }
  /// The number of packets that the recorder lost.
  public private(set) var lost = 0
  /// The number of omitted items.
  public private(set) var overflow = 0

  /// The index in ``connections`` of each open link.
  private var open: [UInt32: Int] = [:]
  /// The index in ``airConnections`` of the last connection with each access address.
  private var openOnAir: [UInt32: Int] = [:]

  // Texts are made of these at the end, not for each packet.

  /// The number of packets of each H4 type.
  private var types = Array(repeating: 0, count: 256)
  /// The number of packets of the air of each kind.
  private var airKinds: [AirLayer.Kind: Int] = [:]
  /// The number of records that are no packets.
  private var notes = 0
  private var frames: [FrameKind: Int] = [:]
  private var sources: [SourceKey: SourceValues] = [:]

  /// What identifies a sender of values.
  private struct SourceKey: Hashable {
    var peer: BluetoothAddress?
    /// A connection handle, or an access address.
    var connection: UInt32
    var handle: AttributeHandle
    var isSent: Bool

    init(_ peer: BluetoothAddress?, _ connection: UInt32, _ handle: AttributeHandle, isSent: Bool) {
      self.isSent = isSent
      // The kind of an address is not shown.
      self.peer = peer.map { BluetoothAddress($0.value, .public) }
      // A peer is the same on each of its links.
      self.connection = peer == nil ? connection : 0
      self.handle = handle
    }

    var peerText: String {
      peer?.description ?? "link \(Hex.string(UInt64(connection), bytes: connection > 0xFFFF ? 4 : 2))"
    }
  }

  private struct SourceValues {
    let key: SourceKey
    var attribute: Attribute?
    /// The index in ``connections`` of the connection of the last value.
    var link: Int?
    var bytes = 0
    var statistics = StreamStatistics()

    var source: Source {
      Source(peer: key.peerText, handle: key.handle, isSent: key.isSent)
    }

    var values: Values {
      Values(name: attribute?.name, bytes: bytes, statistics: statistics)
    }
  }

  /// What a ring's frame is counted as.
  private enum FrameKind: Hashable, CustomStringConvertible {
    case sample(RawSample.Name)
    case packet(CountedSample.Light)
    /// A frame with the same meaning.
    case frame(FrameMeaning.Kind, isFromRing: Bool)
    case bulk(BulkID, isFromRing: Bool)

    init?(_ ring: RingLayer) {
      switch ring.content {
      case .frame(let meaning):
        if meaning.refusal == nil, let sample = ring.sample {
          self = .sample(sample.name)
        } else if let sample = ring.countedSample {
          self = .packet(sample.light)
        } else {
          self = .frame(meaning.kind, isFromRing: ring.isFromRing)
        }
      case .bulk(let frame): self = .bulk(frame.id, isFromRing: ring.isFromRing)
      case .part, .damaged: return nil
      }
    }

    var description: String {
      switch self {
      case .sample(let name): name.rawValue
      case .packet(let light): "packets of \(light)"
      case .frame(let kind, let isFromRing):
        kind.isRefusal ? "\(kind.name), refused" : "\(kind.name), \(Self.side(isFromRing))"
      case .bulk(let id, let isFromRing): "\(id.isKnown ? "bulk " : "")\(id), \(Self.side(isFromRing))"
      }
    }

    private static func side(_ isFromRing: Bool) -> String { isFromRing ? "from the ring" : "to the ring" }
  }

  public init() {}

  /// Adds the next packet.
  public mutating func add(_ packet: DissectedPacket) {
    packets += 1
    lost += packet.info.drops
    if let time = packet.info.microseconds {
      start = min(start ?? time, time)
      end = max(end ?? time, time)
    }
    guard let hci = packet.hci else {
      if let air = packet.air { return add(air, packet) }
      notes += 1
      return
    }
    types[Int(hci.type.rawValue)] += 1
    if hci.problem != nil { countError("damaged HCI packets") }
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
      overflow += 1
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
    switch (hci.event, hci.subevent) {
    case (.leMeta?, _), (.disconnectionComplete?, _), (.encryptionChange?, _):
      if let event = try? HCIEvent(parsing: &reader) { add(event, hci, packet.info) }
    case (.connectionComplete?, _), (.synchronousConnectionComplete?, _):
      guard hci.status == .success, let handle = hci.connection else { break }
      close(handle, packet.info, reason: nil)
      // After the header: status, handle, address, type of the link (Vol 4, Part E, 7.7.3 and 7.7.35).
      let type = bytes.count > 12 ? LinkType(rawValue: bytes[12]) : .acl
      change(begin(handle, packet.info)) {
        $0.peer = hci.peer
        $0.classicType = type
      }
    case (.inquiryResult?, _), (.inquiryResultWithRSSI?, _), (.extendedInquiryResult?, _):
      guard let code = hci.event, var result = HCIEventInfo[code]?.parameters as? InquiryResult else { break }
      var reader = ByteReader(bytes.span.bytes.extracting(min(3, bytes.count)..<bytes.count))
      guard (try? result.visit(&reader)) != nil else { break }
      for device in result.devices {
        add(AdvertisingReport(address: device.address, eventType: [], rssi: device.rssi, data: device.data))
      }
    default: break
    }
    name(hci, packet)
  }

  /// A link's peer may be named after the link has begun.
  private mutating func name(_ hci: HCILayer, _ packet: DissectedPacket) {
    guard let handle = hci.connection, let name = packet.link?.name,
      let index = open[key(handle, packet.info)], connections[index].name != name
    else { return }
    connections[index].name = name
  }

  private mutating func add(_ event: HCIEvent, _ hci: HCILayer, _ info: CaptureRecordInfo) {
    let time = info.microseconds
    switch event {
    case .leAdvertisingReports(let event): for report in event.reports { add(report) }
    case .leConnectionComplete(let event) where event.status == .success:
      close(event.handle, info, reason: nil)
      let index = begin(event.handle, info)
      change(index) {
        $0.peer = event.peerAddress
        $0.role = event.role
        $0.add(Self.words(event.parameters), at: time)
      }
    case .disconnectionComplete(let event) where event.status == .success:
      close(event.handle, info, reason: event.reason)
    case .leConnectionUpdateComplete(let event) where event.status == .success:
      note(Self.words(event.parameters), event.handle, info)
    case .leDataLengthChange(let event):
      note(
        "data length \(event.lengths.transmit.octets) sent, \(event.lengths.receive.octets) received",
        event.handle, info)
    case .lePHYUpdateComplete(let event) where event.status == .success:
      note("\(event.phys.transmit) sent, \(event.phys.receive) received", event.handle, info)
    case .encryptionChange(let event) where event.status == .success:
      note(event.encryption == .off ? "encryption off" : "encryption on", event.handle, info)
    default: break
    }
  }

  static func words(_ link: LinkParameters) -> String {
    "interval \(link.interval), latency \(link.latency), timeout \(link.supervisionTimeout)"
  }

  private mutating func add(_ report: AdvertisingReport) {
    guard devices[report.address] != nil || devices.count < Self.capacity else {
      overflow += 1
      return
    }
    var device = devices[report.address] ?? Device(address: report.address)
    device.reports += 1
    if let rssi = report.rssi { device.rssi = max(device.rssi ?? rssi, rssi) }
    if device.name == nil { device.name = AdvertisingData(report.data).localName }
    devices[report.address] = device
  }

  // MARK: Links

  private func key(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> UInt32 {
    UInt32(info.adapter ?? 0) << 16 | UInt32(handle.rawValue)
  }

  /// - Returns: nil if there are too many
  private mutating func begin(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Int? {
    guard connections.count < Self.capacity else {
      overflow += 1
      return nil
    }
    connections.append(
      ConnectionSummary(adapter: info.adapter ?? 0, handle: handle, start: info.microseconds))
    open[key(handle, info)] = connections.count - 1
    return connections.count - 1
  }

  private mutating func change(_ index: Int?, _ body: (inout ConnectionSummary) -> Void) {
    if let index, connections.indices.contains(index) { body(&connections[index]) }
  }

  private mutating func close(_ handle: ConnectionHandle, _ info: CaptureRecordInfo, reason: HCIErrorCode?) {
    change(open.removeValue(forKey: key(handle, info))) {
      $0.end = info.microseconds
      $0.reason = reason
    }
  }

  private mutating func note(_ words: String, _ handle: ConnectionHandle, _ info: CaptureRecordInfo) {
    change(open[key(handle, info)] ?? begin(handle, info)) { $0.add(words, at: info.microseconds) }
  }

  // MARK: Data

  private mutating func addData(_ hci: HCILayer, _ packet: DissectedPacket) {
    guard let handle = hci.connection else { return }
    if let psm = packet.l2cap?.psm {
      change(open[key(handle, packet.info)] ?? begin(handle, packet.info)) {
        // The number of protocols that a peer can name is not bounded.
        if $0.frames[psm] != nil || $0.frames.count < ConnectionSummary.changeCapacity {
          $0.frames[psm, default: 0] += 1
        }
        if $0.peer == nil { $0.peer = hci.peer }
      }
    }
    if packet.l2cap != nil { name(hci, packet) }
    guard let att = packet.att else { return }
    let isSent = packet.info.direction == .hostToController
    let mtu = packet.gatt?.mtu
    let index = open[key(handle, packet.info)] ?? begin(handle, packet.info)
    change(index) {
      if isSent { $0.sentPDUs += 1 } else { $0.receivedPDUs += 1 }
      if let mtu { $0.mtu = mtu }
      if $0.peer == nil { $0.peer = hci.peer }
    }
    add(
      att, packet, peer: hci.peer, connection: UInt32(handle.rawValue), link: index)
  }

  /// - Parameters:
  ///   - connection: a connection handle, or an access address
  ///   - link: what tells connections apart
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
      addValue(att, SourceKey(peer, connection, handle, isSent: isSent), packet, link: link)
    default: if let gatt = packet.gatt { add(gatt, att) }
    }
  }

  // MARK: The air

  private static func name(of kind: AirLayer.Kind) -> String {
    switch kind {
    case .advertising: "advertising PDUs"
    case .data: "data PDUs"
    case .control: "control PDUs"
    case .isochronous: "isochronous PDUs"
    case .unknown: "beginnings of packets"
    }
  }

  private mutating func add(_ air: AirLayer, _ packet: DissectedPacket) {
    airKinds[air.kind, default: 0] += 1
    if air.crc == .wrong {
      countError("packets with a wrong CRC")
    } else if air.problem != nil {
      countError("damaged packets")
    }
    for _ in packet.unanswered { countError("requests that were never answered") }
    if let ring = packet.ring { add(ring) }
    if air.kind == .advertising { return addAdvertisement(air, packet) }
    guard let link = packet.link, let address = link.accessAddress else { return }
    let index = openOnAir[address] ?? beginOnAir(address, packet.info)
    if let index { airConnections[index].add(air, packet) }
    guard let att = packet.att else { return }
    // Other numbers than those of links over HCI.
    add(att, packet, peer: link.peer, connection: address, link: index.map { -1 - $0 })
  }

  private mutating func addAdvertisement(_ air: AirLayer, _ packet: DissectedPacket) {
    guard air.crc != .wrong else { return }
    let bytes = packet.bytes
    let report = AirAdvertisement(air, bytes.span.bytes)
    if report.isReport, let sender = report.sender {
      add(
        AdvertisingReport(
          address: sender, eventType: [], rssi: packet.reception?.rssi, data: Array(bytes[report.data])))
    }
    guard let request = report.request, let central = report.sender, let peripheral = report.receiver,
      let index = beginOnAir(request.accessAddress.rawValue, packet.info)
    else { return }
    airConnections[index].central = central
    airConnections[index].peripheral = peripheral
    airConnections[index].interval = request.interval
    airConnections[index].add(
      Self.words(
        LinkParameters(
          interval: request.interval, latency: request.latency, supervisionTimeout: request.timeout)),
      at: packet.info.microseconds)
  }

  /// - Returns: nil if there are too many
  private mutating func beginOnAir(_ address: UInt32, _ info: CaptureRecordInfo) -> Int? {
    guard airConnections.count < Self.capacity else {
      overflow += 1
      return nil
    }
    airConnections.append(AirConnectionSummary(address, start: info.microseconds))
    openOnAir[address] = airConnections.count - 1
    return airConnections.count - 1
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

  private mutating func addValue(_ att: ATTLayer, _ key: SourceKey, _ packet: DissectedPacket, link: Int?) {
    if sources.count >= Self.capacity, sources[key] == nil {
      overflow += 1
      return
    }
    let attribute = packet.gatt?.attribute
    let length = att.value?.count ?? 0
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    func add(_ source: inout SourceValues) {
      // No interval across two connections.
      if source.link != link { source.statistics.interrupt() }
      source.link = link
      source.bytes += length
      if attribute != nil { source.attribute = attribute }
      if !overflow { source.statistics.add(Instant(nanoseconds: nanoseconds)) }
    }
    add(&sources[key, default: SourceValues(key: key)])
  }

  private mutating func add(_ ring: RingLayer) {
    if case .damaged(let what) = ring.content { return countError("ring: \(what)") }
    guard let kind = FrameKind(ring) else { return }
    guard frames.count < Self.capacity || frames[kind] != nil else {
      overflow += 1
      return
    }
    frames[kind, default: 0] += 1
  }
}

extension RingLayer {
  /// The sample in a value of a ring; nil for any other value.
  public var sample: RawSample? {
    if case .frame(let meaning) = content, isFromRing { RawSample(meaning.frame) } else { nil }
  }

  /// The sample of the counted stream in a value of a ring; nil for any other value.
  public var countedSample: CountedSample? {
    guard case .frame(let meaning) = content, isFromRing else { return nil }
    return CountedSample(meaning.frame).flatMap { $0.status == 0 ? $0 : nil }
  }

  /// Whether a value to a ring requests a counted stream.
  public var requestsCountedStream: Bool {
    guard case .frame(let meaning) = content, !isFromRing else { return false }
    return CountedStreamStart(meaning.frame) != nil
  }
}

extension RawSample {
  fileprivate enum Name: String {
    case ppg = "samples of PPG"
    case spo2 = "samples of SpO2"
    case accelerometer = "samples of acceleration"
    case refused = "raw stream refused"
    case wearCalibrationEnd = "ends of a wear calibration"
    case unknown = "samples of an unknown kind"
  }

  fileprivate var name: Name {
    switch self {
    case .ppg: .ppg
    case .spo2: .spo2
    case .accelerometer: .accelerometer
    case .refused: .refused
    case .wearCalibrationEnd: .wearCalibrationEnd
    case .unknown: .unknown
    }
  }
}
