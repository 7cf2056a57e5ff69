import HCI
import HaloBluetoothCore
import HaloCapture

/// The links of a capture over HCI, in the order in which they began.
struct LinkTally: Sendable {
  private(set) var connections: [ConnectionSummary] = []
  /// The number of links that there was no room for.
  private(set) var overflow = 0
  /// The index in ``connections`` of each open link.
  private var open: [UInt32: Int] = [:]

  /// The index of the open link with a handle; it begins now if it is not known, as far as there is room.
  mutating func index(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Int? {
    open[key(handle, info)] ?? begin(handle, info)
  }

  /// A link's peer may be named after the link has begun.
  mutating func name(_ handle: ConnectionHandle, _ name: String, _ info: CaptureRecordInfo) {
    guard let index = open[key(handle, info)], connections[index].name != name else { return }
    connections[index].name = name
  }

  private func key(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> UInt32 {
    UInt32(info.adapter ?? 0) << 16 | UInt32(handle.rawValue)
  }

  /// - Returns: nil if there are too many
  mutating func begin(_ handle: ConnectionHandle, _ info: CaptureRecordInfo) -> Int? {
    guard connections.count < CaptureSummary.capacity else {
      overflow += 1
      return nil
    }
    connections.append(
      ConnectionSummary(adapter: info.adapter ?? 0, handle: handle, start: info.microseconds))
    open[key(handle, info)] = connections.count - 1
    return connections.count - 1
  }

  mutating func change(_ index: Int?, _ body: (inout ConnectionSummary) -> Void) {
    if let index, connections.indices.contains(index) { body(&connections[index]) }
  }

  mutating func close(_ handle: ConnectionHandle, _ info: CaptureRecordInfo, reason: HCIErrorCode?) {
    change(open.removeValue(forKey: key(handle, info))) {
      $0.end = info.microseconds
      $0.reason = reason
    }
  }

  /// The adapter was reset.
  mutating func closeAll(_ info: CaptureRecordInfo) {
    for index in open.values where connections[index].adapter == info.adapter ?? 0 {
      close(connections[index].handle, info, reason: nil)
    }
  }

  mutating func note(_ words: String, _ handle: ConnectionHandle, _ info: CaptureRecordInfo) {
    change(index(handle, info)) { $0.add(words, at: info.microseconds) }
  }
}

/// What a capture of the air has: packets of each kind, and connections in the order in which they began.
struct AirTally: Sendable {
  private(set) var connections: [AirConnectionSummary] = []
  /// The number of connections that there was no room for.
  private(set) var overflow = 0
  /// The index in ``connections`` of the last connection with each access address.
  private var open: [UInt32: Int] = [:]
  private var counts: [AirLayer.Kind: Int] = [:]

  /// The number of packets by what they are.
  var kinds: [String: Int] {
    Dictionary(counts.map { (Self.name(of: $0.key), $0.value) }, uniquingKeysWith: +)
  }

  mutating func count(_ kind: AirLayer.Kind) { counts[kind, default: 0] += 1 }

  private static func name(of kind: AirLayer.Kind) -> String {
    switch kind {
    case .advertising: "advertising PDUs"
    case .data: "data PDUs"
    case .control: "control PDUs"
    case .isochronous: "isochronous PDUs"
    case .unknown: "beginnings of packets"
    }
  }

  /// Adds a packet of a connection.
  ///
  /// - Returns: the index of the connection; nil if there are too many
  mutating func add(_ air: AirLayer, _ packet: DissectedPacket, to address: UInt32) -> Int? {
    let index = open[address] ?? begin(address, packet.info)
    if let index { connections[index].add(air, packet) }
    return index
  }

  /// Begins a connection if an advertising PDU requests one.
  mutating func begin(_ report: AirAdvertisement, _ info: CaptureRecordInfo) {
    guard let request = report.request, let central = report.sender, let peripheral = report.receiver,
      let index = begin(request.accessAddress.rawValue, info)
    else { return }
    connections[index].central = central
    connections[index].peripheral = peripheral
    connections[index].interval = request.interval
    connections[index].add(
      CaptureSummary.words(
        LinkParameters(
          interval: request.interval, latency: request.latency, supervisionTimeout: request.timeout)),
      at: info.microseconds)
  }

  private mutating func begin(_ address: UInt32, _ info: CaptureRecordInfo) -> Int? {
    guard connections.count < CaptureSummary.capacity else {
      overflow += 1
      return nil
    }
    connections.append(AirConnectionSummary(address, start: info.microseconds))
    open[address] = connections.count - 1
    return connections.count - 1
  }
}
