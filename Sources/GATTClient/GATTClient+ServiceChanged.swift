import ATT
import HaloBluetoothCore
import HaloGATT

/// Service Changed: notifies programs that keep handles when the handles change (Core Specification Vol 3, Part G,
/// 7.1).
///
/// The client subscribes to Service Changed on behalf of programs that keep handles - that have discovered attributes,
/// or have supplied known ones - and not of those that read one value and disconnect. A server that does not answer
/// these requests stays connected and continues to send values, as nothing depends on the answer; ATT allows no other
/// request after that (Part F, 3.3.3), so the next one ends the link. As no program issued these requests, they wait
/// until no other request is pending, and are not sent for a program that polls: it would lose its link because of
/// them.
extension GATTClient {
  /// How long no request must have been made.
  private static let quietTime = Duration.milliseconds(750)
  /// The same where a program polls.
  private static let quietTimeOfPolls = Duration.seconds(10)

  /// How long no request may be made before the client subscribes to Service Changed; nil to not subscribe.
  private var quietTimeNeeded: Duration? {
    guard isOpen, keepsHandles, watchesServiceChanges, !isWatchingServiceChanges else { return nil }
    guard polls else { return Self.quietTime }
    // A subscription can move, and a program that sets the handler requests this.
    return active.isEmpty && servicesChangedHandlers.isEmpty ? nil : Self.quietTimeOfPolls
  }

  /// Called each time no request is pending.
  func watchServiceChangesSoon() {
    timers.cancel(serviceChangedTimer.take())
    guard let quietTimeNeeded else { return }
    serviceChangedTimer = timers.schedule(after: quietTimeNeeded) { [weak self] in
      guard let self, self.quietTimeNeeded != nil, procedures.isIdle else { return }
      isWatchingServiceChanges = true
      findServiceChanged()
    }
  }

  /// A server that has no such characteristic promises that its attributes never change.
  private func findServiceChanged() {
    ask({ DiscoverServicesByUUID(GATTUUID.genericAttribute) }) { [weak self] services in
      guard let service = services.first else { return }
      self?.ask({ DiscoverCharacteristics(in: service) }) { all in
        guard let characteristic = all.first(where: { $0.uuid == GATTUUID.serviceChanged }) else { return }
        self?.ask({ DiscoverDescriptors(of: characteristic) }) { descriptors in
          let configuration = descriptors.first { $0.uuid == GATTUUID.clientCharacteristicConfiguration }
          if let configuration { self?.listen(to: characteristic, configuration) }
        }
      }
    }
  }

  private func listen(to characteristic: Characteristic, _ configuration: Descriptor) {
    _ = subscriptions.add(characteristic.valueHandle, now: timers.current) { [weak self] value, _ in
      self?.servicesChanged(value)
    }
    ask({ WriteValue(configuration.handle, ClientConfiguration.indicate.bytes) }) {}
  }

  /// Sends the requests that no program has made.
  private func ask<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure, then next: @escaping (Procedure.Output) -> Void
  ) {
    procedures.run(isExpendable: true, make) { [weak self] result in
      switch result {
      case .success(let output): next(output)
      case .failure(.att(.timedOut)): self?.onSilence?()
      case .failure: break
      }
    }
  }

  private func servicesChanged(_ value: RawSpan) {
    var reader = ByteReader(value)
    guard let start = try? reader.readUInt16(), let end = try? reader.readUInt16() else { return }
    let range = HandleRange(AttributeHandle(start), AttributeHandle(end))
    guard range.isValid else { return }
    trust.change(range)
    let affected = places.forget(range)
    descriptors = descriptors.filter { !range.contains($0.key) }
    subscriptions.forgetUnclaimed(in: range)
    // The characteristic may exist now.
    if isMoving { displaced.widen(affected) }
    // The values of these handles are other values from now on. The oldest subscription moves first.
    for (id, entry) in active.sorted(by: { $0.key < $1.key }) where range.contains(entry.handle) {
      subscriptions.remove(id, from: entry.handle)
      if entry.isConfigured { displaced.add(id, affected) }
    }
    for handler in servicesChangedHandlers { handler(range) }
    moveSubscriptions()
  }
}

/// Subscriptions whose characteristics have to be found again, and the ranges to search.
struct DisplacedSubscriptions {
  private(set) var ids: [UInt64] = []
  private(set) var range: HandleRange?

  var isEmpty: Bool { ids.isEmpty }

  mutating func add(_ id: UInt64, _ range: HandleRange) {
    if !ids.contains(id) { ids.append(id) }
    widen(range)
  }

