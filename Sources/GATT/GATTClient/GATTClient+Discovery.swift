import ATT
import HaloBluetoothCore

extension GATTClient {
  /// Discovers primary services.
  ///
  /// - Parameter uuids: the services to discover, each with one request; nil for all
  package func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(StackError) -> [Service] {
    try await awaitCallback { discoverServices(uuids, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  @discardableResult
  package func discoverServices(
    _ uuids: [BluetoothUUID]? = nil, completion: @escaping (Result<[Service], StackError>) -> Void
  ) -> () -> Void {
    let cancellation = ProcedureCancellation()
    if let uuids {
      discover(uuids[...], [], cancellation, completion)
    } else {
      findServices({ DiscoverAllServices() }, cancellation) { [self] result in
        if case .success((_, let stamp)) = result { validity.discovered(.all, after: stamp.changeCount) }
        completion(result.map { note($0.0, $0.1) })
      }
    }
    return { cancellation.action() }
  }

  private func discover(
    _ uuids: ArraySlice<BluetoothUUID>, _ found: [Service], _ cancellation: ProcedureCancellation,
    _ completion: @escaping (Result<[Service], StackError>) -> Void
  ) {
    guard let uuid = uuids.first else { return completion(.success(found)) }
    findServices({ DiscoverServicesByUUID(uuid) }, cancellation) { [self] result in
      switch result {
      case .success(let (services, stamp)):
        discover(uuids.dropFirst(), found + note(services, stamp), cancellation, completion)
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// How often services are discovered again that change meanwhile.
  private static let mostAttempts = 8

  /// Discovers services, again if the server indicates meanwhile that some have changed: the services returned can be used.
  private func findServices<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure, _ cancellation: ProcedureCancellation, attempts: Int = mostAttempts,
    _ completion: @escaping (Result<([Service], DiscoveryGeneration), StackError>) -> Void
  ) where Procedure.Output == [Service] {
    let stamp = startDiscovery()
    cancellation.action = run(make) { [self] result in
      if case .success = result, validity.changeCount != stamp.changeCount {
        guard attempts > 1 else { return completion(.failure(.servicesChanged)) }
        return findServices(make, cancellation, attempts: attempts - 1, completion)
      }
      completion(result.map { ($0, stamp) })
    }
  }

  /// Repeats a discovery during which its services change.
  package func whileServicesChange<Value>(
    _ discover: () async throws(StackError) -> Value
  ) async throws(StackError) -> Value {
    for _ in 1..<Self.mostAttempts {
      do throws(StackError) { return try await discover() } catch .servicesChanged {}
    }
    return try await discover()
  }

  /// The first primary service with a UUID, with one round trip; nil if there is none.
  package func firstService(_ uuid: BluetoothUUID) async throws(StackError) -> Service? {
    try await awaitCallback { (done: @escaping (Result<Service?, StackError>) -> Void) in
      let cancellation = ProcedureCancellation()
      findServices({ DiscoverServicesByUUID(uuid, limit: 1) }, cancellation) { [self] result in
        done(result.map { note($0.0, $0.1).first })
      }
      return { cancellation.action() }
    }
  }

  /// Discovers the services that a service includes.
  package func discoverIncludedServices(of service: Service) async throws(StackError) -> [IncludedService] {
    try await awaitCallback { discoverIncludedServices(of: service, completion: $0) }
  }

  /// The services that any service of the server refers to.
  package func discoverIncludedServices() async throws(StackError) -> [IncludedService] {
    try await awaitCallback { discoverIncludedServices(in: .all, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  @discardableResult
  package func discoverIncludedServices(
    of service: Service, completion: @escaping (Result<[IncludedService], StackError>) -> Void
  ) -> () -> Void {
    checked(service, completion) { discoverIncludedServices(in: service.handles, completion: completion) }
  }

  private func discoverIncludedServices(
    in range: HandleRange, completion: @escaping (Result<[IncludedService], StackError>) -> Void
  ) -> () -> Void {
    let stamp = startDiscovery()
    return run({ FindIncludedServices(in: range) }) { [self] result in
      completion(
        result.map { services in
          services.map { found in
            var found = found
            found.service.stamp = stamp
            validity.discovered(found.service.handles, after: stamp.changeCount)
            return found
          }
        })
    }
  }

  /// Discovers the characteristics of a service.
  ///
  /// - Parameters:
  ///   - uuids: which of them to return; nil for all
  ///   - service: as returned by a discovery
  package func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: Service
  ) async throws(StackError) -> [Characteristic] {
    try await awaitCallback { discoverCharacteristics(uuids, of: service, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  @discardableResult
  package func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: Service,
    completion: @escaping (Result<[Characteristic], StackError>) -> Void
  ) -> () -> Void {
    checked(service, completion) {
      let stamp = startDiscovery()
      return run({ DiscoverCharacteristics(in: service) }) { [self] result in
        completion(
          result.map { found in
            let characteristics = note(found, of: service, stamp)
            guard let uuids else { return characteristics }
            return characteristics.filter { uuids.contains($0.uuid) }
          })
      }
    }
  }

  /// Discovers the descriptors of a characteristic. They are remembered for as long as they are true.
  package func discoverDescriptors(
    of characteristic: Characteristic
  ) async throws(StackError) -> [Descriptor] {
    try await awaitCallback { discoverDescriptors(of: characteristic, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``. Known descriptors are given at once.
  @discardableResult
  package func discoverDescriptors(
    of characteristic: Characteristic, completion: @escaping (Result<[Descriptor], StackError>) -> Void
  ) -> () -> Void {
    let handle = characteristic.valueHandle
    return checked(characteristic, completion) {
      if let known = descriptors[handle] {
        completion(.success(known))
        return {}
      }
      let stamp = startDiscovery()
      return run({ DiscoverDescriptors(of: characteristic) }) { [self] result in
        completion(
          result.map { all in
            var found = all
            for index in found.indices { found[index].stamp = stamp }
            if !validity.hasChanged(HandleRange(handle, characteristic.end), since: stamp.changeCount) {
              descriptors[handle] = found
            }
            return found
          })
      }
    }
  }

  /// Begins an operation unless the attribute has changed.
  func checked<Value>(
    _ attribute: some AttributeReference, _ completion: (Result<Value, StackError>) -> Void,
    _ begin: () -> () -> Void
  ) -> () -> Void {
    do throws(StackError) {
      try check(attribute)
    } catch {
      completion(.failure(error))
      return {}
    }
    return begin()
  }

  /// Uses descriptors discovered on an earlier link, so that they need not be discovered again. If they are out of
  /// date, operations on them fail. Nil discards the known descriptors.
  package func assume(_ known: [Descriptor]?, of characteristic: Characteristic) {
    descriptors[characteristic.valueHandle] = known
  }

  /// Fails if the server has indicated that an attribute has changed, or if it is one of another server.
  func check(_ attribute: some AttributeReference) throws(StackError) {
    let handle = attribute.requestHandle
    guard let stamp = attribute.stamp else {
      if validity.isUnknown(handle) { throw .servicesChanged }
      return
    }
    guard stamp.client == id else { throw .discoveredElsewhere(handle) }
    if validity.hasChanged(HandleRange(handle, handle), since: stamp.changeCount) { throw .servicesChanged }
  }

  func startDiscovery() -> DiscoveryGeneration {
    DiscoveryGeneration(client: id, changeCount: validity.changeCount)
  }

  /// Remembers the characteristics of a service, from its first one on.
  ///
  /// - Returns: the same, with the time since which they are there
  func note(
    _ characteristics: [Characteristic], of service: Service, _ stamp: DiscoveryGeneration
  ) -> [Characteristic] {
    let isCurrent = !validity.hasChanged(service.handles, since: stamp.changeCount)
    let since = isCurrent ? locator.stamp(of: service) ?? stamp : stamp
    var stamped = characteristics
    for index in stamped.indices { stamped[index].stamp = since }
    if isCurrent { locator.note(stamped, of: service) }
    return stamped
  }

  /// Remembers services.
  ///
  /// - Returns: the same, with the time since which they are there: a service that is discovered again is equal, unless it has
  ///   changed
  func note(_ services: [Service], _ stamp: DiscoveryGeneration, isAskedFor: Bool = true) -> [Service] {
    services.map { service in
      var service = service
      if isAskedFor { validity.discovered(service.handles, after: stamp.changeCount) }
      let isCurrent = !validity.hasChanged(service.handles, since: stamp.changeCount)
      service.stamp = isCurrent ? locator.stamp(of: service) ?? stamp : stamp
      if isCurrent { locator.note(service) }
      return service
    }
  }
}

/// The end of an operation of several steps, of which the current one is cancelled.
@BluetoothActor
final class ProcedureCancellation {
  var action: () -> Void = {}
}
