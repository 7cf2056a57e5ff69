import HCI
import HaloBluetoothCore
import HaloCapture

/// The contents of a capture of any program that a replay at the level of ATT needs: its connections, and the advertisements.
///
///     let traffic = try RecordedTraffic(path: "phone.btsnoop")
///     for connection in traffic.connections { print(connection) }
package struct RecordedTraffic: Sendable {
  /// Which part of a file to read.
  package struct Options: Hashable, Sendable {
    /// The index of the adapter; nil for all.
    package var adapter: UInt16?
    /// The number of the first packet to read.
    package var first = 1

    package init(adapter: UInt16? = nil, first: Int = 1) {
      self.adapter = adapter
      self.first = first
    }
  }

  /// An advertising report with its time in microseconds since 1970-01-01 UTC.
  package struct Report: Hashable, Sendable {
    package var time: Int64
    package var report: AdvertisingReport
  }

  /// The connections with ATT traffic, in the order of the capture.
  package private(set) var connections: [RecordedConnection] = []
  /// The advertising reports; those that repeat an earlier one are left out.
  package private(set) var reports: [Report] = []
  /// The notes; see `CaptureNote`.
  package private(set) var notes: [String] = []
  /// The number of packets that are truncated in the file (snap length), and the first of them.
  package private(set) var cut: (count: Int, first: Int) = (0, 0)
  /// Why the end of the file could not be read; nil if it could.
  package private(set) var damage: CaptureError?

  /// A replay has its connections in memory: at most this many bytes of PDUs.
  static let mostBytes = 256 << 20
  static let mostReports = 10_000

  /// Reads the whole file.
  ///
  /// - Throws: `CaptureError` if it can't be read, or has no ATT traffic
  package init(path: String, _ options: Options = Options()) throws(CaptureError) {
    var reader = try CaptureReader(path: path, isReadAgain: true)
    let collector = Collector()
    var isOfAir = false
    do throws(CaptureError) {
      while try reader.advance() == .record {
        let info = reader.info
        if case .air = info.content { isOfAir = true }
        guard info.number >= options.first, options.adapter == nil || info.adapter == options.adapter,
          case .hci = info.content
        else { continue }
        if info.originalLength > reader.bytes.byteCount {
          cut = cut.count == 0 ? (1, info.number) : (cut.count + 1, cut.first)
        }
        if reader.bytes.byteCount > 0, reader.bytes.byte(at: 0) == HCIPacketType.event.rawValue,
          let note = CaptureNote.text(of: Array(reader.bytes))
        {
          notes.append(note)
          continue
        }
        collector.take(reader.bytes, info)
        if collector.isFull { throw CaptureError(.tooMuchTraffic(packet: info.number), path: path) }
      }
    } catch {
      if case .tooMuchTraffic = error.reason { throw error }
      damage = error
    }
    reports = collector.reports
    connections = collector.connections()
    if connections.isEmpty, reports.isEmpty {
      let reason: CaptureError.Reason = isOfAir ? .notOfHost : .noAttributeTraffic(of: options.adapter)
      throw damage ?? CaptureError(reason, path: path)
    }
  }

  /// Made by hand, for tests.
  package init(connections: [RecordedConnection], reports: [Report] = []) {
    self.connections = connections
    self.reports = reports
    for index in self.connections.indices { self.connections[index].number = index + 1 }
  }
}

/// A connection, as far as it was read.
private final class OpenConnection: CapturedLink {
  /// Counts from 0 in the order in which the links appear.
  let id: Int
  var connection: RecordedConnection
  let frames = LinkFrames()
  var lastUsed = 0

  var peer: BluetoothAddress? { connection.peer }

  init(_ id: Int, _ connection: RecordedConnection) {
    self.id = id
    self.connection = connection
  }
}

/// Collects the traffic while a capture is read: puts the ATT PDUs of all links together.
private final class Collector {
  private(set) var reports: [RecordedTraffic.Report] = []
  /// Whether no more PDUs are accepted.
  private(set) var isFull = false

  private struct Seen: Hashable {
    var address: BluetoothAddress
    var isResponse: Bool
    var data: [UInt8]
  }

