import ATT
import HaloBluetoothCore

/// How a server sends a value (Core Specification Vol 3, Part G, 3.3.3.3).
package enum SubscriptionKind: Hashable, Sendable {
  /// Without an answer.
  case notification
  /// Each value is confirmed; the next is sent after the confirmation.
  case indication

  /// The bit that a client writes to be sent a value in this way.
  var configuration: ClientConfiguration {
    switch self {
    case .notification: .notify
    case .indication: .indicate
    }
  }
}

/// Identifies a subscriber to a value.
package struct Subscription: Hashable, Sendable {
  /// The handle of the value, as it was when this was made; see ``GATTClient/onSubscriptionMoved``.
  package var handle: AttributeHandle
  package var kind: SubscriptionKind
  /// The descriptor that was written; nil if nothing was: see ``GATTClient/listen(to:onEnd:sink:)``.
  package let configuration: AttributeHandle?
  let id: UInt64

  package static func == (left: Self, right: Self) -> Bool { left.id == right.id }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A subscription as stored by the client, from before the write that enables it until it ends.
struct ActiveSubscription {
  let uuid: BluetoothUUID
  let kind: SubscriptionKind
  var handle: AttributeHandle
  /// The descriptor that is written, as it was discovered last; nil if nothing is written.
  var configuration: Descriptor?
  /// Identifies the characteristic after a change; nil if it was not discovered on this link.
  var name: CharacteristicLocator.Name?
  /// Whether the server has confirmed the subscription.
  var isConfigured = false
  let sink: (RawSpan, Instant) -> Void
  /// Gets the reason; nil if it was unsubscribed.
  let onEnd: (StackError?) -> Void
}

extension GATTClient {
  /// Subscribes to a value. The sink is registered before the peripheral gets the request, since some send values
  /// before they have answered.
  ///
  /// When the server indicates that its services have changed, the subscription moves with its characteristic: it is
  /// discovered again in the changed range and subscribed to again. If it no longer exists, the subscription ends.
  ///
  /// - Parameters:
  ///   - characteristic: as returned by a discovery
  ///   - kind: nil for notifications where they are supported, otherwise indications
  ///   - onEnd: called on the loop, once, when the subscription has ended and was not unsubscribed: the link
  ///     is lost, or the characteristic is gone. Not called if this throws.
  ///   - sink: called on the loop for each value, with its receive time. The view is only valid during the
  ///     call. Nothing is copied, allocated or handed to another thread on the way here.
  package func subscribe(
    to characteristic: Characteristic, as kind: SubscriptionKind? = nil,
    onEnd: ((StackError) -> Void)? = nil, sink: @escaping (RawSpan, Instant) -> Void
  ) async throws(StackError) -> Subscription {
    try await awaitCallback { (done: @escaping (Result<Subscription, StackError>) -> Void) in
      subscribe(to: characteristic, as: kind, onEnd: onEnd, sink: sink, completion: done)
    }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``. Values may arrive before `completion` is called.
  ///
  /// - Returns: a closure that cancels the request
  @discardableResult
  package func subscribe(
    to characteristic: Characteristic, as kind: SubscriptionKind? = nil,
    onEnd: ((StackError) -> Void)? = nil, sink: @escaping (RawSpan, Instant) -> Void,
    completion: @escaping (Result<Subscription, StackError>) -> Void
  ) -> () -> Void {
    subscribe(to: characteristic, kind, onEnd: { if let reason = $0 { onEnd?(reason) } }, sink, completion)
  }

  private func subscribe(
    to characteristic: Characteristic, _ kind: SubscriptionKind?, onEnd: @escaping (StackError?) -> Void,
    _ sink: @escaping (RawSpan, Instant) -> Void,
    _ completion: @escaping (Result<Subscription, StackError>) -> Void
  ) -> () -> Void {
    let offered = characteristic.properties
    let chosen = kind ?? (offered.contains(.notify) ? .notification : .indication)
    guard offered.contains(chosen == .notification ? .notify : .indicate) else {
      let what = kind == nil ? "notifications or indications" : "\(chosen)s"
      completion(.failure(.notSupported(characteristic.uuid, what)))
      return {}
    }
    let cancellation = ProcedureCancellation()
    var isDiscovered = false
    let cancelDiscovery = discoverDescriptors(of: characteristic) { [self] result in
      isDiscovered = true
      switch result {
      case .failure(let error): completion(.failure(error))
      case .success(let descriptors):
        let configuration = descriptors.first { $0.uuid == GATTUUID.clientCharacteristicConfiguration }
        guard let configuration else {
          let missing =
            "Client Characteristic Configuration for \(characteristic.uuid), so it has no subscriptions"
          return completion(.failure(.notFound(missing)))
        }
        let entry = ActiveSubscription(
          uuid: characteristic.uuid, kind: chosen, handle: characteristic.valueHandle,
          configuration: configuration, name: locator.name(at: characteristic.valueHandle), sink: sink,
          onEnd: onEnd)
        enable(entry, configuration, cancellation, completion)
      }
    }
    if !isDiscovered { cancellation.action = cancelDiscovery }
    return { cancellation.action() }
  }

  /// Gets the notifications and indications of a value, and writes nothing: for peers that send without a subscription, and for
  /// characteristics that lack the descriptor or the property. The rest is as in ``subscribe(to:as:onEnd:sink:)``.
  package func listen(
    to characteristic: Characteristic, onEnd: ((StackError) -> Void)? = nil,
    sink: @escaping (RawSpan, Instant) -> Void
  ) -> Subscription {
    var entry = ActiveSubscription(
      uuid: characteristic.uuid, kind: .notification, handle: characteristic.valueHandle, configuration: nil,
      name: locator.name(at: characteristic.valueHandle), sink: sink,
      onEnd: { if let reason = $0 { onEnd?(reason) } })
    entry.isConfigured = true
    let id = subscriptions.newID()
    active[id] = entry
    subscriptions.add(id, entry.handle, now: timers.current, sink: sink)
    return Subscription(entry, id: id)
  }

  private func enable(
    _ entry: ActiveSubscription, _ configuration: Descriptor, _ cancellation: ProcedureCancellation,
    _ completion: @escaping (Result<Subscription, StackError>) -> Void
  ) {
    let handle = entry.handle
    let id = subscriptions.newID()
    active[id] = entry
    subscriptions.add(id, handle, now: timers.current, sink: entry.sink)
    cancellation.action = configure(handle, configuration) { [self] result in
      switch result {
      case .success:
        active[id]?.isConfigured = true
        completion(.success(Subscription(entry, id: id)))
      case .failure(let error):
        _ = withdraw(id)
        completion(.failure(error))
      }
    }
  }

  /// Asks the peripheral to send a value as its subscribers want it. `completion` is called at once where it has
  /// confirmed that.
  ///
  /// - Returns: a closure that cancels the request
  func configure(
    _ handle: AttributeHandle, _ configuration: Descriptor,
    _ completion: @escaping (Result<Void, StackError>) -> Void
  ) -> () -> Void {
    let wanted = wanted(of: handle)
    guard !subscriptions.isConfirmed(wanted, of: handle) else {
      completion(.success(()))
      return {}
    }
    let count = validity.changeCount
    let request = subscriptions.ask(for: wanted, of: handle)
    return write(wanted.bytes, to: configuration) { [self] result in
      var result = result
      // The response may belong to the attribute that is now at this handle.
      if case .success = result, validity.hasChanged(HandleRange(handle, handle), since: count) {
        result = .failure(.servicesChanged)
      }
      switch result {
      case .success: subscriptions.answer(to: request, of: handle, isConfirmation: true)
      case .failure(.cancelled): break
      case .failure: subscriptions.answer(to: request, of: handle, isConfirmation: false)
      }
      completion(result)
    }
  }

  /// A subscriber has left: requests the configuration of the others, or none, unless that was requested last.
  func takeBack(
    _ handle: AttributeHandle, _ configuration: Descriptor,
    completion: @escaping (Result<Void, StackError>) -> Void = { _ in }
  ) {
    guard subscriptions.configurationAskedFor(of: handle) != wanted(of: handle) else {
      return completion(.success(()))
    }
    _ = configure(handle, configuration) { result in
      // A handle that is now that of another attribute, or of none, has lost its configuration.
      if case .failure(.servicesChanged) = result { completion(.success(())) } else { completion(result) }
    }
  }

  /// Removes a subscriber whose request was cancelled or has failed. The peripheral may have been asked to send the value as
  /// this subscriber wants it: by that request, if it is pending, or by a later one for others. The configuration of the others
  /// is requested.
  ///
  /// - Returns: the subscriber; nil if it was removed before
  func withdraw(_ id: UInt64) -> ActiveSubscription? {
    guard let entry = active.removeValue(forKey: id) else { return nil }
    let isAskedFor = subscriptions.configurationAskedFor(of: entry.handle) != nil
    subscriptions.remove(id, from: entry.handle)
    if isOpen, isAskedFor, let configuration = entry.configuration { takeBack(entry.handle, configuration) }
    return entry
  }

  /// How the subscribers of a value want it.
  private func wanted(of handle: AttributeHandle) -> ClientConfiguration {
    active.values.reduce(into: []) { wanted, entry in
      if entry.handle == handle, entry.configuration != nil { wanted.formUnion(entry.kind.configuration) }
    }
  }

  /// Removes a subscriber. With the last one, notifications are disabled; also if the task is cancelled, when this returns at
  /// once.
  package func unsubscribe(_ subscription: Subscription) async throws(StackError) {
    try await awaitCallback(cancelled: .cancelled) { unsubscribe(subscription, completion: $0) }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  package func unsubscribe(
    _ subscription: Subscription, completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    guard let entry = remove(subscription), let configuration = entry.configuration else {
      return completion(.success(()))
    }
    takeBack(entry.handle, configuration, completion: completion)
  }

  /// Removes a subscriber without a request: its characteristic is not where it was.
  package func drop(_ subscription: Subscription) { _ = remove(subscription) }

  /// - Returns: the subscription, if the configuration may have to be written; nil if there is no link, or if the subscription
  ///   is moving, since the configuration that the move enables is disabled when it ends
  private func remove(_ subscription: Subscription) -> ActiveSubscription? {
    guard let entry = active.removeValue(forKey: subscription.id) else { return nil }
    resubscriptions.remove(subscription.id)
    entry.onEnd(nil)
    subscriptions.remove(subscription.id, from: entry.handle)
    return isOpen && entry.isConfigured ? entry : nil
  }
}

extension Subscription {
  init(_ entry: ActiveSubscription, id: UInt64) {
    self.init(handle: entry.handle, kind: entry.kind, configuration: entry.configuration?.handle, id: id)
  }
}
