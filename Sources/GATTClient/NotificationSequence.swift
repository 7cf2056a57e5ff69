import ATT
import BluetoothCore
import EventLoop

/// A value that a peripheral has sent in a notification or indication.
public struct Notification: Hashable, Sendable {
  public var value: [UInt8]
  /// The receive time of its packet.
  public var time: Instant
  /// The number of values dropped before this one, because they were not read in time.
  public var droppedBefore: Int
}

/// The values of a subscription in the order of arrival. It holds a bounded number of them: a consumer slower than the
/// peripheral loses the oldest, and gets their number. It ends with the subscription.
public struct NotificationSequence: AsyncSequence, Sendable {
  public typealias Element = Notification
  public typealias Failure = Never

  private let stream: AsyncStream<Notification>
  private let ending: Ending

  /// Why it has ended: the link was lost, or the characteristic is gone. Nil while it is active, and after
  /// unsubscribing.
  public var failure: GATTError? { ending.failure }

  /// The state shared by both ends.
  final class Ending: Sendable {
    private let dropped = Guarded(0)
    private let reason = Guarded<GATTError?>(nil)

    var failure: GATTError? { reason.withLock { $0 } }
    func fail(_ error: GATTError?) { reason.withLock { $0 = error } }
    func addDropped() { dropped.withLock { $0 += 1 } }

    /// The number of values dropped since the last call.
    func takeDropped() -> Int {
      dropped.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<Notification>.Iterator
    let ending: Ending

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
      guard var notification = await base.next(isolation: actor) else { return nil }
      notification.droppedBefore = ending.takeDropped()
      return notification
    }

    public mutating func next() async -> Notification? {
      await next(isolation: #isolation)
    }
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator(), ending: ending)
  }

  /// - Parameter capacity: how many values may wait
  static func make(
    capacity: Int
  ) -> (sequence: NotificationSequence, continuation: AsyncStream<Notification>.Continuation, Ending) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Notification.self, bufferingPolicy: .bufferingNewest(capacity))
    let ending = Ending()
    return (NotificationSequence(stream: stream, ending: ending), continuation, ending)
  }
}
