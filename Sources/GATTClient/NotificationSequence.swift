import ATT
import BluetoothCore
import Synchronization

/// A value that a peripheral has sent in a notification or indication.
public struct ReceivedValue: Hashable, Sendable {
  /// A copy of the value.
  public var value: [UInt8]
  /// The receive time of its packet.
  public var time: Instant
  /// The number of values dropped before this one, because they were not read in time.
  public var droppedBefore: Int
}

/// The values of a subscription in the order of arrival. It holds a bounded number of them: a consumer slower than the
/// peripheral loses the oldest, and gets their number. It ends with the subscription.
public struct NotificationSequence: AsyncSequence, Sendable {
  public typealias Element = ReceivedValue
  public typealias Failure = Never

  private let stream: AsyncStream<ReceivedValue>
  private let ending: Ending

  /// Why it has ended: the link was lost, or the characteristic is gone. Nil while it is active, and after
  /// unsubscribing.
  public var failure: GATTError? { ending.failure }

  /// The state shared by both ends.
  final class Ending: Sendable {
    private final class Reason: Sendable {
      let error: GATTError

      init(_ error: GATTError) {
        self.error = error
      }
    }

    private let dropped = Atomic(0)
    private let reason = AtomicLazyReference<Reason>()

    var failure: GATTError? { reason.load()?.error }

    /// The first error counts.
    func fail(_ error: GATTError?) {
      if let error { _ = reason.storeIfNil(Reason(error)) }
    }

    func addDropped() { dropped.add(1, ordering: .relaxed) }

    /// The number of values dropped since the last call.
    func takeDropped() -> Int { dropped.exchange(0, ordering: .relaxed) }
  }

  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ReceivedValue>.Iterator
    let ending: Ending

    public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedValue? {
      guard var notification = await base.next(isolation: actor) else { return nil }
      notification.droppedBefore = ending.takeDropped()
      return notification
    }

    public mutating func next() async -> ReceivedValue? {
      await next(isolation: #isolation)
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator(), ending: ending)
  }

  /// - Parameter capacity: how many values may wait
  static func make(
    capacity: Int
  ) -> (sequence: NotificationSequence, continuation: AsyncStream<ReceivedValue>.Continuation, Ending) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: ReceivedValue.self, bufferingPolicy: .bufferingNewest(capacity))
    let ending = Ending()
    return (NotificationSequence(stream: stream, ending: ending), continuation, ending)
  }
}