  /// In microseconds, some thousand years: differences of damaged times do not overflow.
  private static let farthest: Int64 = 1 << 58

  private var links = LinkFollower<OpenConnection>()
  private var count = 0
  private var finished: [OpenConnection] = []
  private var seen: Set<Seen> = []
  private var bytes = 0
  private var last: Int64?

  /// Takes an HCI packet with its type byte.
  func take(_ packet: RawSpan, _ info: CaptureRecordInfo) {
    let body = packet.extracting(min(1, packet.byteCount)..<packet.byteCount)
    if packet.byte(at: 0) == HCIPacketType.acl.rawValue {
      if let acl = try? ACLPacket(body) { receive(acl, info) }
      return
    }
    if let change = LinkChange(packet) { keep(links.take(change, info) { begin($0, info) }, info) }
    guard body.byte(at: 0) == HCIEventCode.leMeta.rawValue,
      packet.byte(at: 0) == HCIPacketType.event.rawValue
    else { return }
    var reader = ByteReader(body)
    guard case .leAdvertisingReports(let reports)? = try? HCIEvent(parsing: &reader) else { return }
    for report in reports.reports { add(report, info) }
  }

  private func receive(_ acl: borrowing ACLPacket, _ info: CaptureRecordInfo) {
    let handle = acl.header.handle
    var link = links.use(handle, info)
    if link == nil, let found = links.discover(handle, info, begin: { begin($0, info) }) {
      keep(found.forgotten, info)
      link = found.link
    }
    guard let link else { return }
    let boundary = acl.header.boundary
    let isSent = link.frames.isSent(boundary, info.direction)
    (isSent ? link.frames.sent : link.frames.received).receive(acl.data, isStart: boundary != .continuing) {
      channel, payload in
      if channel == .attribute { add(payload, isSent: isSent, to: link, info) }
    }
  }

  private func begin(_ new: NewLink, _ info: CaptureRecordInfo) -> OpenConnection {
    var connection = RecordedConnection(peer: new.peer, pdus: [])
    connection.parameters = new.event?.parameters
    connection.adapter = info.adapter
    connection.start = time(info)
    connection.end = connection.start
    defer { count += 1 }
    return OpenConnection(count, connection)
  }

  private func add(_ pdu: RawSpan, isSent: Bool, to link: OpenConnection, _ info: CaptureRecordInfo) {
    let time = time(info)
    bytes += pdu.byteCount + 64
    isFull = bytes > RecordedTraffic.mostBytes
    guard !isFull else { return }
    link.connection.pdus.append(
      .init(packet: info.number, time: time, isFromServer: !isSent, bytes: Array(pdu)))
    link.connection.end = time
  }

  private func add(_ report: AdvertisingReport, _ info: CaptureRecordInfo) {
    let time = time(info)
    guard reports.count < RecordedTraffic.mostReports else { return }
    let isResponse = report.eventType.contains(.scanResponse)
    let key = Seen(address: report.address, isResponse: isResponse, data: report.data)
    if seen.insert(key).inserted { reports.append(.init(time: time, report: report)) }
  }

  private func keep(_ ended: [LinkFollower<OpenConnection>.Ended], _ info: CaptureRecordInfo) {
    for (link, reason) in ended where !link.connection.pdus.isEmpty {
      if reason != nil { link.connection.end = time(info) }
      link.connection.reason = reason
      finished.append(link)
    }
  }

  /// The time of a record. A record without one, or with an earlier one than before, has that of the record before.
  private func time(_ info: CaptureRecordInfo) -> Int64 {
    let stored = min(max(info.microseconds ?? last ?? 0, -Self.farthest), Self.farthest)
    let time = max(last ?? stored, stored)
    last = time
    return time
  }

  /// The connections with ATT traffic, in the order in which they began.
  func connections() -> [RecordedConnection] {
    let all = finished + links.open.filter { !$0.connection.pdus.isEmpty }
    var connections = all.sorted { $0.id < $1.id }.map(\.connection)
    for index in connections.indices {
      connections[index].number = index + 1
      connections[index].findServer()
    }
    return connections
  }
}
