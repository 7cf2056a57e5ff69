import HaloBluetoothCore

extension RingClient {
  /// Measures something once; it takes about half a minute. A task that is cancelled stops it.
  ///
  /// - Parameters:
  ///   - kind: the quantity; see ``MeasurementKind/estimate`` for those that no ring can measure
  ///   - isLive: uses the heart rate command of older rings, 0x1E. If a ring refuses the newer one, this is the fallback in any
  ///     case.
  ///   - progress: called on the loop for updates during the measurement, with the time at which they were received
  /// - Returns: the final value; ``MeasurementReading/estimate`` shows whether it is unreliable
  /// - Throws: `.measurement` without a value, `.refused`, `.notAnswered`, `.disconnected`, `.cancelled`
  package func measure(
    _ kind: MeasurementKind, isLive: Bool = false,
    progress: ((MeasurementEvent, Instant) -> Void)? = nil
  ) async throws(RingError) -> MeasurementReading {
    if isLive, kind == .heartRate { return try await firstLiveReading(progress) }
    do throws(RingError) {
      let reading = try await run(session(kind, method: .spot), progress)
      guard let reading else { throw .cancelled }
      return reading
    } catch .refused where kind == .heartRate {
      return try await firstLiveReading(progress)
    }
  }

  /// Older rings have no measurement that ends on its own: the first value is the result.
  private func firstLiveReading(
    _ progress: ((MeasurementEvent, Instant) -> Void)?
  ) async throws(RingError) -> MeasurementReading {
    let session = session(.heartRate, method: .live)
    var result: MeasurementReading?
    _ = try await run(session) { [weak session] event, time in
      if case .reading(let reading) = event {
        result = reading
        session?.stop()
      } else {
        progress?(event, time)
      }
    }
    guard var result else { throw .cancelled }
    result.kind = .heartRate
    return result
  }

  /// Measures heart rate continuously, about once a second after some 16 seconds. It continues until the sequence is
  /// stopped or released.
  ///
  /// - Parameters:
  ///   - isLive: uses the command of older rings, 0x1E. If a ring refuses the newer one, this is the fallback in any
  ///     case.
  ///   - capacity: how many events may wait to be fetched; after that the oldest are dropped
  package func heartRates(isLive: Bool = false, capacity: Int = 256) -> MeasurementSequence {
    MeasurementSequence(capacity: capacity) { sink, done in
      begin(isLive ? .live : .continuous, sink, done)
      return { self.measurement?.stop() }
    }
  }

  /// Ends the running continuous measurement, and returns when the command is sent, within two seconds; also in a cancelled
  /// task.
  package func stopHeartRates() async {
    measurement?.stop()
    await written(within: .seconds(2))
  }

  private func begin(
    _ method: MeasurementSession.Method, _ sink: @escaping (MeasurementEvent, Instant) -> Void,
    _ done: @escaping (RingError?) -> Void
  ) {
    let session = session(.continuousHeartRate, method: method)
    session.onEvent = sink
    session.onEnd = { result in
      if method == .continuous, case .failure(.refused) = result { return self.begin(.live, sink, done) }
      self.whenWritten(within: .seconds(2)) {
        if case .failure(let error) = result { done(error) } else { done(nil) }
      }
    }
    session.start()
  }

  private func session(_ kind: MeasurementKind, method: MeasurementSession.Method) -> MeasurementSession {
    leaveCountedStream()
    // Rings measure one quantity at a time: the caller of the other measurement gets an error.
    measurement?.stop(because: .measurement(measurement?.kind ?? kind, .takenOver(by: kind)))
    let session = MeasurementSession(
      kind, method: method, dispatcher: dispatcher, timers: timers)
    measurement = session
    return session
  }

  private func run(
    _ session: MeasurementSession, _ progress: ((MeasurementEvent, Instant) -> Void)?
  ) async throws(RingError) -> MeasurementReading? {
    session.onEvent = progress
    do throws(RingError) {
      let reading = try await awaitCallback {
        (done: @escaping (Result<MeasurementReading?, RingError>) -> Void) in
        session.onEnd = done
        session.start()
        return { session.stop(because: .cancelled) }
      }
      await written(within: .seconds(2))
      return reading
    } catch {
      await written(within: .seconds(2))
      throw error
    }
  }
}

/// The updates of a continuous measurement, in order. It holds a bounded number of events: a slow consumer loses the
/// oldest. It ends when it is stopped, and throws when the measurement fails.
///
/// ```swift
/// for try await (event, time) in ring.heartRates() {
///   if case .reading(let reading) = event { print(reading.value) }
/// }
/// ```
package struct MeasurementSequence: AsyncSequence, Sendable {
  package typealias Element = (event: MeasurementEvent, time: Instant)
  package typealias Failure = RingError

  fileprivate typealias Item = Result<Element, RingError>

  private let stream: AsyncStream<Item>
  private let control: Control

  /// Holds the way to stop it.
  @BluetoothActor private final class Control {
    var stop: OneShot<Void>?
  }

  /// - Parameter start: begins, with the closures that receive events and the end; returns a closure that stops it,
  ///   after which the end is still called
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
    let stop = OneShot(
      start(
        { continuation.yield(.success(($0, $1))) },
        { error in
          isOver = true
          control.stop = nil
          if let error { continuation.yield(.failure(error)) }
          continuation.finish()
        }))
    if !isOver { control.stop = stop }
    continuation.onTermination = { _ in BluetoothActor.run { control.stop?() } }
  }

  /// Ends it: sends the stop command; the sequence ends after the events that it still holds.
  @BluetoothActor package func stop() { control.stop?() }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Item>.Iterator

    package mutating func next(isolation actor: isolated (any Actor)?) async throws(RingError) -> Element? {
      try await base.next(isolation: actor)?.get()
    }

    package mutating func next() async throws(RingError) -> Element? {
      try await next(isolation: #isolation)
    }
  }

  package func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }
}
