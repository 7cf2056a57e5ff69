import BluetoothCore
import GATTClient
import HaloGATT

/// Where a characteristic is to be found, without the type of its value.
struct Place: Hashable {
  let uuid: BluetoothUUID
  let service: BluetoothUUID
  let instance: Int

  init<Value>(_ id: CharacteristicID<Value>) {
    uuid = id.uuid
    service = id.service
    instance = id.instance
  }
}

/// The characteristics of a device that were asked for, on one link.
@BluetoothActor
final class RemoteTable {
  private var known: [Place: Characteristic] = [:]
  private static let maximumCount = 1024

  nonisolated init() {}

  /// The characteristic at a place. It is discovered the first time.
  ///
  /// - Throws: `.notFound` with what the device lacks: the service, or the characteristic
  func characteristic(_ place: Place, _ gatt: GATTClient) async throws(GATTError) -> Characteristic {
    if let found = known[place] { return found }
    let found =
      if place.instance == 0 {
        try await gatt.firstCharacteristic(place.uuid, of: place.service)
      } else {
        try await instance(place, gatt)
      }
    if known.count < Self.maximumCount { known[place] = found }
    return found
  }

  private func instance(_ place: Place, _ gatt: GATTClient) async throws(GATTError) -> Characteristic {
    var rest = place.instance
    for service in try await gatt.discoverServices([place.service]) {
      for found in try await gatt.discoverCharacteristics([place.uuid], of: service) {
        guard rest > 0 else { return found }
        rest -= 1
      }
    }
    throw .notFound("characteristic \(place.uuid) number \(place.instance) in service \(place.service)")
  }

  /// All services with their characteristics.
  func services(_ gatt: GATTClient) async throws(GATTError) -> [RemoteService] {
    var counts: [Place: Int] = [:]
    var services: [RemoteService] = []
    for service in try await gatt.discoverServices() {
      var characteristics: [RemoteCharacteristic] = []
      for found in try await gatt.discoverCharacteristics(of: service) {
        let first = CharacteristicID<[UInt8]>(found.uuid, in: service.uuid)
        let number = counts[Place(first), default: 0]
        counts[Place(first)] = number + 1
        let id = first.instance(number)
        if known.count < Self.maximumCount { known[Place(id)] = found }
        characteristics.append(RemoteCharacteristic(id: id, properties: found.properties))
      }
      services.append(RemoteService(uuid: service.uuid, characteristics: characteristics))
    }
    return services
  }
}
