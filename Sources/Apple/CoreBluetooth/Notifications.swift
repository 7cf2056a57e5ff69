internal import ATT
internal import HaloGATT
internal import HaloBluetoothCore

/// The notifications of a program on one link. Requests for one value are carried out one after the other.
@BluetoothActor
final class Notifications {
  private struct Value {
    var subscription: Subscription?
    var isBusy = false
    var waiting: [() -> Void] = []
  }

  private let client: GATTClient
  /// By the handle of the value.
  private var values: [AttributeHandle: Value] = [:]
  /// Whether the program has left the link, which may stay for others.
  private var hasEnded = false

  init(_ client: GATTClient) {
    self.client = client
  }

  /// Begins or ends notifications, after the previous request for the same value.
  func set(
    _ isWanted: Bool, _ characteristic: Characteristic, sink: @escaping (RawSpan, Instant) -> Void,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    let handle = characteristic.valueHandle
    let state = values[handle] ?? Value()
    guard !state.isBusy else {
      values[handle]?.waiting.append { [weak self] in
        guard let self else { return completion(.failure(.cancelled)) }
        set(isWanted, characteristic, sink: sink, completion: completion)
      }
      return
    }
    guard isWanted != (state.subscription != nil) else { return completion(.success(())) }
    values[handle] = state
    values[handle]?.isBusy = true
    if let subscription = state.subscription {
      client.unsubscribe(subscription) { [weak self] result in
        completion(result)
        self?.settle(handle, nil)
      }
    } else {
      _ = client.subscribe(to: characteristic, sink: sink) { [weak self, client] result in
        completion(result.map { _ in })
        guard let self, !hasEnded else {
          // Left in between; the link may stay.
          if case .success(let subscription) = result { client.unsubscribe(subscription) { _ in } }
          return
        }
        settle(handle, try? result.get())
      }
    }
  }

  private func settle(_ handle: AttributeHandle, _ subscription: Subscription?) {
    guard let waiting = values[handle]?.waiting else { return }
    values[handle] = subscription.map { Value(subscription: $0) }
    for action in waiting { action() }
  }

  /// A characteristic that is discovered again is subscribed to again by the program.
  func end(in range: HandleRange) {
    for (handle, state) in values where range.contains(handle) {
      if let subscription = state.subscription { client.unsubscribe(subscription) { _ in } }
      if !state.isBusy { values[handle] = nil }
    }
  }

  /// The program leaves a link that may stay for others.
  func end() {
    hasEnded = true
    let left = values
    values = [:]
    for case let subscription? in left.values.map(\.subscription) {
      client.unsubscribe(subscription) { _ in }
    }
  }
}
