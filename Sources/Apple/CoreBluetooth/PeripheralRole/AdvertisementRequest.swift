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

  /// The bytes: the flags, the data, and as many services as there is room for; the name is in the scan response, and is cut
  /// where that ends.
  ///
  /// - Returns: also the services that have no room
  /// - Throws: if data has no room
  func advertising() throws(CBError) -> (Advertising, left: [BluetoothUUID]) {
    var manufacturers: [AdvertisingData.ManufacturerData] = []
    if let manufacturerData, manufacturerData.count >= 2 {
      let company = CompanyIdentifier(
        rawValue: UInt16(manufacturerData[0]) | UInt16(manufacturerData[1]) << 8)
      manufacturers = [.init(company: company, data: Array(manufacturerData.dropFirst(2)))]
    }
    do throws(AdvertisingFault) {
      let composed = try Advertising.device(
        name: name, services: services,
        serviceData: serviceData.map { .init(service: $0.uuid, data: $0.value) },
        manufacturerData: manufacturers)
      return (composed.advertising, composed.leftOut)
    } catch {
      throw CBError(.invalidParameters, error.description)
    }
  }
}
