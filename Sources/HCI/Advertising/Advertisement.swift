import HaloBluetoothCore

/// All information about an advertising device: its last advertisement and its last scan response.
public struct Advertisement: Hashable, Sendable, Identifiable, CustomStringConvertible {
  /// The fields of a report that are new. A payload is new if the device has not sent it for 30 seconds.
  package struct ChangedFields: OptionSet, Hashable, Sendable {
    package var rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device is new.
    package static let device = ChangedFields(rawValue: 1 << 0)
    /// The advertising data.
    package static let advertisingData = ChangedFields(rawValue: 1 << 1)
    /// The scan response.
    package static let scanResponse = ChangedFields(rawValue: 1 << 2)
  }

  /// Identifies a device by its address, and an anonymous advertiser by the number of its advertising set.
  public struct ID: Hashable, Sendable {
    let peer: PeerIdentity
    let advertisingSID: UInt8?

    init(_ peer: PeerIdentity, _ advertisingSID: UInt8? = nil) {
      self.peer = peer
      self.advertisingSID = peer.address.kind == .anonymous ? advertisingSID : nil
    }
  }

  public let id: ID
  /// The address of the advertiser.
  public var address: BluetoothAddress { id.peer.address }
  /// Which device the advertiser is.
  package var identity: PeerIdentity { id.peer }
  /// The type of the last advertisement, not of the scan response; empty if only a scan response was received.
  package private(set) var eventType: AdvertisingReport.EventType = []
  /// The last one; nil until an advertisement is received.
  public var advertisingData: AdvertisingData? { advertisement?.data }
  /// The last one; nil until a scan response is received.
  public var scanResponse: AdvertisingData? { response?.data }
  /// The strength of the last report, in dBm; nil if the controller did not measure it.
  public private(set) var rssi: Int8?
  /// The last strength that was reported, in dBm.
  public private(set) var lastRSSI: Int8?
  /// The PHYs of the last report.
  package private(set) var primaryPHY: LEPHY = .le1M
  package private(set) var secondaryPHY: LEPHY = .none
  /// Whether the end of the last payload was lost.
  package private(set) var isTruncated = false
  public let firstSeen: Instant
  public private(set) var lastSeen: Instant
  /// The number of complete reports.
  package private(set) var reportCount: UInt64 = 0
  /// The fields that were new in the last report.
  package private(set) var changedFields: ChangedFields = []

  /// In dBm, from an extended report, else from the advertising data.
  public var txPower: Int8? { reportedTxPower ?? advertisingData?.txPower ?? scanResponse?.txPower }

  private var reportedTxPower: Int8?
  private var advertisement: Payload?
  private var response: Payload?
  private var heard = HeardPayloads()
  /// The last names that any payload had.
  private var completeName: String?
  private var shortenedName: String?
  private var lastConnectable: Instant?
  /// The time after a connectable advertisement in which others do not make the device non-connectable: it may have several
  /// advertising sets.
  private static let connectableTime = Duration.seconds(10)
  /// Stronger ones do not exist (Core Specification Vol 4, Part E, 7.7.65.2), but are reported by some controllers.
  private static let strongestRSSI: Int8 = 20

  init(_ id: ID, at instant: Instant) {
    self.id = id
    firstSeen = instant
    lastSeen = instant
  }

  /// Adds a report whose payload is complete.
  mutating func add(_ report: AdvertisingReport, _ payload: [UInt8], isTruncated: Bool, at instant: Instant) {
    changedFields = reportCount == 0 ? .device : []
    lastSeen = max(lastSeen, instant)
    reportCount &+= 1
    rssi = report.rssi.flatMap { $0 <= Self.strongestRSSI ? $0 : nil }
    lastRSSI = rssi ?? lastRSSI
    reportedTxPower = report.txPower ?? reportedTxPower
    primaryPHY = report.primaryPHY
    secondaryPHY = report.secondaryPHY
    self.isTruncated = isTruncated
    let isResponse = report.eventType.contains(.scanResponse)
    if !isResponse {
      eventType = report.eventType
      if eventType.contains(.connectable) { lastConnectable = lastSeen }
    }
    if heard.add(take(payload, isResponse: isResponse).hash, at: instant) {
      changedFields.insert(isResponse ? .scanResponse : .advertisingData)
    }
  }

  /// Most reports repeat the previous one, and are not decoded again.
  private mutating func take(_ bytes: [UInt8], isResponse: Bool) -> Payload {
    if let last = isResponse ? response : advertisement, last.bytes == bytes { return last }
    let payload = Payload(bytes, isResponse: isResponse)
    if isResponse { response = payload } else { advertisement = payload }
    completeName = payload.data.completeLocalName ?? completeName
    shortenedName = payload.data.shortenedLocalName ?? shortenedName
    return payload
  }

