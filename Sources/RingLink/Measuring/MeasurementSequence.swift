import BluetoothCore
import EventLoop

/// What a continuous measurement tells, in order. It holds a bounded number of events: who is slower loses the oldest.
/// It ends when it was stopped, and throws when the measurement fails.
///
/// ```swift
/// for try await (event, time) in ring.heartRates() {
///   if case .reading(let reading) = event { print(reading.value) }
/// }
/// ```
public struct MeasurementSequence: AsyncSequence, Sendable {
  public typealias Element = (event: MeasurementEvent, time: Instant)
  public typealias Failure = RingError

  fileprivate enum Item: Sendable {
    case event(MeasurementEvent, Instant)
    case failure(RingError)
  }

  private let stream: AsyncStream<Item>
  private let control: Control

  /// Holds the way to stop it.
  @BluetoothActor private final class Control {
    var stop: (() -> Void)?

    nonisolated init() {}

    func run() {
      let stop = self.stop
      self.stop = nil
      stop?()
    }
  }

  /// - Parameter start: begins, with the closures that take events and the end; gives a closure that stops it, upon
  ///   which the end is still called
  @BluetoothActor
  init(
    capacity: Int,
    _ start: (
      _ sink: @escaping (MeasurementEvent, Instant) -> Void, _ done: @escaping (RingError?) -> Void
    ) -> () -> Void
  ) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Item.self, bufferingPolicy: .bufferingNewest(Swift.max(1, capacity)))
    let control = Control()
    self.stream = stream
    self.control = control
    var isOver = false
    let stop = start(
      { continuation.yield(.event($0, $1)) },
      { error in
        isOver = true
        control.stop = nil
        if let error { continuation.yield(.failure(error)) }
        continuation.finish()
      })
    if !isOver { control.stop = stop }
    continuation.onTermination = { _ in EventLoop.run { control.run() } }
  }

  /// Ends it: the ring is told to stop, and the sequence is over after what it still holds.
  @BluetoothActor public func stop() { control.run() }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Item>.Iterator

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RingError) -> Element? {
      switch await base.next(isolation: actor) {
      case .event(let event, let time)?: return (event, time)
      case .failure(let error)?: throw error
      case nil: return nil
      }
    }

    public mutating func next() async throws(RingError) -> Element? {
      try await next(isolation: #isolation)
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }
}
