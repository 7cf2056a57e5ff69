import HCI
import HaloBluetoothCore

extension Server {
  /// What other devices hear: the flags and the services in the advertisement, which scanners filter by, and the name in the scan
  /// response.
  ///
  /// - Throws: `.invalidValue` if it is too long: nothing is cut
  static func advertising(_ services: [LocalService], _ name: String) throws(BluetoothError) -> Advertising {
    var uuids: [BluetoothUUID] = []
    for service in services where service.isAdvertised && !uuids.contains(service.uuid) {
      uuids.append(service.uuid)
    }
    let data = AdvertisingData(localName: nil, serviceUUIDs: uuids).structures
    let flags = ADStructure.flags([.generalDiscoverable, .brEDRNotSupported])
    let response = AdvertisingData(localName: name.isEmpty ? nil : name)
    do throws(AdvertisingFault) {
      return try Advertising(AdvertisingData([flags] + data), scanResponse: response)
    } catch {
      if case .tooLong(.scanResponse, _, let capacity) = error {
        throw BluetoothError(
          .invalidValue,
          "the name has \(name.utf8.count) bytes; an advertisement has room for \(capacity - 2)")
      }
      throw BluetoothError(
        .invalidValue,
        "\(error); the services \(uuids.map(\.description).joined(separator: ", ")) do not fit: let some not be advertised (isAdvertised: false)"
      )
    }
  }
}
