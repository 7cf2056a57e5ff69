import ATT
import HCI
import HaloBluetoothCore
import RingLink

extension CaptureSummary {
  /// Where notifications and indications are sent from; by the peer, those of the peer first.
  package struct Source: Hashable, Comparable, Sendable {
    /// The address of the peer as text.
    package var peer: String
    package var handle: AttributeHandle
    /// Whether the host that was captured sent the values to the peer.
    package var isSent = false

    package static func < (left: Self, right: Self) -> Bool {
      (left.peer, left.isSent ? 1 : 0, left.handle) < (right.peer, right.isSent ? 1 : 0, right.handle)
    }
  }

  /// The values from one source.
  package struct Values: Sendable {
    /// The peer.
    package var device: DeviceKey
    /// The name, if it is known.
    package var name: String?
    /// The number of bytes of all values.
    package var bytes = 0
    /// Their common bytes.
    package var pattern = BytePattern()
    /// The rate and the gaps, within each connection.
    package var statistics = StreamStatistics()
  }
}

/// The notifications and indications of a capture, by their source.
struct ValueTally: Sendable {
  private var sources: [SourceKey: SourceValues] = [:]
  /// The number of values whose source there was no room for.
  private(set) var overflow = 0

  /// Texts are made at the end, not for each packet.
  var values: [CaptureSummary.Source: CaptureSummary.Values] {
    Dictionary(sources.values.map { ($0.source, $0.values) }, uniquingKeysWith: { first, _ in first })
  }

  /// - Parameters:
  ///   - connection: a connection handle, or an access address
  ///   - link: distinguishes connections
  mutating func add(
    _ att: ATTLayer, _ packet: DissectedPacket, of handle: AttributeHandle, _ peer: BluetoothAddress?,
    _ connection: UInt32, isSent: Bool, link: Int?
  ) {
    let key = SourceKey(peer, connection, handle, isSent: isSent)
    if sources.count >= CaptureSummary.capacity, sources[key] == nil {
      overflow += 1
      return
    }
    let attribute = packet.gatt?.attribute
    let length = att.value?.count ?? 0
    let source = packet.source
    let value = source[(att.value ?? 0..<0).clamped(to: 0..<source.count)]
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    func add(_ source: inout SourceValues) {
      // No interval across two connections.
      if source.link != link { source.statistics.interrupt() }
      source.link = link
      source.bytes += length
      source.pattern.add(value, length: length)
      if attribute != nil { source.attribute = attribute }
      if !overflow { source.statistics.add(Instant(nanoseconds: nanoseconds)) }
    }
    add(&sources[key, default: SourceValues(key: key)])
  }

  /// The identity of a sender of values.
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
    /// The index in ``CaptureSummary/connections`` of the connection of the last value.
    var link: Int?
    var bytes = 0
    var pattern = BytePattern()
    var statistics = StreamStatistics()

    var source: CaptureSummary.Source {
      CaptureSummary.Source(peer: key.peerText, handle: key.handle, isSent: key.isSent)
    }

    var values: CaptureSummary.Values {
      CaptureSummary.Values(
        device: DeviceKey(key.peer, connection: key.connection), name: attribute?.name, bytes: bytes,
        pattern: pattern, statistics: statistics)
    }
  }
}

extension CaptureSummary {
  /// A device whose advertisements were received.
  package struct Device: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The name, if it is known.
    package var name: String?
    /// The number of advertising reports.
    package var reports = 0
    /// In dBm, the strongest.
    package var rssi: Int8?
  }
}

/// The devices whose advertisements were received.
struct DeviceTally: Sendable {
  private(set) var devices: [BluetoothAddress: CaptureSummary.Device] = [:]
  /// The number of reports of devices that there was no room for.
  private(set) var overflow = 0

  mutating func add(_ report: AdvertisingReport) {
    guard devices[report.address] != nil || devices.count < CaptureSummary.capacity else {
      overflow += 1
      return
    }
    var device = devices[report.address] ?? CaptureSummary.Device(address: report.address)
    device.reports += 1
    if let rssi = report.rssi { device.rssi = max(device.rssi ?? rssi, rssi) }
    if device.name == nil { device.name = AdvertisingData(report.data).localName }
    devices[report.address] = device
  }
}

/// How many frames of each kind a ring and its host have sent.
struct RingFrameTally: Sendable {
  private var frames: [FrameKind: Int] = [:]
  /// The number of frames of kinds that there was no room for.
  private(set) var overflow = 0

  mutating func add(_ ring: RingLayer) {
    guard let kind = FrameKind(ring) else { return }
    guard frames.count < CaptureSummary.capacity || frames[kind] != nil else {
      overflow += 1
      return
    }
    frames[kind, default: 0] += 1
  }

  /// The numbers by the names of the kinds. Texts are made at the end, not for each packet.
  var texts: [String: Int] { Dictionary(frames.map { ($0.key.description, $0.value) }, uniquingKeysWith: +) }

  /// A kind that the frames of a ring are counted by.
  private enum FrameKind: Hashable, CustomStringConvertible {
    case sample(RawSample.Name)
    case packet(CountedSample.Light)
    /// A frame with the same meaning.
    case frame(DecodedFrame.Kind, isFromRing: Bool)
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
