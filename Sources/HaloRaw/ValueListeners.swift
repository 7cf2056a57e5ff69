import HaloGATT
import HaloBluetoothCore

/// A listener to a characteristic, over all links of a connection.
@BluetoothActor
final class ValueListener {
  fileprivate let place: Place
  fileprivate let sink: (RawSpan, Instant, Duration?) -> Void
  fileprivate let fail: (BluetoothError) -> Void
  /// The link on which it is subscribed, and the subscription.
  fileprivate var live: CurrentLink?
  fileprivate var subscription: Subscription?
  /// Since when nothing could be received; nil while the link is there.
  fileprivate var lossTime: Instant?
  /// How long nothing could be received before the next value.
  fileprivate var gap: Duration?

  fileprivate init(
    _ place: Place, _ sink: @escaping (RawSpan, Instant, Duration?) -> Void,
    _ fail: @escaping (BluetoothError) -> Void
  ) {
    self.place = place
    self.sink = sink
    self.fail = fail
  }

  /// Values can be received again from this time on.
  fileprivate func resumed(at time: Instant) {
    if let loss = lossTime.take() { gap = time - loss }
  }
}

/// All listeners to the values of a device. They are subscribed again on each new link.
@BluetoothActor
final class ValueListeners {
  private var listeners: [ValueListener] = []

  nonisolated init() {}

  /// Begins to listen, and returns when the device has confirmed the subscription.
  ///
  /// - Parameters:
  ///   - place: the characteristic
  ///   - core: the links
  ///   - sink: gets each value, its time, and for the first one after a loss how long nothing could be received
  ///   - fail: called when no more values will come
  func add(
    _ place: Place, on core: ConnectionCore, sink: @escaping (RawSpan, Instant, Duration?) -> Void,
    fail: @escaping (BluetoothError) -> Void
  ) async throws(BluetoothError) -> ValueListener {
    let listener = ValueListener(place, sink, fail)
    listeners.append(listener)
    do throws(BluetoothError) {
      try await core.perform(repeats: { true }) { live throws(StackError) in
        try await self.subscribe(listener, live)
      }
      return listener
    } catch {
      remove(listener)
      throw error
    }
  }

  /// Ends a listener; its subscription is ended by a request without a waiting task.
  func remove(_ listener: ValueListener) {
    listeners.removeAll { $0 === listener }
    guard let live = listener.live, let subscription = listener.subscription else { return }
    listener.subscription = nil
    live.gatt.unsubscribe(subscription) { _ in }
  }

  private func subscribe(_ listener: ValueListener, _ live: CurrentLink) async throws(StackError) {
    // A new link may have been opened for it.
    guard listener.live !== live else { return }
    let characteristic = try await live.characteristic(listener.place)
    let subscription = try await live.gatt.subscribe(to: characteristic) { [weak self, weak listener] error in
      // The end of the link is reported to all.
      guard let self, let listener, error.isAboutAttribute else { return }
      end(listener, BluetoothError(error))
    } sink: { [unowned listener] value, time in
      // The first value may be there before this function goes on.
      listener.resumed(at: time)
      listener.sink(value, time, listener.gap.take())
    }
    guard listeners.contains(where: { $0 === listener }) else {
      return live.gatt.unsubscribe(subscription) { _ in }
    }
    listener.subscription = subscription
    listener.live = live
    listener.resumed(at: live.link.timers.now)
  }

  private func end(_ listener: ValueListener, _ error: BluetoothError) {
    listeners.removeAll { $0 === listener }
    listener.subscription = nil
    listener.fail(error)
  }

  /// Subscribes all again, on a new link. The ones whose characteristic is gone are ended.
  func open(_ live: CurrentLink) async throws(StackError) {
    for listener in listeners {
      do throws(StackError) {
        try await subscribe(listener, live)
      } catch let error where error.isAboutAttribute {
        end(listener, BluetoothError(error))
      }
    }
  }

  /// The link is lost.
  func lost(at time: Instant) {
    for listener in listeners {
      listener.subscription = nil
      listener.lossTime = listener.lossTime ?? time
    }
  }

  /// There will be no other link.
  func finish(_ error: BluetoothError) {
    let ended = listeners
    listeners = []
    for listener in ended {
      // The link may stay, for others.
      if let subscription = listener.subscription.take() {
        listener.live?.gatt.unsubscribe(subscription) { _ in }
      }
      listener.fail(error)
    }
  }
}

extension StackError {
  /// Whether it is about one attribute, and not about the link.
  fileprivate var isAboutAttribute: Bool {
    ![.closed, .timedOut, .cancelled, .servicesChanged].contains(code)
  }
}

/// The iterations that share a source: each gets every element, in the order in which they have begun.
@BluetoothActor
struct Feeds<Element: Sendable> {
  private var feeds: [UInt64: ValueFeed<Element>] = [:]
  private var next: UInt64 = 0

  nonisolated init() {}

  var isEmpty: Bool { feeds.isEmpty }

  /// - Returns: its identifier
  mutating func add(_ feed: ValueFeed<Element>) -> UInt64 {
    defer { next += 1 }
    feeds[next] = feed
    return next
  }

  /// - Returns: whether it was there
  @discardableResult
  mutating func remove(_ id: UInt64) -> Bool { feeds.removeValue(forKey: id) != nil }

  func send(_ element: Element) {
    for id in feeds.keys.sorted() { feeds[id]?.send(element) }
  }

  /// Ends all, and removes them.
  ///
  /// - Parameter error: why; nil if there are no more elements
  mutating func finish(_ error: BluetoothError? = nil) {
    let ended = feeds
    feeds = [:]
    for id in ended.keys.sorted() { ended[id]?.finish(error) }
  }
}
