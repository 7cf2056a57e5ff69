import HaloBluetoothCore

/// The data that a radio or a device sends, as a sequence: advertisements, the values of a characteristic, the events of a
/// connection.
///
/// It is a description of the wanted data. The work begins with the first `next()` of an iterator, and ends with the iteration:
/// when the loop is left, the task is cancelled, or the iterator is released. Requests that have to be sent then, as the end of
/// a subscription, are sent by a task that cannot be cancelled. Each iterator begins anew, and an iterator keeps the connection
/// and the radio alive.
///
/// - **Cancelled**: the iteration ends, as after the last element.
/// - **The link or the radio is lost**: `next()` throws a ``BluetoothError``, and the iteration has ended.
/// - **A reader that is too slow**: the oldest elements are dropped; ``Received/dropped`` counts them.
public struct Values<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = any Error

  /// Begins the work.
  ///
  /// - Returns: ends it; called once, unless the feed has finished
  package typealias Start =
    @BluetoothActor @Sendable (ValueFeed<Element>) async throws(BluetoothError) -> () -> Void

  private let makeFeed: @Sendable () -> ValueFeed<Element>
  private let start: Start

  /// - Parameters:
  ///   - capacity: how many elements may wait to be fetched
  ///   - count: adds to an element how many were dropped before it
  ///   - start: begins the work
  package init(
    keepingNewest capacity: Int,
    counting count: @escaping @Sendable (inout Element, Int) -> Void = { _, _ in },
    _ start: @escaping Start
  ) {
    makeFeed = { ValueFeed(capacity: capacity, count) }
    self.start = start
  }

  /// The elements of a feed that is filled already. They are for one iteration; the remaining ones are for the next.
  init(_ feed: ValueFeed<Element>) {
    makeFeed = { feed }
    start = { _ throws(BluetoothError) in {} }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(iteration: Iteration(makeFeed(), start)) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let iteration: Iteration<Element>

    /// The next element; nil at the end of the iteration.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
      try await iteration.next()
    }

    public mutating func next() async throws -> Element? {
      try await iteration.next()
    }
  }
}

/// One iteration over ``Values``, which begins and ends the work.
@BluetoothActor
private final class Iteration<Element: Sendable> {
  private enum State {
    case new
    case running(stop: () -> Void)
    case over
  }

  private let feed: ValueFeed<Element>
  private let start: Values<Element>.Start
  private var state = State.new

  nonisolated init(_ feed: ValueFeed<Element>, _ start: @escaping Values<Element>.Start) {
    self.feed = feed
    self.start = start
  }

  isolated deinit {
    end()
  }

  func next() async throws(BluetoothError) -> Element? {
    guard !Task.isCancelled else { return end() }
    if case .new = state { try await begin() }
    while case .running = state {
      guard !Task.isCancelled else { break }
      if let element = feed.take() { return element }
      if let ending = feed.ending {
        state = .over
        try ending.get()
        return nil
      }
      await feed.untilReady()
    }
    return end()
  }

  private func begin() async throws(BluetoothError) {
    state = .over
    do throws(BluetoothError) {
      state = .running(stop: try await start(feed))
    } catch  where error.code == .cancelled && Task.isCancelled {
      // The iteration ends.
    }
  }

  /// - Returns: no element
  @discardableResult
  private func end() -> Element? {
    if case .running(let stop) = state, feed.ending == nil { stop() }
    state = .over
    return nil
  }
}

/// The elements of one iteration that wait to be fetched: a bounded number of them, in order.
@BluetoothActor
package final class ValueFeed<Element: Sendable> {
  private let capacity: Int
  private let count: @Sendable (inout Element, Int) -> Void
  private var elements: [Element] = []
  /// The index of the oldest one; those before it are done with.
  private var head = 0
  private var dropped = 0
  private var ready: OneShot<Void>?
  /// How the elements end, after those that wait; nil while there may be more.
  private(set) var ending: Result<Void, BluetoothError>?

  nonisolated init(capacity: Int, _ count: @escaping @Sendable (inout Element, Int) -> Void) {
    self.capacity = max(1, capacity)
    self.count = count
  }

  /// Adds an element. If there are too many, the oldest one is dropped.
  package func send(_ element: Element) {
    guard ending == nil else { return }
    if elements.count - head == capacity {
      head += 1
      dropped += 1
    }
    if head >= capacity { forgetTaken() }
    elements.append(element)
    ready?()
  }

  /// Ends the elements.
  ///
  /// - Parameter error: why; nil if there are no more
  package func finish(_ error: BluetoothError? = nil) {
    guard ending == nil else { return }
    ending = error.map { .failure($0) } ?? .success(())
    ready?()
  }

  fileprivate func take() -> Element? {
    guard head < elements.count else { return nil }
    var element = elements[head]
    head += 1
    if head == elements.count { forgetTaken() }
    count(&element, dropped)
    dropped = 0
    return element
  }

  private func forgetTaken() {
    elements.removeFirst(head)
    head = 0
  }

  fileprivate func untilReady() async {
    await awaitCallback(unless: head < elements.count || ending != nil) {
      (done: @escaping (Result<Void, Never>) -> Void) in
      let ready = OneShot { done(.success(())) }
      self.ready = ready
      return { ready() }
    }
  }
}

/// A value that a device has sent.
public struct Received<Value: Sendable>: Sendable {
  public let value: Value
  /// When its packet was received, by the clock of the radio.
  public let time: Instant
  /// How many values before it were dropped, as they were not fetched in time.
  public internal(set) var dropped = 0
  /// How many values before it could not be decoded; an iteration over bytes (`CharacteristicID<[UInt8]>`) gets those, too.
  public let undecodable: Int
  /// How long nothing could be received before it, as the link was lost and made again; nil for most values.
  public let gap: Duration?
}

extension Received: Equatable where Value: Equatable {}
