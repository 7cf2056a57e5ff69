import BluetoothCore

/// All information about an advertising device: its last advertisement and its last scan response.
public struct Advertisement: Hashable, Sendable, Identifiable {
  /// What is new in a report. A payload is new if the device has not sent it for 30 seconds.
  public struct News: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device is new.
    public static let device = News(rawValue: 1 << 0)
    /// The advertising data.
    public static let advertisingData = News(rawValue: 1 << 1)
    /// The scan response.
    public static let scanResponse = News(rawValue: 1 << 2)
  }

  /// Tells devices apart: by their address, and anonymous advertisers by the number of their advertising set.
  public struct ID: Hashable, Sendable {
    let address: BluetoothAddress
    let advertisingSID: UInt8?

    init(_ address: BluetoothAddress, _ advertisingSID: UInt8? = nil) {
      self.address = address
      self.advertisingSID = address.kind == .anonymous ? advertisingSID : nil
    }
  }

  public let id: ID
  /// The address of the advertiser.
  public var address: BluetoothAddress { id.address }
  /// Of the last advertisement, not of the scan response; empty if only a scan response was received.
  public private(set) var eventType: AdvertisingReport.EventType = []
  /// The last one; nil until an advertisement is received.
  public private(set) var advertisingData: AdvertisingData?
  /// The last one; nil until a scan response is received.
  public private(set) var scanResponse: AdvertisingData?
  /// Of the last report, in dBm; nil if the controller did not measure it.
  public private(set) var rssi: Int8?
  /// Of the last report that had one, in dBm.
  public private(set) var lastRSSI: Int8?
  /// The PHYs of the last report.
  public private(set) var primaryPHY: LEPHY = .le1M
  public private(set) var secondaryPHY: LEPHY = .none
  /// Whether the end of the last payload was lost.
  public private(set) var isTruncated = false
  public let firstSeen: Instant
  public private(set) var lastSeen: Instant
  /// The number of complete reports.
  public private(set) var reportCount: UInt64 = 0
  /// What was new in the last report.
  public private(set) var news: News = []

  /// In dBm, from an extended report, else from the advertising data.
  public var txPower: Int8? { reportedTxPower ?? advertisingData?.txPower ?? scanResponse?.txPower }

  private var reportedTxPower: Int8?
  /// The bytes that ``advertisingData`` and ``scanResponse`` were decoded from: most reports repeat the previous one,
  /// and need not be decoded again.
  private var advertisingBytes: [UInt8] = []
  private var scanResponseBytes: [UInt8] = []
  private var heard = HeardPayloads()
  /// The last names that any payload had.
  private var completeName: String?
  private var shortenedName: String?
  private var lastConnectable: Instant?
  /// How long after a connectable advertisement others do not say that the device is not connectable: it may have several
  /// advertising sets.
  private static let connectableTime = Duration.seconds(10)
  /// Stronger ones do not exist (Core Specification Vol 4, Part E, 7.7.65.2), but are reported by some controllers.
  private static let strongestRSSI: Int8 = 20

  init(_ id: ID, at instant: Instant) {
    self.id = id
    firstSeen = instant
    lastSeen = instant
    news = .device
  }

  /// Adds a report whose payload is complete.
  mutating func add(_ report: AdvertisingReport, _ payload: [UInt8], isTruncated: Bool, at instant: Instant) {
    news = reportCount == 0 ? .device : []
    lastSeen = max(lastSeen, instant)
    reportCount &+= 1
    rssi = report.rssi.flatMap { $0 <= Self.strongestRSSI ? $0 : nil }
    lastRSSI = rssi ?? lastRSSI
    reportedTxPower = report.txPower ?? reportedTxPower
    primaryPHY = report.primaryPHY
    secondaryPHY = report.secondaryPHY
    self.isTruncated = isTruncated
    let isResponse = report.eventType.contains(.scanResponse)
    let isNew = heard.add(payload, isResponse: isResponse, at: instant)
    if isResponse {
      if isNew { news.insert(.scanResponse) }
      guard scanResponse == nil || scanResponseBytes != payload else { return }
      scanResponse = AdvertisingData(payload)
      scanResponseBytes = payload
      remember(scanResponse)
    } else {
      if isNew { news.insert(.advertisingData) }
      eventType = report.eventType
      if eventType.contains(.connectable) { lastConnectable = lastSeen }
      guard advertisingData == nil || advertisingBytes != payload else { return }
      advertisingData = AdvertisingData(payload)
      advertisingBytes = payload
      remember(advertisingData)
    }
  }

  private mutating func remember(_ data: AdvertisingData?) {
    completeName = data?.completeLocalName ?? completeName
    shortenedName = data?.shortenedLocalName ?? shortenedName
  }
}

/// The payloads that a device has sent lately. A device may alternate between several, as beacons of two kinds do; each is
/// new once.
private struct HeardPayloads: Hashable, Sendable {
  private struct Payload: Hashable, Sendable {
    let hash: Int
    var lastHeard: Instant
  }

  private var payloads: [Payload] = []
  private static let capacity = 8
  /// A payload that was not sent for so long is new again.
  private static let memory = Duration.seconds(30)

  /// - Returns: whether the payload is new
  mutating func add(_ payload: [UInt8], isResponse: Bool, at instant: Instant) -> Bool {
    var hasher = Hasher()
    hasher.combine(isResponse)
    hasher.combine(payload)
    let hash = hasher.finalize()
    if let index = payloads.firstIndex(where: { $0.hash == hash }) {
      defer { payloads[index].lastHeard = max(payloads[index].lastHeard, instant) }
      return payloads[index].lastHeard + Self.memory < instant
    }
    if payloads.count >= Self.capacity,
      let oldest = payloads.indices.min(by: { payloads[$0].lastHeard < payloads[$1].lastHeard })
    {
      payloads.remove(at: oldest)
    }
    payloads.append(Payload(hash: hash, lastHeard: instant))
    return true
  }
}

/// Values from both payloads.
extension Advertisement {
  /// Whether the device is connectable: the last advertisement, or one of the ten seconds before it, says so. False until an
  /// advertisement is received, and for unknown address types.
  public var isConnectable: Bool {
    guard address.kind.isKnown, let lastConnectable else { return false }
    return eventType.contains(.connectable) || lastConnectable + Self.connectableTime >= lastSeen
  }

  /// The name, safe to print; a complete one from any payload is preferred to a shortened one.
  public var localName: String? { completeName ?? shortenedName }

  /// All listed services, without duplicates.
  public var serviceUUIDs: [BluetoothUUID] {
    var uuids: [BluetoothUUID] = []
    for uuid in (advertisingData?.serviceUUIDs ?? []) + (scanResponse?.serviceUUIDs ?? [])
    where !uuids.contains(uuid) {
      uuids.append(uuid)
    }
    return uuids
  }

  /// All of it, in the order of the structures, without duplicates. A service may occur several times.
  public var serviceData: [AdvertisingData.ServiceData] {
    unique(advertisingData?.serviceData ?? [], scanResponse?.serviceData ?? [])
  }

  /// The same of companies.
  public var manufacturerData: [AdvertisingData.ManufacturerData] {
    unique(advertisingData?.manufacturerData ?? [], scanResponse?.manufacturerData ?? [])
  }

  public var appearance: Appearance? { advertisingData?.appearance ?? scanResponse?.appearance }

  public var flags: ADFlags? { advertisingData?.flags ?? scanResponse?.flags }
}

private func unique<Value: Equatable>(_ first: [Value], _ second: [Value]) -> [Value] {
  var values: [Value] = []
  for value in first + second where !values.contains(value) { values.append(value) }
  return values
}
