import ATT
import BluetoothCore
import EventLoop

/// How a server sends a value of its own accord (Core Specification Vol 3, Part G, 3.3.3.3).
public enum SubscriptionKind: Hashable, Sendable {
  /// Without an answer.
  case notification
  /// With a confirmation for each; the next comes after it.
  case indication

  /// The value of the Client Characteristic Configuration.
  var configuration: [UInt8] {
    switch self {
    case .notification: [1, 0]
    case .indication: [2, 0]
    }
  }
}

/// Names who listens to a value.
public struct Subscription: Hashable, Sendable {
  public var handle: AttributeHandle
  public var kind: SubscriptionKind
  /// The descriptor that was written.
  public let configuration: AttributeHandle
  let id: UInt64
}

extension GATTClient {
  /// Asks a peripheral to send a value whenever it likes. The sink stands before the peripheral is asked, since
  /// some send before they have answered.
  ///
  /// - Parameters:
  ///   - kind: nil for notifications where they are offered, else indications
  ///   - sink: called on the loop for each value, with its receive time. The view is only valid meanwhile. Nothing
  ///     is copied, allocated or handed to another thread on the way here.
  public func subscribe(
    to characteristic: Characteristic, as kind: SubscriptionKind? = nil,
    sink: @escaping (RawSpan, Instant) -> Void
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
        "Client Characteristic Configuration for \(characteristic.uuid), so nobody can subscribe to it")
    }
    let handle = characteristic.valueHandle
    let id = subscriptions.add(handle, now: EventLoop.shared.now, sink: sink)
    if !subscriptions.isConfigured(handle) {
      do throws(GATTError) {
        try await write(chosen.configuration, to: configuration.handle)
      } catch {
        if subscriptions.remove(id, from: handle), error == .cancelled {
          // The write may be under way; nobody wants what it asks for any more.
          procedures.run {
            WriteValue(configuration.handle, [0, 0])
          } completion: { _ in
          }
        }
        throw error
      }
      subscriptions.setConfigured(handle)
    }
    return Subscription(handle: handle, kind: chosen, configuration: configuration.handle, id: id)
  }

  /// Listens no longer. When nobody does, the peripheral is asked to stop.
  public func unsubscribe(_ subscription: Subscription) async throws(GATTError) {
    sequenceEnds.removeValue(forKey: subscription.id)?.end()
    if subscriptions.remove(subscription.id, from: subscription.handle), isConnected {
      try await write([0, 0], to: subscription.configuration)
    }
  }

  /// The values that a peripheral sends, as a sequence: in order, and bounded.
  ///
  /// - Parameter capacity: how many values may wait to be fetched; after that the oldest are dropped and counted
  public func notifications(
    of characteristic: Characteristic, as kind: SubscriptionKind? = nil, capacity: Int = 256
  ) async throws(GATTError) -> (sequence: NotificationSequence, subscription: Subscription) {
    let (sequence, continuation, dropped) = NotificationSequence.make(capacity: capacity)
    let subscription = try await subscribe(to: characteristic, as: kind) { value, time in
      let notification = Notification(value: Array(value), time: time, droppedBefore: 0)
      if case .dropped = continuation.yield(notification) { dropped.add() }
    }
    if isConnected {
      sequenceEnds[subscription.id] = (subscription.handle, { continuation.finish() })
    } else {
      continuation.finish()
    }
    return (sequence, subscription)
  }
}
