import ATT
import BluetoothCore
import EventLoop
import Synchronization

/// A value that a peripheral has sent of its own accord.
public struct Notification: Hashable, Sendable {
  public var value: [UInt8]
  /// When its packet was received.
  public var time: Instant
  /// How many values before this one were dropped, because they were not fetched in time.
  public var droppedBefore: Int
}

/// The values of a subscription in the order in which they came. It holds a bounded number of them: who is slower
/// than the peripheral loses the oldest, and is told how many. It ends with the link.
public struct NotificationSequence: AsyncSequence, Sendable {
  public typealias Element = Notification
  public typealias Failure = Never

  private let stream: AsyncStream<Notification>
  private let dropped: DropCount

  /// Counts what has been dropped and not yet been told.
  final class DropCount: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }
    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<Notification>.Iterator
    let dropped: DropCount

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
      guard var notification = await base.next(isolation: actor) else { return nil }
      notification.droppedBefore = dropped.take()
      return notification
    }

    public mutating func next() async -> Notification? {
      await next(isolation: #isolation)
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator(), dropped: dropped)
  }

  /// - Parameter capacity: how many values may wait
  static func make(
    capacity: Int
  ) -> (sequence: NotificationSequence, continuation: AsyncStream<Notification>.Continuation, DropCount) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Notification.self, bufferingPolicy: .bufferingNewest(capacity))
    let dropped = DropCount()
    return (NotificationSequence(stream: stream, dropped: dropped), continuation, dropped)
  }
}
