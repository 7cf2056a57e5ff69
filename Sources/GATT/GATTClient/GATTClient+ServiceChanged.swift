import ATT
import HaloBluetoothCore

/// How far the subscription to Service Changed is.
enum ServiceChangedWatch {
  case none
  /// The server was asked, and has not answered yet, or never will.
  case asking
  /// It was subscribed to, or the server does not have it or refuses it.
  case done
}

/// Service Changed: informs a client that keeps handles of changes to them (Core Specification Vol 3, Part G, 7.1). A client
/// has to subscribe to it, which no program does: it is a part of making a link usable, as with Android, BlueZ and Apple's
/// systems (zephyrproject-rtos/zephyr 46695 and 104970).
extension GATTClient {
  /// Subscribes to Service Changed, once per link. Later requests wait for it.
  ///
  /// A server that does not answer within five seconds stays connected and continues to send values, as nothing depends on the
  /// answer. ATT allows no other request after that (Part F, 3.3.3): the next one ends the link, and the next link does without.
  ///
  /// - Parameter afterOthers: whether requests that are made now go before, so that a stream does not begin later
  package func watchServiceChanges(afterOthers: Bool = false) {
    guard !afterOthers else {
      timers.schedule(after: .zero) { [weak self] in
        self?.whenIdle { self?.watchServiceChanges() }
      }
      return
    }
    guard isOpen, watchesServiceChanges, watch == .none else { return }
    watch = .asking
    procedures.run(allowsTimeout: true) { [weak self] in
      // A server without it promises that its attributes never change.
      DiscoverServicesByUUID(GATTUUID.genericAttribute, limit: 1).then { services in
        services.first.map { DiscoverCharacteristics(in: $0) }?.then { all in
          all.first { $0.uuid == GATTUUID.serviceChanged }.map { value in
            DiscoverDescriptors(of: value).then { descriptors in
              descriptors.first { $0.uuid == GATTUUID.clientCharacteristicConfiguration }.map {
                self?.listen(toServiceChanged: value.valueHandle)
                return WriteValue($0.handle, ClientConfiguration.indicate.bytes)
              }
            }
          }
        }
      }
    } completion: { [weak self] result in
      switch result {
      case .failure(let error) where error.code == .timedOut: self?.onSilence?()
      case .failure(let error) where error.code == .closed: break
      default: self?.watch = .done
      }
    }
  }

  /// Whether the link has ended while the server was asked.
  package var lacksServiceChanged: Bool { bearer.isClosed && watch == .asking }

  private func listen(toServiceChanged value: AttributeHandle) {
    _ = subscriptions.add(value, now: timers.current) { [weak self] value, _ in self?.servicesChanged(value) }
  }

  private func servicesChanged(_ value: RawSpan) {
    var reader = ByteReader(value)
    guard let start = try? reader.readUInt16(), let end = try? reader.readUInt16() else { return }
    let range = HandleRange(AttributeHandle(start), AttributeHandle(end))
    guard range.isValid else { return }
    validity.change(range)
    let affected = locator.forget(range)
    descriptors = descriptors.filter { !range.contains($0.key) }
    subscriptions.forgetUnclaimed(in: range)
    // The characteristic may exist now.
    if isMoving { resubscriptions.widen(affected) }
    // The values of these handles are other values from now on. The oldest subscription moves first.
    for (id, entry) in active.sorted(by: { $0.key < $1.key }) where range.contains(entry.handle) {
      subscriptions.remove(id, from: entry.handle)
      if entry.isConfigured { resubscriptions.add(id, affected) }
    }
    for handler in servicesChangedHandlers { handler(range) }
    moveSubscriptions()
  }
}

/// Subscriptions whose characteristics have to be found again, and the ranges to search.
struct PendingResubscriptions {
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
    guard !resubscriptions.isEmpty, !isMoving else { return }
    isMoving = true
    BluetoothActor.run { [weak self] in
      while let self, isOpen, !resubscriptions.isEmpty {
        moveCount += 1
        let batch = resubscriptions
        resubscriptions = PendingResubscriptions()
        await move(batch)
      }
      self?.isMoving = false
    }
  }

  private func move(_ batch: PendingResubscriptions) async {
    guard let range = batch.range else { return }
    let count = validity.changeCount
    var services: [Service] = []
    do throws(StackError) {
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
      guard validity.changeCount == count else {
        resubscriptions.add(id, range)
        continue
      }
      do throws(StackError) {
        let found = try await find(entry, among: services, &tables)
        if validity.changeCount == count {
          try await move(id, to: found)
        } else {
          resubscriptions.add(id, range)
        }
      } catch .servicesChanged {
        resubscriptions.add(id, range)
      } catch {
        end(id, error)
      }
    }
  }

  private func servicesStarting(in range: HandleRange) async throws(StackError) -> [Service] {
    let stamp = DiscoveryGeneration(client: id, changeCount: validity.changeCount)
    // The program has not discovered them: the handles it uses stay unchanged.
    return note(try await run { DiscoverAllServices(in: range) }, stamp, isAskedFor: false)
  }

  /// The characteristic of a subscription, at its current handle.
  private func find(
    _ entry: ActiveSubscription, among found: [Service], _ tables: inout [AttributeHandle: [Characteristic]]
  ) async throws(StackError) -> Characteristic {
    let candidates: [Service]
    if let name = entry.name {
      let services = locator.services(name.service)
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

  private func move(_ id: UInt64, to characteristic: Characteristic) async throws(StackError) {
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
    entry.name = locator.name(at: characteristic.valueHandle)
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
    try check(characteristic)
    active[id]?.isConfigured = true
    onSubscriptionMoved?(Subscription(entry, id: id))
  }

  /// Ends a subscription that was not unsubscribed.
  func end(_ id: UInt64, _ reason: StackError) {
    withdraw(id)?.onEnd(reason)
  }
}
