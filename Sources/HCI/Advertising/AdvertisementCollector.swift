import BluetoothCore

/// Combines reports into devices. A report is returned immediately; the scan response is merged when it arrives.
///
/// Memory use is bounded whatever is received: if there are too many devices, the one silent for longest is removed,
/// and unfinished extended advertising data is truncated.
public struct AdvertisementCollector: Sendable {
  /// The maximum length of extended advertising data (Core Specification Vol 4, Part E, 7.8.57).
  public static let largestData = 1650
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
    guard let (data, isTruncated) = assemble(report) else { return nil }
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
  private mutating func assemble(_ report: AdvertisingReport) -> ([UInt8], Bool)? {
    let isPiece = report.dataStatus == .incomplete
    if assemblies.isEmpty, !isPiece { return (report.data, report.dataStatus != .complete) }

    var assembly = Assembly(
      address: report.address, advertisingSID: report.advertisingSID,
      isScanResponse: report.eventType.contains(.scanResponse), data: [], isTruncated: false)
    if let index = assemblies.firstIndex(where: { $0.belongs(to: report) }) {
      assembly = assemblies.remove(at: index)
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
