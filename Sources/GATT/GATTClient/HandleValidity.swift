import ATT
import HaloBluetoothCore

/// Tracks which handles are still valid since they were discovered (Core Specification Vol 3, Part G, 7.1).
///
/// Attributes discovered before a change of their range are not used again, even if another attribute was discovered
/// since at the same handle. Handles that a program passes as numbers are valid again once a service around them was
/// discovered after the change.
struct HandleValidity {
  private struct Change {
    var number: Int
    var range: HandleRange
  }

  /// Limits the memory used for a server that keeps changing.
  private static let maximumChanges = 32

  /// The number of changes that the server has indicated.
  private(set) var changeCount = 0
  private var changes: [Change] = []
  /// The changed ranges that have not been discovered since.
  private var unknown: [HandleRange] = []

  mutating func change(_ range: HandleRange) {
    changeCount += 1
    if changes.count == Self.maximumChanges { changes = [Change(number: changeCount, range: .all)] }
    changes.append(Change(number: changeCount, range: range))
    unknown = unknown.count < Self.maximumChanges ? unknown + [range] : [.all]
  }

  /// A service was discovered, by a procedure that began after `count` changes.
  mutating func discovered(_ range: HandleRange, after count: Int) {
    guard !hasChanged(range, since: count) else { return }
    let rest = unknown.flatMap { $0.subtracting(range) }
    if rest.count <= 2 * Self.maximumChanges { unknown = rest }
  }

  /// Whether a part of a range has changed since the first `count` changes.
  func hasChanged(_ range: HandleRange, since count: Int) -> Bool {
    changes.contains { $0.number > count && $0.range.overlaps(range) }
  }

  /// Whether a handle that was given as a number may not be used.
  func isUnknown(_ handle: AttributeHandle) -> Bool {
    unknown.contains { $0.contains(handle) }
  }
}

extension HandleRange {
  func overlaps(_ other: HandleRange) -> Bool { start <= other.end && other.start <= end }

  /// The rest of the range: none, one or two ranges.
  func subtracting(_ other: HandleRange) -> [HandleRange] {
    guard overlaps(other) else { return [self] }
    var rest: [HandleRange] = []
    if start < other.start {
      rest.append(HandleRange(start, AttributeHandle(other.start.rawValue - 1)))
    }
    if let next = other.end.next, next <= end { rest.append(HandleRange(next, end)) }
    return rest
  }

  func union(_ other: HandleRange) -> HandleRange {
    HandleRange(min(start, other.start), max(end, other.end))
  }
}

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
