import Foundation
internal import HCI
internal import HaloKnownDevices
internal import HaloRaw

/// What a program advertises.
typealias AdvertisementRequest = PeripheralRestoration.Advertisement

extension AdvertisementRequest {
  /// - Parameter data: as a program gives it. What is not known here has no effect, and a line says so.
  init(_ data: [String: Any]?) {
    self.init()
    for (key, value) in (data ?? [:]).sorted(by: { $0.key < $1.key }) {
      switch (key, value) {
      case (CBAdvertisementDataLocalNameKey, let text as String): name = text
      case (CBAdvertisementDataServiceUUIDsKey, let uuids as [CBUUID]):
        for uuid in uuids.map(\.value) where !services.contains(uuid) { services.append(uuid) }
      case (CBPeripheralManagerAdvertisementServiceDataKey, let values as [CBUUID: Data]):
        serviceData = values.sorted { $0.key.uuidString < $1.key.uuidString }.map {
          .init(uuid: $0.key.value, value: Array($0.value))
        }
      case (CBPeripheralManagerAdvertisementManufacturerDataKey, let bytes as Data) where bytes.count >= 2:
        manufacturerData = Array(bytes)
      default: reportMisuse("startAdvertising: \(key) has no effect with \(type(of: value))")
      }
    }
  }

  /// As a delegate gets it.
  var dictionary: [String: Any] {
    var data: [String: Any] = [:]
    data[CBAdvertisementDataLocalNameKey] = name
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if !serviceData.isEmpty {
      data[CBPeripheralManagerAdvertisementServiceDataKey] = Dictionary(
        serviceData.map { (CBUUID($0.uuid), Data($0.value)) }
      ) { first, _ in first }
    }
    data[CBPeripheralManagerAdvertisementManufacturerDataKey] = manufacturerData.map { Data($0) }
    return data
  }

  /// The bytes: behind the flags, 28 are left for the services, which scanners filter by, and then for data. The name is in the
  /// scan response, and is cut where that ends.
  ///
  /// - Returns: also the services that have no room
  /// - Throws: if data has no room
  func advertising() throws(CBError) -> (Advertising, left: [BluetoothUUID]) {
    var room = LegacyAdvertisingData.capacity
    var structures: [ADStructure] = []
    var left: [BluetoothUUID] = []
    func append(_ structure: ADStructure) -> Bool {
      let count = AdvertisingData([structure]).bytes.count
      guard count <= room else { return false }
      structures.append(structure)
      room -= count
      return true
    }
    _ = append(.flags([.generalDiscoverable, .brEDRNotSupported]))
    for width in [UUIDWidth.two, .four, .sixteen] {
      let all = services.filter { UUIDWidth(for: [$0]) == width }
      let fitting = max(0, min(all.count, (room - 2) / width.rawValue))
      left += all.dropFirst(fitting)
      guard fitting > 0 else { continue }
      _ = append(.serviceUUIDs(Array(all.prefix(fitting)), width: width, isComplete: fitting == all.count))
    }
    for each in serviceData {
      guard append(.serviceData(each.uuid, width: UUIDWidth(for: [each.uuid]), each.value)) else {
        throw CBError(
          .invalidParameters, "the data of the service \(each.uuid) does not fit in the advertisement")
      }
    }
    if let manufacturerData, manufacturerData.count >= 2 {
      let company = CompanyIdentifier(
        rawValue: UInt16(manufacturerData[0]) | UInt16(manufacturerData[1]) << 8)
      guard append(.manufacturerData(company, Array(manufacturerData.dropFirst(2)))) else {
        throw CBError(.invalidParameters, "the data of the manufacturer does not fit in the advertisement")
      }
    }
    guard let advertising = Advertising(structures, scanResponse: response) else {
      throw CBError(.invalidParameters, "the advertisement is too long")
    }
    return (advertising, left)
  }

  /// The name, whole or shortened between two characters.
  private var response: [ADStructure] {
    guard let name, !name.isEmpty else { return [] }
    var bytes: [UInt8] = []
    for character in name {
      guard bytes.count + character.utf8.count <= LegacyAdvertisingData.capacity - 2 else { break }
      bytes += character.utf8
    }
    return [.localName(bytes, isComplete: bytes.count == name.utf8.count)]
  }
}
