import HCI
import HaloBluetoothCore

extension Server {
  /// In bytes of UTF-8 (Core Specification Vol 3, Part C, 12.1).
  private static let longestName = 248

  /// The advertisement: the flags and the services, which scanners filter by, and the name in the scan response.
  ///
  /// - Throws: `.invalidValue` if it is too long: nothing is cut
  static func advertising(_ services: [LocalService], _ presence: Presence) throws(BluetoothError)
    -> Advertising
  {
    let name = presence.name
    guard name.utf8.count <= longestName else {
      throw BluetoothError(.invalidValue, "a name has \(longestName) bytes at most, not \(name.utf8.count)")
    }
    var uuids: [BluetoothUUID] = []
    for service in services where service.isAdvertised && !uuids.contains(service.uuid) {
      uuids.append(service.uuid)
    }
    var structures = [ADStructure.flags([.generalDiscoverable, .brEDRNotSupported])]
    if let appearance = presence.appearance {
      structures.append(.appearance(Appearance(rawValue: appearance.rawValue)))
    }
    structures += AdvertisingData(localName: nil, serviceUUIDs: uuids).structures + presence.data.structures
    let response = AdvertisingData(localName: name.isEmpty ? nil : name)
    do throws(AdvertisingFault) {
      return try Advertising(AdvertisingData(structures), scanResponse: response)
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
