import BluetoothCore
import EventLoop

extension Ring {
  /// How often a ring is told to stay in its camera mode. Nobody knows how long it would by itself.
  static let cameraInterval = Duration.seconds(10)

  /// Hands over what the ring tells by itself, until the task is cancelled or the link is lost. It takes the place of
  /// ``onEvent``.
  ///
  /// - Parameters:
  ///   - camera: whether the ring is to be in camera mode meanwhile, in which it tells when the hand is shaken (ring
  ///     reference, 4.13)
  ///   - sink: called on the loop, with the time at which it came
  /// - Throws: `.cancelled` in the ordinary course, `.disconnected`
  public func listen(
    camera: Bool = false, sink: @escaping (RingEvent, Instant) -> Void
  ) async throws(RingError) {
    let timers = EventLoop.shared.timers
    let dispatcher = self.dispatcher
    dispatcher.onEvent = { sink($0, timers.now.wholeMicroseconds) }
    defer { dispatcher.onEvent = nil }
    var keep: Timers.Token?
    func keepGoing() {
      keep = timers.schedule(after: Ring.cameraInterval) {
        try? dispatcher.post(CommandTable.cameraKeep.frame)
        keepGoing()
      }
    }
    if camera {
      try dispatcher.post(CommandTable.cameraEnter.frame)
      keepGoing()
    }
    do throws(RingError) {
      try await awaitCallback { (done: @escaping (Result<Void, RingError>) -> Void) in
        var done: ((Result<Void, RingError>) -> Void)? = done
        let finish = { (error: RingError) in
          done?(.failure(error))
          done = nil
        }
        dispatcher.whenClosed(finish)
        return { finish(.cancelled) }
      }
    } catch {
      timers.cancel(keep)
      if camera, client.isConnected {
        try? dispatcher.post(CommandTable.cameraLeave.frame)
        await written(within: .seconds(2))
      }
      throw error
    }
  }

  /// What the ring tells by itself, as a sequence that ends with the link. It takes the place of ``onEvent``.
  ///
  /// - Parameter capacity: how many events may wait to be fetched; after that the oldest are dropped
  public func events(capacity: Int = 256) -> AsyncStream<RingEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RingEvent.self, bufferingPolicy: .bufferingNewest(max(1, capacity)))
    dispatcher.onEvent = { continuation.yield($0) }
    dispatcher.whenClosed { _ in continuation.finish() }
    return stream
  }
}
