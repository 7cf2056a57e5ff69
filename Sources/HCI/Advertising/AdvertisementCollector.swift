import BluetoothCore

/// Makes devices out of reports. A report is handed on at once; the scan response is merged when it comes.
///
/// What strangers send cannot make it grow: an endless stream of new addresses pushes out the device that was
/// silent longest, and pieces of extended advertising that never end are cut.
public struct AdvertisementCollector: Sendable {
  /// The most data that extended advertising may hold (Core Specification Vol 4, Part E, 7.8.57).
  public static let largestData = 1650
  /// How many devices may be in the middle of a payload that comes in pieces.
  private static let largestAssemblies = 32

  public let capacity: Int
  private var devices: [BluetoothAddress: Advertisement] = [:]
  /// Payloads whose end has not come, oldest first.
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

  /// - Parameter capacity: how many devices to remember, at least one
  public init(capacity: Int = 1024) {
    self.capacity = max(1, capacity)
  }

  /// How many devices are remembered.
  public var count: Int { devices.count }

  /// What is known of a device.
  public subscript(address: BluetoothAddress) -> Advertisement? { devices[address] }

  public mutating func removeAll() {
    devices.removeAll()
    assemblies.removeAll()
  }

  /// Takes a report.
  /// - Returns: the device with what the report told, and ``Advertisement/news``; nil if the report is a piece
  ///   whose payload goes on.
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

  /// Forgets the device that was silent longest, if the table is full.
  private mutating func makeRoom() {
    guard devices.count >= capacity,
      let oldest = devices.values.min(by: { $0.lastSeen < $1.lastSeen })
    else { return }
    devices[oldest.address] = nil
  }

  /// Joins a report with the pieces before it.
  /// - Returns: the payload, and whether its end was lost; nil as long as it goes on
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
