import BluetoothCore

/// All that is known about a device that advertises: its last advertisement and its last scan response.
public struct Advertisement: Hashable, Sendable {
  /// What a report has told that was not known before.
  public struct News: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The device itself.
    public static let device = News(rawValue: 1 << 0)
    /// Other advertising data than before, or the first.
    public static let advertisingData = News(rawValue: 1 << 1)
    /// Another scan response than before, or the first.
    public static let scanResponse = News(rawValue: 1 << 2)
  }

  public let address: BluetoothAddress
  /// Of the last advertisement, not of the scan response; empty if only a scan response was heard.
  public internal(set) var eventType: AdvertisingReport.EventType = []
  /// nil until an advertisement was heard.
  public internal(set) var advertisingData: AdvertisingData?
  /// nil until a scan response was heard.
  public internal(set) var scanResponse: AdvertisingData?
  /// Of the last report whose strength is known, in dBm.
  public internal(set) var rssi: Int8?
  /// The physical layers of the last report.
  public internal(set) var primaryPHY: LEPHY = .le1M
  public internal(set) var secondaryPHY: LEPHY = .none
  /// Whether the end of the last payload was lost.
  public internal(set) var isTruncated = false
  public internal(set) var firstSeen: Instant
  public internal(set) var lastSeen: Instant
  /// How many whole reports there were.
  public internal(set) var reportCount: UInt64 = 0
  /// What the last report told.
  public internal(set) var news: News = []

  /// In dBm, as an extended report or else the data tells.
  public var txPower: Int8? { reportedTxPower ?? advertisingData?.txPower ?? scanResponse?.txPower }

  var reportedTxPower: Int8?
  /// The bytes that ``advertisingData`` and ``scanResponse`` were read from: most reports repeat the one before,
  /// and need not be read again.
  var advertisingBytes: [UInt8] = []
  var scanResponseBytes: [UInt8] = []

  init(address: BluetoothAddress, at instant: Instant) {
    self.address = address
    firstSeen = instant
    lastSeen = instant
  }
}

/// What both payloads say together.
extension Advertisement {
  /// Whether the device takes connections; false until an advertisement was heard, and for addresses of unknown type.
  public var isConnectable: Bool { eventType.contains(.connectable) && address.kind.isKnown }

  /// The name, safe to print; a complete one from either payload rather than a shortened one.
  public var localName: String? {
    advertisingData?.completeLocalName ?? scanResponse?.completeLocalName
      ?? advertisingData?.shortenedLocalName ?? scanResponse?.shortenedLocalName
  }

  /// All services that are named, each once.
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