  /// One line: `30:35:38:41:BE:EF public  -56 dBm  R02_BEEF  180A`. The address and its kind, the last strength, the name, and
  /// the services; `not connectable` in front of these, if the device is not.
  public var description: String {
    let kind = address.kind.description
    let strength = lastRSSI.map { "\($0) dBm" } ?? "no RSSI"
    let gap = String(repeating: " ", count: max(0, 7 - kind.count) + max(0, 8 - strength.count))
    var parts = ["\(address) \(kind)\(gap)\(strength)", localName ?? "(no name)"]
    // Without an advertisement, nothing is known about that.
    if advertisingData != nil, !isConnectable { parts.append("not connectable") }
    parts.append(serviceUUIDs.map(\.description).joined(separator: " "))
    return parts.filter { !$0.isEmpty }.joined(separator: "  ")
  }
}

/// The data that a device has sent, decoded.
private struct Payload: Hashable, Sendable {
  let bytes: [UInt8]
  let data: AdvertisingData
  /// A hash of the bytes and their kind.
  let hash: Int

  init(_ bytes: [UInt8], isResponse: Bool) {
    self.bytes = bytes
    data = AdvertisingData(bytes)
    var hasher = Hasher()
    hasher.combine(isResponse)
    hasher.combine(bytes)
    hash = hasher.finalize()
  }
}

/// The payloads that a device has sent lately. A device may alternate between several, as beacons of two kinds do; each is
/// new once.
private struct HeardPayloads: Hashable, Sendable {
  private struct Entry: Hashable, Sendable {
    let hash: Int
    var lastHeard: Instant
  }

  private var entries: [Entry] = []
  private static let capacity = 8
  /// A payload that was not sent for so long is new again.
  private static let memory = Duration.seconds(30)

  /// - Returns: whether the payload is new
  mutating func add(_ hash: Int, at instant: Instant) -> Bool {
    if let index = entries.firstIndex(where: { $0.hash == hash }) {
      defer { entries[index].lastHeard = max(entries[index].lastHeard, instant) }
      return entries[index].lastHeard + Self.memory < instant
    }
    if entries.count >= Self.capacity,
      let oldest = entries.indices.min(by: { entries[$0].lastHeard < entries[$1].lastHeard })
    {
      entries.remove(at: oldest)
    }
    entries.append(Entry(hash: hash, lastHeard: instant))
    return true
  }
}

/// Values from both payloads.
extension Advertisement {
  /// Whether the device is connectable, by the last advertisement or one of the ten seconds before it. False until an
  /// advertisement is received, and for unknown address types.
  public var isConnectable: Bool {
    guard address.kind.isKnown, let lastConnectable else { return false }
    return eventType.contains(.connectable) || lastConnectable + Self.connectableTime >= lastSeen
  }

  /// The name, safe to print; a complete one from any payload is preferred to a shortened one.
  public var localName: String? { completeName ?? shortenedName }

  /// Whether the whole of ``localName`` is this name; upper and lower case are the same.
  ///
  /// - Parameter name: the name, as the device sends it, or as it is printed
  public func isNamed(_ name: String) -> Bool {
    guard let own = localName?.lowercased() else { return false }
    return own == name.lowercased() || own == name.printable.lowercased()
  }

  /// All listed services, without duplicates.
  public var serviceUUIDs: [BluetoothUUID] {
    unique(advertisingData?.serviceUUIDs ?? [], scanResponse?.serviceUUIDs ?? [])
  }

  /// All of it, in the order of the structures, without duplicates. A service may occur several times.
  public var serviceData: [AdvertisingData.ServiceData] {
    unique(advertisingData?.serviceData ?? [], scanResponse?.serviceData ?? [])
  }

  /// The same of companies.
  public var manufacturerData: [AdvertisingData.ManufacturerData] {
    unique(advertisingData?.manufacturerData ?? [], scanResponse?.manufacturerData ?? [])
  }

  package var appearance: Appearance? { advertisingData?.appearance ?? scanResponse?.appearance }

  package var flags: ADFlags? { advertisingData?.flags ?? scanResponse?.flags }
}

private func unique<Value: Equatable>(_ first: [Value], _ second: [Value]) -> [Value] {
  var values: [Value] = []
  for value in first + second where !values.contains(value) { values.append(value) }
  return values
}
