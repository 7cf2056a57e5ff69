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
  let onEnd: (GATTError?) -> Void
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
    onEnd: ((GATTError) -> Void)? = nil, sink: @escaping (RawSpan, Instant) -> Void
  ) async throws(GATTError) -> Subscription {
    try await subscribe(to: characteristic, kind, onEnd: { if let reason = $0 { onEnd?(reason) } }, sink)
  }

  private func subscribe(
    to characteristic: Characteristic, _ kind: SubscriptionKind?, onEnd: @escaping (GATTError?) -> Void,
    _ sink: @escaping (RawSpan, Instant) -> Void
  ) async throws(GATTError) -> Subscription {
    let offered = characteristic.properties
    let chosen = kind ?? (offered.contains(.notify) ? .notification : .indication)
    guard offered.contains(chosen == .notification ? .notify : .indicate) else {
      throw .notSupported(
        characteristic.uuid, kind == nil ? "notifications or indications" : "\(chosen)s")
    }
    let descriptors = try await discoverDescriptors(of: characteristic)
    guard
      let configuration = descriptors.first(where: { $0.uuid == GATTUUID.clientCharacteristicConfiguration })
    else {
      throw .notFound(
        "Client Characteristic Configuration for \(characteristic.uuid), so it has no subscriptions")
    }
    let handle = characteristic.valueHandle
    let id = subscriptions.newID()
    active[id] = ActiveSubscription(
      uuid: characteristic.uuid, kind: chosen, handle: handle, configuration: configuration.handle,
      name: places.name(at: handle), sink: sink, onEnd: onEnd)
    subscriptions.add(id, handle, now: timers.current, sink: sink)
    if !subscriptions.isConfigured(handle) {
      let count = trust.changeCount
      do throws(GATTError) {
        try await write(chosen.configuration, to: configuration)
        // The response may belong to the attribute that is now at this handle.
        if trust.hasChanged(HandleRange(handle, handle), since: count) { throw .servicesChanged }
      } catch {
        let wasHere = active.removeValue(forKey: id) != nil
        if subscriptions.remove(id, from: handle), wasHere, error == .cancelled {
          // The write may be pending; its result is no longer needed.
          post([0, 0], to: configuration.handle)
        }
        throw error
      }
      subscriptions.setConfigured(handle)
    }
    active[id]?.isConfigured = true
    keepHandles()
    return Subscription(
      handle: handle, kind: chosen, configuration: configuration.handle, id: id)
  }

  /// Removes a subscriber. With the last one, notifications are disabled.
  public func unsubscribe(_ subscription: Subscription) async throws(GATTError) {
    guard let entry = active.removeValue(forKey: subscription.id) else { return }
    displaced.remove(subscription.id)
    entry.onEnd(nil)
    if subscriptions.remove(subscription.id, from: entry.handle), isConnected {
      try await write([0, 0], to: entry.configuration)
    }
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
  ) async throws(GATTError) -> (sequence: NotificationSequence, subscription: Subscription) {
    let (sequence, continuation, ending) = NotificationSequence.make(capacity: capacity)
    let end = { (reason: GATTError?) in
      ending.fail(reason)
      continuation.finish()
    }
    let subscription = try await subscribe(to: characteristic, kind, onEnd: end) { value, time in
      let notification = ReceivedValue(value: Array(value), time: time, droppedBefore: 0)
      if case .dropped = continuation.yield(notification) { ending.addDropped() }
    }
    return (sequence, subscription)
  }
}

extension Subscription {
  init(_ entry: ActiveSubscription, id: UInt64) {
    self.init(handle: entry.handle, kind: entry.kind, configuration: entry.configuration, id: id)
  }
}
