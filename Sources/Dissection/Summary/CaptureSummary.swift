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

  /// Where notifications and indications are sent from.
  public struct Source: Hashable, Sendable {
    /// The address of the sender as text.
    public var peer: String
    public var handle: AttributeHandle
  }

  /// The values from one source.
  public struct Values: Sendable {
    /// The name, if it is known.
    public var name: String?
    /// The number of bytes of all values.
    public var bytes = 0
    /// The rate and the gaps, within each connection.
    public var statistics = StreamStatistics()
    /// The index of the connection in ``CaptureSummary/connections``.
    fileprivate var connection: Int?
  }

  /// The number of packets.
  public private(set) var packets = 0
  /// The time of the first packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  public private(set) var start: Int64?
  /// The time of the last packet, in microseconds since 1970-01-01 UTC; nil if there is none.
  public private(set) var end: Int64?
  /// Packets by what they are: `command`, `event`.
  public private(set) var kinds: [String: Int] = [:]
  /// The devices that advertised.
  public private(set) var devices: [BluetoothAddress: Device] = [:]
  /// The links, in the order in which they began.
  public private(set) var connections: [ConnectionSummary] = []
  /// The GATT procedures of all links.
  public private(set) var procedures: [ObservedProcedure: Procedure] = [:]
  /// The notifications and indications, by their source.
  public private(set) var values: [Source: Values] = [:]
  /// The number of errors of each kind.
  public private(set) var errors: [String: Int] = [:]
  /// A ring's frames by their names.
  public private(set) var ringFrames: [String: Int] = [:]
  /// The number of packets that the recorder lost.
  public private(set) var lost = 0
  /// The number of omitted items.
  public private(set) var overflow = 0

  /// The index in ``connections`` of each open link.
  private var open: [UInt32: Int] = [:]

  public init() {}

  /// Adds the next packet.
  public mutating func add(_ packet: DissectedPacket) {
    packets += 1
    lost += packet.info.drops
    if let time = packet.info.microseconds {
      start = min(start ?? time, time)
      end = max(end ?? time, time)
    }
    guard let hci = packet.hci else { return count("no HCI packet", in: \.kinds) }
    count(Self.name(of: hci.type), in: \.kinds)
    if hci.problem != nil { count("damaged HCI packets", in: \.errors) }
    switch hci.type {
    case .event: addEvent(hci, packet)
    case .acl: addData(hci, packet)
    default: break
    }
    if let ring = packet.ring { add(ring) }
    for _ in packet.unanswered { count("requests that were never answered", in: \.errors) }
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

  private mutating func count(_ key: String, in table: WritableKeyPath<CaptureSummary, [String: Int]>) {
    guard self[keyPath: table][key] != nil || self[keyPath: table].count < Self.capacity else {
      overflow += 1
      return
    }
    self[keyPath: table][key, default: 0] += 1
  }

  // MARK: Events

  private mutating func addEvent(_ hci: HCILayer, _ packet: DissectedPacket) {
    if let status = hci.status, status != .success {
      let what = hci.opcode?.name ?? hci.subevent?.name ?? hci.event?.name ?? "event"
      count("\(what): \(status)", in: \.errors)
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

  private static func words(_ link: LinkParameters) -> String {
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
    change(open[key(handle, packet.info)] ?? begin(handle, packet.info)) {
      if isSent { $0.sentPDUs += 1 } else { $0.receivedPDUs += 1 }
      if let mtu { $0.mtu = mtu }
      if $0.peer == nil { $0.peer = hci.peer }
    }
    if att.problem != nil { count("damaged ATT PDUs", in: \.errors) }
    if let error = att.error, let failed = att.failed, error != .attributeNotFound {
      count("\(failed): \(error)", in: \.errors)
    }
    switch att.opcode {
    case .handleValueNotification, .handleValueIndication: addValue(att, hci, packet)
    default: if let gatt = packet.gatt { add(gatt, att) }
    }
  }

  private mutating func add(_ gatt: GATTLayer, _ att: ATTLayer) {
    if gatt.unanswered != nil { count("requests that were never answered", in: \.errors) }
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

  private mutating func addValue(_ att: ATTLayer, _ hci: HCILayer, _ packet: DissectedPacket) {
    guard let handle = att.handle, let connection = hci.connection else { return }
    let source = Source(peer: hci.peer?.description ?? "link \(connection)", handle: handle)
    guard values[source] != nil || values.count < Self.capacity else {
      overflow += 1
      return
    }
    let link = open[key(connection, packet.info)]
    if let known = values[source], known.connection != link { values[source]?.statistics.interrupt() }
    values[source, default: Values()].connection = link
    values[source]?.bytes += att.value?.count ?? 0
    if let name = packet.gatt?.attribute?.name { values[source]?.name = name }
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    if !overflow { values[source]?.statistics.add(Instant(nanoseconds: nanoseconds)) }
  }

  private mutating func add(_ ring: RingLayer) {
    let side = ring.isFromRing ? "from the ring" : "to the ring"
    switch ring.content {
    case .frame(let meaning):
      if meaning.refusal != nil { return count("\(meaning.name), refused", in: \.ringFrames) }
      if let sample = ring.sample { return count(sample.kind, in: \.ringFrames) }
      count("\(meaning.name), \(side)", in: \.ringFrames)
    case .bulk(let frame): count("bulk \(frame.id), \(side)", in: \.ringFrames)
    case .part: break
    case .damaged(let what): count("ring: \(what)", in: \.errors)
    }
  }
}

extension RingLayer {
  /// The sample in a value of a ring; nil for any other value.
  public var sample: RawSample? {
    if case .frame(let meaning) = content, isFromRing { RawSample(meaning.frame) } else { nil }
  }
}

extension RawSample {
  fileprivate var kind: String {
    switch self {
    case .ppg: "samples of PPG"
    case .spo2: "samples of SpO2"
    case .accelerometer: "samples of acceleration"
    case .refused: "raw stream refused"
    case .wearCalibrationEnd: "ends of a wear calibration"
    case .unknown: "samples of an unknown kind"
    }
  }
}
