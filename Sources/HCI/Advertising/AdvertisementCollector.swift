import HaloBluetoothCore

/// Combines reports into devices. A report is returned immediately; the scan response is merged when it arrives.
///
/// Memory use is bounded whatever is received: if there are too many devices, the one silent for longest is removed,
/// and unfinished extended advertising data is truncated.
package struct AdvertisementCollector: Sendable {
  /// The maximum length of extended advertising data (Core Specification Vol 4, Part E, 7.8.57).
  package static let largestData = 1650
  /// How long after a fragment the next one may come. The controller reports those of one chain of packets one after the
  /// other, within milliseconds; a longer time is that of the next advertisement, and the last end was lost.
  private static let longestPause = Duration.milliseconds(50)
  /// The maximum number of devices with fragmented data being assembled.
  private static let largestAssemblies = 32

  package let capacity: Int
  private var devices: [Advertisement.ID: Advertisement] = [:]
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

    /// Length and type of Flags with one byte.
    private static let flags: [UInt8] = [2, 1]

    /// Whether a report is no continuation: the end of this one was lost, and the report is of the next advertisement. It has
    /// the same beginning, begins with Flags, or is complete, where this one ends within a structure. Bytes that only look like
    /// structures repeat their types.
    func isLost(before report: AdvertisingReport) -> Bool {
      let next = AdvertisingData(report.data)
      let types = next.structures.map(\.type)
      let isWhole = !next.isDamaged && !types.isEmpty && Set(types).count == types.count
      return data.starts(with: report.data) || report.data.starts(with: Self.flags)
        || isWhole && report.dataStatus == .complete && AdvertisingData(data).isDamaged
    }
  }

  /// - Parameter capacity: the maximum number of devices to keep, at least one
  package init(capacity: Int = 1024) {
    self.capacity = max(1, capacity)
  }

  /// The number of devices kept.
  package var count: Int { devices.count }

  /// The last known state of a device.
  package subscript(peer: PeerIdentity) -> Advertisement? {
    devices[Advertisement.ID(peer)]
  }

  /// Processes a report.
  /// - Returns: the device updated by the report, with what has changed; nil if the report is a fragment with
  ///   more to follow, or of a kind that is not specified
  package mutating func receive(_ report: AdvertisingReport, at instant: Instant) -> Advertisement? {
    guard report.reservedType == nil, let (data, isTruncated) = assemble(report, at: instant) else {
      return nil
    }
    let id = Advertisement.ID(PeerIdentity(report.address), report.advertisingSID)
    var device: Advertisement
    if let known = devices.removeValue(forKey: id) {
      device = known
    } else {
      makeRoom()
      device = Advertisement(id, at: instant)
    }
    device.add(report, data, isTruncated: isTruncated, at: instant)
    devices[id] = device
    return device
  }

  /// Removes the device that was silent for longest, if the table is full.
  private mutating func makeRoom() {
    guard devices.count >= capacity,
      let oldest = devices.values.min(by: { $0.lastSeen < $1.lastSeen })
    else { return }
    devices[oldest.id] = nil
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
      if !last.isLost(before: report) { assembly = last }
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
