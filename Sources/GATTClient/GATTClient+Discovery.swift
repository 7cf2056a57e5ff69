import ATT
import BluetoothCore
import EventLoop

extension GATTClient {
  /// Discovers primary services.
  ///
  /// - Parameter uuids: the services to look for, each with one request; nil for all
  public func discoverServices(_ uuids: [BluetoothUUID]? = nil) async throws(GATTError) -> [Service] {
    // What is found from here on is true.
    staleRanges = []
    guard let uuids else { return try await run { DiscoverAllServices() } }
    var services: [Service] = []
    for uuid in uuids { services += try await run { DiscoverServicesByUUID(uuid) } }
    return services
  }

  /// The first primary service with a UUID, with one round trip; nil if there is none.
  public func firstService(_ uuid: BluetoothUUID) async throws(GATTError) -> Service? {
    staleRanges = []
    return try await run { DiscoverServicesByUUID(uuid, limit: 1) }.first
  }

  /// Discovers the services that a service includes.
  public func discoverIncludedServices(of service: Service) async throws(GATTError) -> [IncludedService] {
    try check(service.handles.start)
    return try await run { FindIncludedServices(in: service) }
  }

  /// Discovers the characteristics of a service.
  ///
  /// - Parameter uuids: which of them to give; nil for all
  public func discoverCharacteristics(
    _ uuids: [BluetoothUUID]? = nil, of service: Service
  ) async throws(GATTError) -> [Characteristic] {
    try check(service.handles.start)
    let characteristics = try await run { DiscoverCharacteristics(in: service) }
    guard let uuids else { return characteristics }
    return characteristics.filter { uuids.contains($0.uuid) }
  }

  /// Discovers the descriptors of a characteristic. They are remembered for as long as they are true.
  public func discoverDescriptors(of characteristic: Characteristic) async throws(GATTError) -> [Descriptor] {
    try check(characteristic.valueHandle)
    if let known = descriptors[characteristic.valueHandle] { return known }
    let found = try await run { DiscoverDescriptors(of: characteristic) }
    descriptors[characteristic.valueHandle] = found
    return found
  }

  /// Takes descriptors as known that were discovered on an earlier link, so that they need not be asked for. If they
  /// are not true any more, what is done with them fails. Nil forgets what is known.
  public func assume(_ known: [Descriptor]?, of characteristic: Characteristic) {
    descriptors[characteristic.valueHandle] = known
  }

  /// Fails if the server has said that what stands at `handle` is something else now.
  func check(_ handle: AttributeHandle) throws(GATTError) {
    if staleRanges.contains(where: { $0.contains(handle) }) { throw .servicesChanged }
  }

  // MARK: Service Changed

  /// How long nobody must have asked for anything, before we ask for something on our own account.
  private static let quietTime = Duration.milliseconds(750)

  /// Subscribes to Service Changed once nobody is in a hurry (Core Specification Vol 3, Part G, 7.1).
  func watchServiceChangesSoon() {
    let timers = EventLoop.shared.timers
    timers.cancel(serviceChangedTimer)
    guard isConnected, !isWatchingServiceChanges else { return }
    serviceChangedTimer = timers.schedule(after: Self.quietTime) { [weak self] in
      guard let self, procedures.isIdle, isConnected else { return }
      isWatchingServiceChanges = true
      findServiceChanged()
    }
  }

  /// A server that has no such characteristic promises that its attributes never change.
  private func findServiceChanged() {
    procedures.run {
      DiscoverServicesByUUID(GATTUUID.genericAttribute)
    } completion: { [weak self] result in
      guard let self, case .success(let services) = result, let service = services.first else { return }
      procedures.run {
        DiscoverCharacteristics(in: service)
      } completion: { [weak self] result in
        guard let self, case .success(let all) = result,
          let characteristic = all.first(where: { $0.uuid == GATTUUID.serviceChanged })
        else { return }
        procedures.run {
          DiscoverDescriptors(of: characteristic)
        } completion: { [weak self] result in
          guard let self, case .success(let descriptors) = result,
            let configuration = descriptors.first(where: {
              $0.uuid == GATTUUID.clientCharacteristicConfiguration
            })
          else { return }
          listenToServiceChanged(characteristic, configuration)
        }
      }
    }
  }

  private func listenToServiceChanged(_ characteristic: Characteristic, _ configuration: Descriptor) {
    serviceChangedHandle = characteristic.valueHandle
    _ = subscriptions.add(characteristic.valueHandle, now: EventLoop.shared.now) { [weak self] value, _ in
      self?.servicesChanged(value)
    }
    procedures.run {
      WriteValue(configuration.handle, SubscriptionKind.indication.configuration)
    } completion: { _ in
    }
  }

  private func servicesChanged(_ value: RawSpan) {
    var reader = ByteReader(value)
    guard let start = try? reader.readUInt16(), let end = try? reader.readUInt16() else { return }
    let range = HandleRange(AttributeHandle(start), AttributeHandle(end))
    guard range.isValid else { return }
    // A server that never stops changing must not fill the memory.
    staleRanges = staleRanges.count < 32 ? staleRanges + [range] : [.all]
    descriptors = descriptors.filter { !range.contains($0.key) }
    // Else a subscription to what stands there now would find itself made already.
    subscriptions.removeAll(in: range, except: serviceChangedHandle)
    for (id, entry) in sequenceEnds where range.contains(entry.handle) {
      sequenceEnds[id] = nil
      entry.end()
    }
    onServicesChanged?(range)
  }
}
