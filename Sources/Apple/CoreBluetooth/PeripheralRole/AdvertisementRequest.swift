import Foundation
internal import HCI
internal import HaloStorage
internal import HaloRaw

/// The advertisement of a program.
typealias AdvertisementRequest = PeripheralRestoration.Advertisement

extension AdvertisementRequest {
  /// The key of `CLBeaconRegion.peripheralData(withMeasuredPower:)`, for Data with a UUID, two numbers, most significant byte
  /// first, and a signal. Apple's headers do not have it.
  private static let beaconKey = "kCBAdvDataAppleBeaconKey"
  private static let beaconLength = 21
  /// The company, then the type and the length of a beacon's data.
  private static let beaconPrefix: [UInt8] = [0x4C, 0x00, 0x02, UInt8(beaconLength)]

  private static let knownKeys = [
    CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey, beaconKey,
    CBPeripheralManagerAdvertisementServiceDataKey, CBPeripheralManagerAdvertisementManufacturerDataKey,
  ]

  /// - Parameter data: as a program gives it. A key that is not known here has no effect, as on Apple's systems, and is
  ///   reported in a line.
  /// - Throws: if a known key has a value that can't be advertised
  init(_ data: [String: Any]?) throws(CBError) {
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
      case (Self.beaconKey, let bytes as Data)
      where bytes.count == Self.beaconLength && manufacturerData == nil:
        manufacturerData = Self.beaconPrefix + bytes
      case (let key, _) where Self.knownKeys.contains(key):
        throw CBError(.invalidParameters, "\(key) can't be advertised with \(value)")
      default: reportMisuse("startAdvertising: \(key) has no effect")
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
    if let manufacturerData {
      let beacon = manufacturerData.dropFirst(Self.beaconPrefix.count)
      if manufacturerData.starts(with: Self.beaconPrefix), beacon.count == Self.beaconLength {
        data[Self.beaconKey] = Data(beacon)
      } else {
        data[CBPeripheralManagerAdvertisementManufacturerDataKey] = Data(manufacturerData)
      }
    }
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
