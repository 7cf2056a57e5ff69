import BluetoothCore

/// All information about an advertising device: its last advertisement and its last scan response.
public struct Advertisement: Hashable, Sendable {
  /// What is new in a report.
  public struct News: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The device is new.
    public static let device = News(rawValue: 1 << 0)
    /// The first or changed advertising data.
    public static let advertisingData = News(rawValue: 1 << 1)
    /// The first or a changed scan response.
    public static let scanResponse = News(rawValue: 1 << 2)
  }

  /// The address of the advertiser.
  public let address: BluetoothAddress
  /// Of the last advertisement, not of the scan response; empty if only a scan response was received.
  public internal(set) var eventType: AdvertisingReport.EventType = []
  /// nil until an advertisement is received.
  public internal(set) var advertisingData: AdvertisingData?
  /// nil until a scan response is received.
  public internal(set) var scanResponse: AdvertisingData?
  /// Of the last report with an RSSI, in dBm.
  public internal(set) var rssi: Int8?
  /// The PHYs of the last report.
  public internal(set) var primaryPHY: LEPHY = .le1M
  public internal(set) var secondaryPHY: LEPHY = .none
  /// Whether the end of the last payload was lost.
  public internal(set) var isTruncated = false
  public internal(set) var firstSeen: Instant
  public internal(set) var lastSeen: Instant
  /// The number of complete reports.
  public internal(set) var reportCount: UInt64 = 0
  /// What was new in the last report.
  public internal(set) var news: News = []

  /// In dBm, from an extended report, else from the advertising data.
  public var txPower: Int8? { reportedTxPower ?? advertisingData?.txPower ?? scanResponse?.txPower }

  var reportedTxPower: Int8?
  /// The bytes that ``advertisingData`` and ``scanResponse`` were decoded from: most reports repeat the previous one,
  /// and need not be decoded again.
  var advertisingBytes: [UInt8] = []
  var scanResponseBytes: [UInt8] = []

  init(address: BluetoothAddress, at instant: Instant) {
    self.address = address
    firstSeen = instant
    lastSeen = instant
  }
}

/// Values from both payloads.
extension Advertisement {
  /// Whether the device is connectable; false until an advertisement is received, and for unknown address types.
  public var isConnectable: Bool { eventType.contains(.connectable) && address.kind.isKnown }

  /// The name, safe to print; a complete one from either payload is preferred to a shortened one.
  public var localName: String? {
    advertisingData?.completeLocalName ?? scanResponse?.completeLocalName
      ?? advertisingData?.shortenedLocalName ?? scanResponse?.shortenedLocalName
  }

  /// All listed services, without duplicates.
  public var serviceUUIDs: [BluetoothUUID] {
    var uuids: [BluetoothUUID] = []
    for uuid in (advertisingData?.serviceUUIDs ?? []) + (scanResponse?.serviceUUIDs ?? [])
    where !uuids.contains(uuid) {
      uuids.append(uuid)
    }
    return uuids
  }

  public var serviceData: [BluetoothUUID: [UInt8]] {
    (advertisingData?.serviceData ?? [:]).merging(scanResponse?.serviceData ?? [:]) { first, _ in first }
  }

  public var manufacturerData: [CompanyIdentifier: [UInt8]] {
    (advertisingData?.manufacturerData ?? [:])
      .merging(scanResponse?.manufacturerData ?? [:]) { first, _ in first }
  }

  public var appearance: Appearance? { advertisingData?.appearance ?? scanResponse?.appearance }

  public var flags: ADFlags? { advertisingData?.flags ?? scanResponse?.flags }
}