  mutating func widen(_ range: HandleRange) {
    self.range = self.range?.union(range) ?? range
  }

  mutating func remove(_ id: UInt64) {
    ids.removeAll { $0 == id }
  }
}

/// Subscriptions move with their characteristics, or end with a reason.
extension GATTClient {
  /// How often a server may trigger a search for its characteristics during a link.
  private static let maximumMoves = 64

  private func moveSubscriptions() {
    guard !displaced.isEmpty, !isMoving else { return }
    isMoving = true
    BluetoothActor.run { [weak self] in
      while let self, isOpen, !displaced.isEmpty {
        moveCount += 1
        let batch = displaced
        displaced = DisplacedSubscriptions()
        await move(batch)
      }
      self?.isMoving = false
    }
  }

  private func move(_ batch: DisplacedSubscriptions) async {
    guard let range = batch.range else { return }
    let count = trust.changeCount
    var services: [Service] = []
    do throws(GATTError) {
      guard moveCount <= Self.maximumMoves else { throw .servicesChanged }
      services = try await servicesStarting(in: range)
    } catch {
      for id in batch.ids { end(id, error) }
      return
    }
    var tables: [AttributeHandle: [Characteristic]] = [:]
    for id in batch.ids {
      guard let entry = active[id] else { continue }
      // The results are out of date: the search starts again.
      guard trust.changeCount == count else {
        displaced.add(id, range)
        continue
      }
      do throws(GATTError) {
        let found = try await find(entry, among: services, &tables)
        if trust.changeCount == count { try await move(id, to: found) } else { displaced.add(id, range) }
      } catch .servicesChanged {
        displaced.add(id, range)
      } catch {
        end(id, error)
      }
    }
  }

  private func servicesStarting(in range: HandleRange) async throws(GATTError) -> [Service] {
    let stamp = DiscoveryStamp(client: id, changeCount: trust.changeCount)
    // The program has not discovered them: the handles it uses stay unchanged.
    return note(try await run { DiscoverAllServices(in: range) }, stamp, isAskedFor: false)
  }

  /// The characteristic of a subscription, at its current handle.
  private func find(
    _ entry: ActiveSubscription, among found: [Service], _ tables: inout [AttributeHandle: [Characteristic]]
  ) async throws(GATTError) -> Characteristic {
    let candidates: [Service]
    if let name = entry.name {
      let services = places.services(name.service)
      candidates = services.indices.contains(name.serviceIndex) ? [services[name.serviceIndex]] : []
    } else {
      // The characteristic was supplied as known: its service is not known.
      candidates = found
    }
    var fitting: [Characteristic] = []
    for service in candidates {
      var table = tables[service.handles.start] ?? []
      if tables[service.handles.start] == nil {
        table = try await discoverCharacteristics(of: service)
        tables[service.handles.start] = table
      }
      fitting += table.filter { $0.uuid == entry.uuid }
    }
    let index = entry.name?.index ?? 0
    guard fitting.indices.contains(index), entry.name != nil || fitting.count == 1 else {
      throw .characteristicGone(entry.uuid)
    }
    return fitting[index]
  }

  private func move(_ id: UInt64, to characteristic: Characteristic) async throws(GATTError) {
    var descriptors: [Descriptor] = []
    if active[id]?.configuration != nil { descriptors = try await discoverDescriptors(of: characteristic) }
    let configuration = descriptors.first { $0.uuid == GATTUUID.clientCharacteristicConfiguration }
    // It may have been cancelled in between.
    guard var entry = active[id] else { return }
    guard configuration != nil || entry.configuration == nil else {
      throw .characteristicGone(entry.uuid)
    }
    entry.handle = characteristic.valueHandle
    entry.configuration = configuration
    entry.name = places.name(at: characteristic.valueHandle)
    entry.isConfigured = false
    active[id] = entry
    subscriptions.add(id, entry.handle, now: timers.current, sink: entry.sink)
    if let configuration {
      try await awaitCallback { done in configure(entry.handle, configuration, done) }
    }
    guard active[id] != nil else {
      if let configuration { takeBack(entry.handle, configuration) }
      return
    }
    try check(entry.handle, characteristic.stamp)
    active[id]?.isConfigured = true
    onSubscriptionMoved?(Subscription(entry, id: id))
  }

  /// Ends a subscription that was not unsubscribed.
  func end(_ id: UInt64, _ reason: GATTError) {
    withdraw(id)?.onEnd(reason)
  }
}
