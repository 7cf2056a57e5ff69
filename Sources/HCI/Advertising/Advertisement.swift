import BluetoothCore

/// All information about an advertising device: its last advertisement and its last scan response.
public struct Advertisement: Hashable, Sendable {
  /// What is new in a report.
  public struct News: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

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

/// Combines reports into devices. A report is returned immediately; the scan response is merged when it arrives.
///
/// Memory use is bounded whatever is received: if there are too many devices, the one silent for longest is removed,
/// and unfinished extended advertising data is truncated.
public struct AdvertisementCollector: Sendable {
  /// The maximum length of extended advertising data (Core Specification Vol 4, Part E, 7.8.57).
  public static let largestData = 1650
  /// How long after a fragment the next one may come. The controller reports those of one chain of packets one after the
  /// other; a longer time is that of the next advertisement, and the last end was lost.
  private static let longestPause = Duration.milliseconds(500)
  /// The maximum number of devices with fragmented data being assembled.
  private static let largestAssemblies = 32

  public let capacity: Int
  private var devices: [BluetoothAddress: Advertisement] = [:]
  /// Incomplete payloads, oldest first.
  private var assemblies: [Assembly] = []

  private struct Assembly {
    var address: BluetoothAddress
    var advertisingSID: UInt8?
    var isScanResponse: Bool
    var data: [UInt8]
    var isTruncated: Bool
    var lastPiece: Instant

    func belongs(to report: AdvertisingReport) -> Bool {
      address == report.address && advertisingSID == report.advertisingSID
        && isScanResponse == report.eventType.contains(.scanResponse)
    }
  }

  /// - Parameter capacity: the maximum number of devices to keep, at least one
  public init(capacity: Int = 1024) {
    self.capacity = max(1, capacity)
  }

  /// The number of devices kept.
  public var count: Int { devices.count }

  /// The last known state of a device.
  public subscript(address: BluetoothAddress) -> Advertisement? { devices[address] }

  public mutating func removeAll() {
    devices.removeAll()
    assemblies.removeAll()
  }

  /// Processes a report.
  /// - Returns: the device updated by the report, with ``Advertisement/news``; nil if the report is a fragment with
  ///   more to follow
  public mutating func receive(_ report: AdvertisingReport, at instant: Instant) -> Advertisement? {
    guard let (data, isTruncated) = assemble(report, at: instant) else { return nil }
    var device: Advertisement
    if let known = devices[report.address] {
      device = known
      device.news = []
    } else {
      makeRoom()
      device = Advertisement(address: report.address, at: instant)
      device.news = .device
    }
    device.lastSeen = max(device.lastSeen, instant)
    device.reportCount &+= 1
    device.rssi = report.rssi ?? device.rssi
    device.reportedTxPower = report.txPower ?? device.reportedTxPower
    device.primaryPHY = report.primaryPHY
    device.secondaryPHY = report.secondaryPHY
    device.isTruncated = isTruncated
    if report.eventType.contains(.scanResponse) {
      if device.scanResponse == nil || device.scanResponseBytes != data {
        device.scanResponse = AdvertisingData(data)
        device.scanResponseBytes = data
        device.news.insert(.scanResponse)
      }
    } else {
      device.eventType = report.eventType
      if device.advertisingData == nil || device.advertisingBytes != data {
        device.advertisingData = AdvertisingData(data)
        device.advertisingBytes = data
        device.news.insert(.advertisingData)
      }
    }
    devices[report.address] = device
    return device
  }

  /// Removes the device that was silent for longest, if the table is full.
  private mutating func makeRoom() {
    guard devices.count >= capacity,
      let oldest = devices.values.min(by: { $0.lastSeen < $1.lastSeen })
    else { return }
    devices[oldest.address] = nil
  }

  /// Appends a report to its preceding fragments.
  /// - Returns: the payload, and whether its end was lost; nil while fragments are missing
  private mutating func assemble(_ report: AdvertisingReport, at instant: Instant) -> ([UInt8], Bool)? {
    let isPiece = report.dataStatus == .incomplete
    assemblies.removeAll { $0.lastPiece + Self.longestPause < instant }
    // Legacy advertising has no fragments.
    guard !report.eventType.contains(.legacy), isPiece || !assemblies.isEmpty else {
      return (report.data, report.dataStatus != .complete)
    }

    var assembly = Assembly(
      address: report.address, advertisingSID: report.advertisingSID,
      isScanResponse: report.eventType.contains(.scanResponse), data: [], isTruncated: false,
      lastPiece: instant)
    if let index = assemblies.firstIndex(where: { $0.belongs(to: report) }) {
      let last = assemblies.remove(at: index)
      // The same beginning once more: the last end was lost, and this is the next advertisement.
      if !last.data.starts(with: report.data) { assembly = last }
      assembly.lastPiece = instant
    }
    let room = Self.largestData - assembly.data.count
    assembly.data += report.data.prefix(room)
    if report.data.count > room { assembly.isTruncated = true }
    guard isPiece else { return (assembly.data, assembly.isTruncated || report.dataStatus != .complete) }
    if assemblies.count >= Self.largestAssemblies { assemblies.removeFirst() }
    assemblies.append(assembly)
    return nil
  }
}
