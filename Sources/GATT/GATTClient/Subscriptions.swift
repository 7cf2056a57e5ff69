import ATT
import HaloBluetoothCore

/// The subscribers of each value, and values that arrived before the subscription.
///
/// Some peripherals notify before they answer the write that enables it, and bonded ones as soon as the link is up.
/// Such values are kept for a short time.
final class Subscriptions {
  typealias Sink = (RawSpan, Instant) -> Void

  private struct Unclaimed {
    var handle: AttributeHandle
    var value: [UInt8]
    var time: Instant
  }

  private struct Request {
    let id: UInt64
    let configuration: ClientConfiguration
    var isConfirmed = false
  }

  static let maximumUnclaimed = 64
  static let unclaimedLifetime = Duration.seconds(2)

  @exclusivity(unchecked) private var sinks = SmallMap<AttributeHandle, [(id: UInt64, sink: Sink)]>()
  /// The last configuration requested of the peripheral, and whether it has confirmed that.
  private var requests: [AttributeHandle: Request] = [:]
  private var unclaimed: [Unclaimed] = []
  private var nextID: UInt64 = 0
  /// The number of values without a subscriber in time.
  private(set) var droppedCount = 0

  /// Whether a subscriber has got a value.
  @exclusivity(unchecked) private(set) var hasDelivered = false

  /// The hot path: a look-up and a call.
  func deliver(_ handle: AttributeHandle, _ value: RawSpan, at time: Instant) {
    if let listeners = sinks[handle] {
      hasDelivered = true
      for listener in listeners { listener.sink(value, time) }
    } else {
      if unclaimed.count == Self.maximumUnclaimed {
        unclaimed.removeFirst()
        droppedCount += 1
      }
      unclaimed.append(Unclaimed(handle: handle, value: Array(value), time: time))
    }
  }

  /// Passes values of `handle` to `sink` from now on, and those that arrived just before.
  ///
  /// - Returns: the id of the subscriber
  func add(_ handle: AttributeHandle, now: Instant, sink: @escaping Sink) -> UInt64 {
    let id = newID()
    add(id, handle, now: now, sink: sink)
    return id
  }

  /// An id for a later subscriber, or for a request.
  func newID() -> UInt64 {
    defer { nextID += 1 }
    return nextID
  }

  /// The same for a subscriber with an id.
  func add(_ id: UInt64, _ handle: AttributeHandle, now: Instant, sink: @escaping Sink) {
    sinks[handle] = (sinks[handle] ?? []) + [(id, sink)]
    let kept = unclaimed.filter { $0.handle == handle && $0.time + Self.unclaimedLifetime >= now }
    unclaimed.removeAll { $0.handle == handle }
    for value in kept { sink(value.value.span.bytes, value.time) }
  }

  func remove(_ id: UInt64, from handle: AttributeHandle) {
    guard var listeners = sinks[handle] else { return }
    listeners.removeAll { $0.id == id }
    if listeners.isEmpty { forget(handle) } else { sinks[handle] = listeners }
  }

  /// The last configuration requested of the peripheral, which is in effect when all requests are answered. Nil if that is not
  /// known, as after a request that it has refused.
  func configurationAskedFor(of handle: AttributeHandle) -> ClientConfiguration? {
    requests[handle]?.configuration
  }

  /// Whether the peripheral has confirmed exactly this configuration, and no other was requested since. A subscriber does not
  /// prove it: the write that enables it may be pending, and may fail.
  func isConfirmed(_ configuration: ClientConfiguration, of handle: AttributeHandle) -> Bool {
    requests[handle].map { $0.configuration == configuration && $0.isConfirmed } ?? false
  }

  /// The peripheral is about to be asked.
  ///
  /// - Returns: the id of the request
  func ask(for configuration: ClientConfiguration, of handle: AttributeHandle) -> UInt64 {
    let request = Request(id: newID(), configuration: configuration)
    if sinks[handle] != nil { requests[handle] = request }
    return request.id
  }

  /// The peripheral has answered a request. It answers them one after the other: only the last one counts.
  func answer(to request: UInt64, of handle: AttributeHandle, isConfirmation: Bool) {
    guard requests[handle]?.id == request else { return }
    if isConfirmation { requests[handle]?.isConfirmed = true } else { requests[handle] = nil }
  }

  /// Discards the unclaimed values in a range whose handles have changed.
  func forgetUnclaimed(in range: HandleRange) {
    unclaimed.removeAll { range.contains($0.handle) }
  }

  private func forget(_ handle: AttributeHandle) {
    sinks[handle] = nil
    requests[handle] = nil
  }

  func removeAll() {
    sinks = SmallMap()
    requests = [:]
    unclaimed = []
  }
}
