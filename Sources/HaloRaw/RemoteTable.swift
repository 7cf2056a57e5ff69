import ATT
import HaloGATT
import HaloBluetoothCore

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

/// The characteristics of a device on one link: a service is discovered when one of its characteristics is asked for.
@BluetoothActor
final class RemoteTable {
  private struct Entry {
    /// The characteristics of all services of one type that were discovered, in the order of their handles.
    var characteristics: [Characteristic]
    /// The last handle of these services.
    var end: AttributeHandle
    /// Whether there is no other service of the type.
    var isComplete: Bool

    subscript(_ place: Place) -> Characteristic? {
      characteristics.lazy.filter { $0.uuid == place.uuid }.dropFirst(place.instance).first
    }
  }

  private var entries: [BluetoothUUID: Entry] = [:]
  /// A device of many services must not fill the memory; those that do not fit are discovered each time.
  private static let maximumCount = 256

  nonisolated init() {}

  /// The characteristic at a place.
  ///
  /// - Throws: `.notFound` with the service or the characteristic that the device lacks
  func characteristic(_ place: Place, _ gatt: GATTClient) async throws(StackError) -> Characteristic {
    if let found = entries[place.service]?[place] { return found }
    let label = Self.label("service", place.service, GATTUUID.name(of: place.service))
    var entry: Entry
    if let known = entries[place.service] {
      entry = known
    } else {
      guard let first = try await service(place.service, gatt) else { throw .notFound(label) }
      entry = Entry(
        characteristics: try await gatt.discoverCharacteristics(of: first), end: first.handles.end,
        isComplete: false)
      keep(entry, place.service)
    }
    if entry[place] == nil, !entry.isComplete {
      for other in try await gatt.discoverServices([place.service]) where other.handles.start > entry.end {
        entry.characteristics += try await gatt.discoverCharacteristics(of: other)
      }
      entry.isComplete = true
      keep(entry, place.service)
    }
    guard let found = entry[place] else {
      let what = Self.label("characteristic", place.uuid, GATTUUID.attributeName(of: place.uuid))
      throw .notFound("\(what)\(place.instance == 0 ? "" : " number \(place.instance)") in \(label)")
    }
    return found
  }

  /// `characteristic 2A37 (Heart Rate Measurement)`
  private static func label(_ kind: String, _ uuid: BluetoothUUID, _ name: String?) -> String {
    "\(kind) \(uuid)" + (name.map { " (\($0))" } ?? "")
  }

  private func keep(_ entry: Entry, _ service: BluetoothUUID) {
    if entries.count < Self.maximumCount { entries[service] = entry }
  }

  /// The first service of a type; one that is not primary is found through a service that includes it.
  private func service(_ uuid: BluetoothUUID, _ gatt: GATTClient) async throws(StackError) -> Service? {
    if let primary = try await gatt.firstService(uuid) { return primary }
    return try await gatt.discoverIncludedServices().lazy.map(\.service).first { $0.uuid == uuid }
  }

  /// All services with their characteristics, also those that only other services refer to.
  func services(_ gatt: GATTClient) async throws(StackError) -> [RemoteService] {
    var found: [BluetoothUUID: Entry] = [:]
    var services: [RemoteService] = []
    var all = try await gatt.discoverServices()
    for included in try await gatt.discoverIncludedServices() {
      if !all.contains(where: { $0.handles.start == included.service.handles.start }) {
        all.append(included.service)
      }
    }
    for service in all.sorted(by: { $0.handles.start < $1.handles.start }) {
      var entry =
        found[service.uuid] ?? Entry(characteristics: [], end: service.handles.end, isComplete: true)
      let characteristics = try await gatt.discoverCharacteristics(of: service).map { characteristic in
        let number = entry.characteristics.count { $0.uuid == characteristic.uuid }
        entry.characteristics.append(characteristic)
        let id = CharacteristicID<[UInt8]>(characteristic.uuid, in: service.uuid).instance(number)
        return RemoteCharacteristic(id: id, properties: characteristic.properties)
      }
      found[service.uuid] = entry
      services.append(RemoteService(uuid: service.uuid, characteristics: characteristics))
    }
    for (uuid, entry) in found { keep(entry, uuid) }
    return services
  }
}

/// A service of a device, as it was discovered.
public struct RemoteService: Hashable, Sendable {
  /// Its type.
  public let uuid: BluetoothUUID
  /// In the order of their handles.
  public let characteristics: [RemoteCharacteristic]
}

/// A characteristic of a device, as it was discovered.
public struct RemoteCharacteristic: Hashable, Sendable {
  /// Reads, writes and iterates over it as bytes. A device may have several characteristics of one type:
  /// `CharacteristicID.instance` distinguishes them.
  public let id: CharacteristicID<[UInt8]>
  /// The permitted uses of the value.
  public let properties: CharacteristicProperties

  /// Its type.
  public var uuid: BluetoothUUID { id.uuid }
}
