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

  /// A device whose advertisements were received.
  package struct Device: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The name, if it is known.
    package var name: String?
    /// The number of advertising reports.
    package var reports = 0
    /// In dBm, the strongest.
    package var rssi: Int8?

    mutating func add(_ report: AdvertisingReport) {
      reports += 1
      if let rssi = report.rssi { self.rssi = max(self.rssi ?? rssi, rssi) }
      if name == nil { name = AdvertisingData(report.data).localName }
    }
  }
}

/// The sender of notifications and indications. Texts are made at the end, not for each packet.
struct ValueSender: Hashable, Sendable {
  let peer: BluetoothAddress?
  /// A connection handle, or an access address; 0 where the peer is known.
  let connection: UInt32
  let handle: AttributeHandle
  let isSent: Bool

  init(_ peer: BluetoothAddress?, _ connection: UInt32, _ handle: AttributeHandle, isSent: Bool) {
    self.isSent = isSent
    // The kind of an address is not shown.
    self.peer = peer.map { BluetoothAddress($0.value, .public) }
    // A peer is the same on each of its links.
    self.connection = peer == nil ? connection : 0
    self.handle = handle
  }

  fileprivate var peerText: String {
    peer?.description ?? "link \(Hex.string(UInt64(connection), bytes: connection > 0xFFFF ? 4 : 2))"
  }
}

/// The notifications and indications from one sender.
struct SourceValues: Sendable {
  private var attribute: Attribute?
  /// The index in ``CaptureSummary/connections`` of the connection of the last value.
  private var link: Int?
  private var bytes = 0
  private var pattern = BytePattern()
  private var statistics = StreamStatistics()

  /// - Parameter link: distinguishes connections
  mutating func add(_ att: ATTLayer, _ packet: DissectedPacket, link: Int?) {
    // No interval across two connections.
    if self.link != link { statistics.interrupt() }
    self.link = link
    let source = packet.source
    let length = att.value?.count ?? 0
    bytes += length
    let place = (att.value ?? 0..<0).clamped(to: 0..<source.count)
    pattern.add(source.span.bytes.extracting(place), length: length)
    if let named = packet.gatt?.attribute { attribute = named }
    let (nanoseconds, overflow) = (packet.info.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    if !overflow { statistics.add(Instant(nanoseconds: nanoseconds)) }
  }

  func source(of key: ValueSender) -> CaptureSummary.Source {
    CaptureSummary.Source(peer: key.peerText, handle: key.handle, isSent: key.isSent)
  }

  func values(of key: ValueSender) -> CaptureSummary.Values {
    CaptureSummary.Values(
      device: DeviceKey(key.peer, connection: key.connection), name: attribute?.name, bytes: bytes,
      pattern: pattern, statistics: statistics)
  }
}

/// A kind that the frames of a ring are counted by.
enum RingFrameKind: Hashable, Sendable, CustomStringConvertible {
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

extension RawSample {
  enum Name: String {
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
