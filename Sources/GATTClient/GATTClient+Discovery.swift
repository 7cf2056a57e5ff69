import ATT
import BluetoothCore

extension GATTClient {
  /// Discovers primary services.
  ///
  /// - Parameter uuids: the services to discover, each with one request; nil for all
  public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(GATTError) -> [Service] {
    guard let uuids else {
      let stamp = startDiscovery()
      let services = try await run { DiscoverAllServices() }
      trust.discovered(.all, after: stamp.changeCount)
      return note(services, stamp)
    }
    var services: [Service] = []
    for uuid in uuids {
      let stamp = startDiscovery()
      services += note(try await run { DiscoverServicesByUUID(uuid) }, stamp)
    }
    return services
  }

  /// The first primary service with a UUID, with one round trip; nil if there is none.
  public func firstService(_ uuid: BluetoothUUID) async throws(GATTError) -> Service? {
    let stamp = startDiscovery()
    return note(try await run { DiscoverServicesByUUID(uuid, limit: 1) }, stamp).first
  }

  /// Discovers the services that a service includes.
  public func discoverIncludedServices(of service: Service) async throws(GATTError) -> [IncludedService] {
    try check(service.handles.start, service.stamp)
    let stamp = startDiscovery()
    let services = try await run { FindIncludedServices(in: service) }
    keepHandles()
    return services.map { found in
      var found = found
      found.service.stamp = stamp
      trust.discovered(found.service.handles, after: stamp.changeCount)
      return found
    }
  }

  /// Discovers the characteristics of a service.
  ///
  /// - Parameters:
  ///   - uuids: which of them to return; nil for all
  ///   - service: as returned by a discovery
  public func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: Service
  ) async throws(GATTError) -> [Characteristic] {
    try check(service.handles.start, service.stamp)
    let stamp = startDiscovery()
    var characteristics = try await run { DiscoverCharacteristics(in: service) }
    keepHandles()
    for index in characteristics.indices { characteristics[index].stamp = stamp }
    if !trust.hasChanged(service.handles, since: stamp.changeCount) {
      places.note(characteristics, of: service)
    }
    guard let uuids else { return characteristics }
    return characteristics.filter { uuids.contains($0.uuid) }
  }

  /// Discovers the descriptors of a characteristic. They are remembered for as long as they are true.
  public func discoverDescriptors(of characteristic: Characteristic) async throws(GATTError) -> [Descriptor] {
    let handle = characteristic.valueHandle
    try check(handle, characteristic.stamp)
    if let known = descriptors[handle] { return known }
    let stamp = startDiscovery()
    var found = try await run { DiscoverDescriptors(of: characteristic) }
    keepHandles()
    for index in found.indices { found[index].stamp = stamp }
    if !trust.hasChanged(HandleRange(handle, characteristic.end), since: stamp.changeCount) {
      descriptors[handle] = found
    }
    return found
  }

  /// Uses descriptors discovered on an earlier link, so that they need not be discovered again. If they are out of
  /// date, operations on them fail. Nil discards the known descriptors.
  public func assume(_ known: [Descriptor]?, of characteristic: Characteristic) {
    keepHandles()
    descriptors[characteristic.valueHandle] = known
  }

  /// Fails if the server has indicated that the attribute at `handle` has changed.
  ///
  /// - Parameter stamp: when it was discovered; nil for a number passed by a program
  func check(_ handle: AttributeHandle, _ stamp: DiscoveryStamp? = nil) throws(GATTError) {
    let isStale =
      if let stamp, stamp.client == id {
        trust.hasChanged(HandleRange(handle, handle), since: stamp.changeCount)
      } else {
        trust.isUnknown(handle)
      }
    if isStale { throw .servicesChanged }
  }

  private func startDiscovery() -> DiscoveryStamp {
    DiscoveryStamp(client: id, changeCount: trust.changeCount)
  }

  func note(_ services: [Service], _ stamp: DiscoveryStamp, isAskedFor: Bool = true) -> [Service] {
    if isAskedFor { keepHandles() }
    return services.map { service in
      var service = service
      service.stamp = stamp
      if isAskedFor { trust.discovered(service.handles, after: stamp.changeCount) }
      if !trust.hasChanged(service.handles, since: stamp.changeCount) { places.note(service) }
      return service
    }
  }
}
