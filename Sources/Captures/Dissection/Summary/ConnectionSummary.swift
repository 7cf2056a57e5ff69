import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP

/// The summary of one link.
package struct ConnectionSummary: Hashable, Sendable {
  static let changeCapacity = 64

  /// The parameters from a time on.
  package struct Change: Hashable, Sendable {
    /// Microseconds since 1970-01-01 UTC; nil if the packet has no timestamp.
    package var microseconds: Int64?
    /// As text: `interval 30 ms, latency 0, timeout 720 ms`.
    package var words: String
  }

  /// The index of the adapter: 0 is hci0.
  package var adapter: UInt16
  package var handle: ConnectionHandle
  /// Nil if the capture begins in the middle of the link.
  package var peer: BluetoothAddress?
  /// The name of the peer, if the capture shows it.
  package var name: String?
  /// The link type of BR/EDR; nil for LE, and if the capture does not show which it is.
  package var classicType: LinkType?
  package var role: LERole?
  /// The time of the first packet of the link, in microseconds since 1970-01-01 UTC; nil if it has no timestamp.
  package var start: Int64?
  /// Microseconds since 1970-01-01 UTC; nil if the capture ends first.
  package var end: Int64?
  /// Why it ended; nil if the capture ends first.
  package var reason: HCIErrorCode?
  /// In order; the last ones are missing if there were too many.
  package internal(set) var changes: [Change] = []
  /// The ATT_MTU in force, in bytes; nil if it was not exchanged.
  package var mtu: UInt16?
  /// The number of ATT PDUs from the host.
  package var sentPDUs = 0
  /// The number of ATT PDUs to the host.
  package var receivedPDUs = 0
  /// The number of L2CAP frames on channels that were opened, by their protocol.
  package var frames: [PSM: Int] = [:]
  /// The number of PDUs of the Security Manager.
  package var pairingPDUs = 0

  /// See ``UsedDevice/traffic``.
  var traffic: Int { sentPDUs + receivedPDUs + pairingPDUs + frames.values.reduce(0, +) }

  mutating func add(_ words: String, at microseconds: Int64?) {
    if changes.count < Self.changeCapacity {
      changes.append(Change(microseconds: microseconds, words: words))
    }
  }
}

/// A histogram of durations with bounded memory: durations are counted in classes that are 6 percent wide.
package struct DurationHistogram: Hashable, Sendable {
  /// Classes for each power of two.
  private static let steps = 16

  /// The number of durations.
  package private(set) var count = 0
  /// In microseconds.
  package private(set) var longest: Int64 = 0
  private var classes: [Int: Int] = [:]

  /// - Parameter microseconds: negative ones, of a time that went back, are left out
  mutating func add(_ microseconds: Int64) {
    guard microseconds >= 0 else { return }
    count += 1
    longest = max(longest, microseconds)
    classes[Self.place(of: microseconds), default: 0] += 1
  }

  /// The duration that a part of all does not exceed, in microseconds, at most 7 percent too long; nil if there are
  /// none.
  ///
  /// - Parameter part: 0.5 is the median
  package func percentile(_ part: Double) -> Int64? {
    guard count > 0 else { return nil }
    let wanted = max(1, Int((part * Double(count)).rounded(.up)))
    var seen = 0
    for (place, number) in classes.sorted(by: { $0.key < $1.key }) {
      seen += number
      if seen >= wanted { return min(longest, Self.upperEnd(of: place)) }
    }
    return longest
  }

  /// Numbers below 16 are their own class.
  private static func place(of value: Int64) -> Int {
    guard value >= Int64(steps) else { return Int(value) }
    let power = 63 - value.leadingZeroBitCount
    return (power - 3) * steps + Int(value >> Int64(power - 4)) - steps
  }

  private static func upperEnd(of place: Int) -> Int64 {
    guard place >= steps else { return Int64(place) }
    let shift = Int64(place / steps - 1)
    let value = Int64(place % steps + steps)
    let (end, overflow) = (value + 1).multipliedReportingOverflow(by: 1 << shift)
    return overflow ? .max : end - 1
  }
}

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

/// The contents of a capture of the air: packets of each kind, and connections in the order in which they began.
struct AirTally: Sendable {
  private(set) var connections: [AirConnectionSummary] = []
  /// The number of connections that there was no room for.
  private(set) var overflow = 0
  /// The index in ``connections`` of the last connection with each access address.
  private var open: [UInt32: Int] = [:]
  private var counts: [AirLayer.Kind: Int] = [:]

  /// The number of packets by kind.
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
