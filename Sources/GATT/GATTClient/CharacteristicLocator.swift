import ATT
import HaloBluetoothCore

/// Maps the discovered characteristics and services of one link to their handles, so that a characteristic can be found
/// again after its server has moved it.
struct CharacteristicLocator {
  /// Identifies a characteristic independently of its handle. Servers may have several services, and services several
  /// characteristics, with one UUID: they are counted in the order of their handles.
  struct Name: Hashable {
    var service: BluetoothUUID
    var serviceIndex: Int
    var characteristic: BluetoothUUID
    var index: Int
  }

  /// A server of tens of thousands of services must not fill the memory; entries beyond the limit are not found again.
  private static let maximumCount = 4096

  private var services: [AttributeHandle: Service] = [:]
  private var names: [AttributeHandle: Name] = [:]

  /// Services and characteristics that are remembered.
  var count: Int { services.count + names.count }

  mutating func note(_ service: Service) {
    guard count < Self.maximumCount else { return }
    services[service.handles.start] = service
  }

  mutating func note(_ characteristics: [Characteristic], of service: Service) {
    note(service)
    let serviceIndex = self.services(service.uuid).firstIndex { $0.handles.start == service.handles.start }
    var counts: [BluetoothUUID: Int] = [:]
    for characteristic in characteristics {
      let index = counts[characteristic.uuid, default: 0]
      counts[characteristic.uuid] = index + 1
      guard let serviceIndex, count < Self.maximumCount else { continue }
      names[characteristic.valueHandle] = Name(
        service: service.uuid, serviceIndex: serviceIndex, characteristic: characteristic.uuid, index: index)
    }
  }

  /// Since when a service has been there; nil if it is not known, or another one is there.
  func stamp(of service: Service) -> DiscoveryGeneration? {
    guard let known = services[service.handles.start], known.uuid == service.uuid,
      known.handles == service.handles
    else { return nil }
    return known.stamp
  }

  /// The characteristic at a value handle.
  func name(at handle: AttributeHandle) -> Name? { names[handle] }

  /// The discovered services with a UUID, in the order of their handles.
  func services(_ uuid: BluetoothUUID) -> [Service] {
    services.values.filter { $0.uuid == uuid }.sorted { $0.handles.start < $1.handles.start }
  }

  /// Forgets the entries that touch a range.
  ///
  /// - Returns: the range and the services that it touched
  mutating func forget(_ range: HandleRange) -> HandleRange {
    var affected = range
    for service in services.values where service.handles.overlaps(range) {
      affected = affected.union(service.handles)
    }
    services = services.filter { !$0.value.handles.overlaps(range) }
    names = names.filter { !affected.contains($0.key) }
    return affected
  }
}

extension HandleRange {
  func union(_ other: HandleRange) -> HandleRange {
    HandleRange(min(start, other.start), max(end, other.end))
  }
}
