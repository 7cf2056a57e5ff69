import ATT
import HaloBluetoothCore
import HaloGATT

extension GATTClient {
  /// The first characteristic with a UUID, in the order of handles, for a program that knows what it wants. The search
  /// ends with the declaration after it; without a service, it begins with the discovery of all services.
  ///
  /// A peripheral may have several characteristics of one UUID, in one service or in several. Name the service to
  /// choose among the services; ``discoverCharacteristics(_:of:)`` returns all characteristics of a service, also for a
  /// program that uses many of them, as each call of this function searches anew.
  ///
  /// - Parameters:
  ///   - uuid: the type of the characteristic
  ///   - service: the type of its primary service; nil for any. Of several services with this type, the first one that
  ///     has the characteristic counts.
  /// - Returns: the characteristic, as returned by a discovery
  /// - Throws: `.notFound` with what the peripheral lacks: the service, or the characteristic
  package func firstCharacteristic(
    _ uuid: BluetoothUUID, of service: BluetoothUUID? = nil
  ) async throws(GATTError) -> Characteristic {
    let wanted = Self.label("characteristic", uuid, GATTUUID.attributeName(of: uuid))
    guard let service else {
      guard let found = try await characteristic(uuid, in: try await discoverServices()) else {
        throw .notFound(wanted)
      }
      return found
    }
    let place = Self.label("service", service, GATTUUID.name(of: service))
    guard let first = try await firstService(service) else { throw .notFound(place) }
    if let found = try await characteristic(uuid, in: [first]) { return found }
    let others = try await discoverServices([service]).filter { $0.handles.start > first.handles.end }
    guard let found = try await characteristic(uuid, in: others) else {
      throw .notFound("\(wanted) in \(place)")
    }
    return found
  }

  /// - Parameter services: as they were discovered, in the order of their handles
  private func characteristic(
    _ uuid: BluetoothUUID, in services: [Service]
  ) async throws(GATTError) -> Characteristic? {
    let stamp = startDiscovery()
    guard let place = try await run({ FindCharacteristic(uuid, in: services) }) else { return nil }
    // The handles may have changed between the discovery of the service and that of its characteristics.
    try check(place.service.handles.start, place.service.stamp)
    return note(place.characteristics, of: place.service, stamp).last
  }

  /// `characteristic 2A37 (Heart Rate Measurement)`
  package static func label(_ kind: String, _ uuid: BluetoothUUID, _ name: String?) -> String {
    "\(kind) \(uuid)" + (name.map { " (\($0))" } ?? "")
  }
}
