import HaloBluetoothCore

/// Advertisements that a test makes.
extension AdvertisingData {
  /// The data of a device that advertises its name and its services.
  ///
  /// The structures have the order of the parameters. Nothing limits their length: an advertisement of Bluetooth 4 holds
  /// 31 bytes.
  ///
  /// - Parameters:
  ///   - localName: the complete name; nil for none
  ///   - serviceUUIDs: a list for each length of UUIDs
  ///   - serviceData: a structure for each
  ///   - manufacturerData: a structure for each
  public init(
    localName: String?, serviceUUIDs: [BluetoothUUID] = [], serviceData: [ServiceData] = [],
    manufacturerData: [ManufacturerData] = []
  ) {
    self.init([ADStructure]())
    if let localName { structures.append(.localName(Array(localName.utf8), isComplete: true)) }
    for width in [UUIDWidth.two, .four, .sixteen] {
      let uuids = serviceUUIDs.filter { UUIDWidth(for: [$0]) == width }
      if !uuids.isEmpty { structures.append(.serviceUUIDs(uuids, width: width, isComplete: true)) }
    }
    structures += serviceData.map { .serviceData($0.service, width: UUIDWidth(for: [$0.service]), $0.data) }
    structures += manufacturerData.map { .manufacturerData($0.company, $0.data) }
  }
}

extension Advertisement {
  /// An advertisement as a radio reports it that has heard the device once, for tests of code that chooses devices.
  ///
  /// - Parameters:
  ///   - address: the address of the device
  ///   - advertisingData: the data of its advertisement
  ///   - scanResponse: the data of its answer to an active scan; nil for none
  ///   - rssi: the strength, in dBm; nil if the controller did not measure it
  ///   - isConnectable: whether it is connectable
  ///   - time: when it was heard
  public init(
    address: BluetoothAddress, advertisingData: AdvertisingData, scanResponse: AdvertisingData? = nil,
    rssi: Int8? = nil, isConnectable: Bool = true, at time: Instant = .zero
  ) {
    self.init(ID(PeerIdentity(address)), at: time)
    var report = AdvertisingReport(
      address: address, eventType: isConnectable ? [.connectable, .scannable] : [], rssi: rssi,
      data: advertisingData.bytes)
    add(report, report.data, isTruncated: false, at: time)
    guard let scanResponse else { return }
    report.eventType = .scanResponse
    report.data = scanResponse.bytes
    add(report, report.data, isTruncated: false, at: time)
  }
}
