import ATT
import BluetoothCore

/// How a server sends a value (Core Specification Vol 3, Part G, 3.3.3.3).
public enum SubscriptionKind: Hashable, Sendable {
  /// Without an answer.
  case notification
  /// With a confirmation for each; the next is sent after it.
  case indication

  /// The value of the Client Characteristic Configuration.
  var configuration: [UInt8] {
    switch self {
    case .notification: [1, 0]
    case .indication: [2, 0]
    }
  }
}

/// Identifies a subscriber to a value.
public struct Subscription: Hashable, Sendable {
  /// The handle of the value, as it was when this was made; see ``GATTClient/onSubscriptionMoved``.
  public var handle: AttributeHandle
  public var kind: SubscriptionKind
  /// The descriptor that was written.
  public let configuration: AttributeHandle
  let id: UInt64

  public static func == (left: Self, right: Self) -> Bool { left.id == right.id }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A subscription as stored by the client, from before the write that enables it until it ends.
struct ActiveSubscription {
  let uuid: BluetoothUUID
  let kind: SubscriptionKind
  var handle: AttributeHandle
  var configuration: AttributeHandle
  /// Identifies the characteristic after a change; nil if it was not discovered on this link.
  var name: AttributePlaces.Name?
  /// Whether the server has confirmed to send.
  var isConfigured = false
  let sink: (RawSpan, Instant) -> Void
  /// Gets the reason; nil if it was unsubscribed.
  let onEnd: (BluetoothError?) -> Void
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
  public func subscribe(
    to characteristic: Characteristic, as kind: SubscriptionKind? = nil,
    onEnd: ((BluetoothError) -> Void)? = nil, sink: @escaping (RawSpan, Instant) -> Void
  ) async throws(BluetoothError) -> Subscription {
    try await awaitCallback { (done: @escaping (Result<Subscription, BluetoothError>) -> Void) in
      subscribe(to: characteristic, as: kind, onEnd: onEnd, sink: sink, completion: done)
    }
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``. Values may arrive before `completion` is called.
  ///
  /// - Returns: a closure that cancels the request
  @discardableResult
  public func subscribe(
    to characteristic: Characteristic, as kind: SubscriptionKind? = nil,
    onEnd: ((BluetoothError) -> Void)? = nil, sink: @escaping (RawSpan, Instant) -> Void,
    completion: @escaping (Result<Subscription, BluetoothError>) -> Void
  ) -> () -> Void {
    subscribe(to: characteristic, kind, onEnd: { if let reason = $0 { onEnd?(reason) } }, sink, completion)
  }

  private func subscribe(
    to characteristic: Characteristic, _ kind: SubscriptionKind?, onEnd: @escaping (BluetoothError?) -> Void,
    _ sink: @escaping (RawSpan, Instant) -> Void,
    _ completion: @escaping (Result<Subscription, BluetoothError>) -> Void
  ) -> () -> Void {
    let offered = characteristic.properties
    let chosen = kind ?? (offered.contains(.notify) ? .notification : .indication)
    guard offered.contains(chosen == .notification ? .notify : .indicate) else {
      let what = kind == nil ? "notifications or indications" : "\(chosen)s"
      completion(.failure(.gatt(.notSupported(characteristic.uuid, what))))
      return {}
    }
    let cancellation = Cancellation()
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
          return completion(.failure(.gatt(.notFound(missing))))
        }
        let entry = ActiveSubscription(
          uuid: characteristic.uuid, kind: chosen, handle: characteristic.valueHandle,
          configuration: configuration.handle, name: places.name(at: characteristic.valueHandle), sink: sink,
          onEnd: onEnd)
        enable(entry, configuration, cancellation, completion)
      }
    }
    if !isDiscovered { cancellation.action = cancelDiscovery }
    return { cancellation() }
  }

  private func enable(
    _ entry: ActiveSubscription, _ configuration: Descriptor, _ cancellation: Cancellation,
    _ completion: @escaping (Result<Subscription, BluetoothError>) -> Void
  ) {
    let handle = entry.handle
    let id = subscriptions.newID()
    active[id] = entry
    subscriptions.add(id, handle, now: timers.current, sink: entry.sink)
    let finish = { [self] in
      active[id]?.isConfigured = true
      keepHandles()
      completion(.success(Subscription(entry, id: id)))
    }
    if subscriptions.isConfigured(handle) { return finish() }
    let count = trust.changeCount
    cancellation.action = write(entry.kind.configuration, to: configuration) { [self] result in
      var result = result
      // The response may belong to the attribute that is now at this handle.
      if case .success = result, trust.hasChanged(HandleRange(handle, handle), since: count) {
        result = .failure(.gatt(.servicesChanged))
      }
      switch result {
      case .success:
        subscriptions.setConfigured(handle)
        finish()
      case .failure(let error):
        let wasHere = active.removeValue(forKey: id) != nil
        if subscriptions.remove(id, from: handle), wasHere, error == .gatt(.cancelled) {
          // The write may be pending; its result is no longer needed.
          post([0, 0], to: configuration.handle)
        }
        completion(.failure(error))
      }
    }
  }

  /// Removes a subscriber. With the last one, notifications are disabled.
  public func unsubscribe(_ subscription: Subscription) async throws(BluetoothError) {
    guard let handle = remove(subscription) else { return }
    try await write([0, 0], to: handle)
  }

  /// The same for callers that do not wait; see ``run(_:completion:)``.
  public func unsubscribe(
    _ subscription: Subscription, completion: @escaping (Result<Void, BluetoothError>) -> Void
  ) {
    guard let handle = remove(subscription) else { return completion(.success(())) }
    let configuration = Descriptor(uuid: GATTUUID.clientCharacteristicConfiguration, handle: handle)
    _ = write([0, 0], to: configuration, completion: completion)
  }

  /// Removes a subscriber without a request: its characteristic is not where it was.
  package func drop(_ subscription: Subscription) { _ = remove(subscription) }

  /// - Returns: the configuration to write; nil if there are other subscribers, or no link
  private func remove(_ subscription: Subscription) -> AttributeHandle? {
    guard let entry = active.removeValue(forKey: subscription.id) else { return nil }
    displaced.remove(subscription.id)
    entry.onEnd(nil)
    guard subscriptions.remove(subscription.id, from: entry.handle), isConnected else { return nil }
    return entry.configuration
  }

  /// The values that a peripheral sends, as a sequence: in order, and bounded. It ends with the subscription; the
  /// reason is in ``NotificationSequence/failure``.
  ///
  /// - Parameters:
  ///   - characteristic: as returned by a discovery
  ///   - kind: nil for notifications where they are supported, otherwise indications
  ///   - capacity: how many values may wait to be fetched; after that the oldest are dropped and counted
  public func notifications(
    of characteristic: Characteristic, as kind: SubscriptionKind? = nil, capacity: Int = 256
  ) async throws(BluetoothError) -> (sequence: NotificationSequence, subscription: Subscription) {
    let (sequence, continuation, ending) = NotificationSequence.make(capacity: capacity)
    let end = { (reason: BluetoothError?) in
      ending.fail(reason)
      continuation.finish()
    }
    let sink = { (value: RawSpan, time: Instant) in
      let notification = ReceivedValue(value: Array(value), time: time, droppedBefore: 0)
      if case .dropped = continuation.yield(notification) { ending.addDropped() }
    }
    let subscription = try await awaitCallback {
      (done: @escaping (Result<Subscription, BluetoothError>) -> Void) in
      subscribe(to: characteristic, kind, onEnd: end, sink, done)
    }
    return (sequence, subscription)
  }
}

extension Subscription {
  init(_ entry: ActiveSubscription, id: UInt64) {
    self.init(handle: entry.handle, kind: entry.kind, configuration: entry.configuration, id: id)
  }
}
