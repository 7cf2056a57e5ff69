import BluetoothCore
import EventLoop
import GATTClient

extension Ring {
  /// How long a ring may take to its first sample.
  public static let firstSampleDeadline = Duration.seconds(3)

  /// Starts the raw stream, and returns when the first sample is there (ring reference, 5).
  ///
  /// The ring sends all of its sub-types; there is no way to ask for one. It goes on until ``stopRawStream()``, until it
  /// is put on its charger, or until another measurement takes the sensor.
  ///
  /// - Parameter sink: called on the loop for each sample, the first one included, with the time at which its packet
  ///   was received. Nothing is copied, allocated or handed to another thread on the way here.
  /// - Throws: `.streamRefused` if the ring says no, `.noData` if it says nothing
  public func startRawStream(sink: @escaping (RawSample, Instant) -> Void) async throws(RingError) {
    let dispatcher = self.dispatcher
    let hasBegun = try await awaitCallback { (done: @escaping (Result<Bool?, RingError>) -> Void) in
      let timers = EventLoop.shared.timers
      let timer = timers.schedule(after: Ring.firstSampleDeadline) {
        dispatcher.onSample = nil
        done(.success(nil))
      }
      dispatcher.onSample = { sample, time in
        timers.cancel(timer)
        guard sample != .refused else {
          dispatcher.onSample = nil
          return done(.success(false))
        }
        // From here on, there is nothing between the frame and the sink.
        dispatcher.onSample = sink
        sink(sample, time)
        done(.success(true))
      }
      dispatcher.whenClosed { error in
        timers.cancel(timer)
        dispatcher.onSample = nil
        done(.failure(error))
      }
      try? dispatcher.post(RawControl.start)
      return {
        timers.cancel(timer)
        dispatcher.onSample = nil
        done(.failure(.cancelled))
      }
    }
    switch hasBegun {
    case true?: return
    case false?: throw .streamRefused(battery: try? await battery())
    case nil:
      throw .noData(seconds: Ring.firstSampleDeadline.inSeconds, battery: try? await battery())
    }
  }

  /// Stops the raw stream: the sensor's light goes out. Samples that are still on their way are dropped. Returns when
  /// the ring has taken the commands; a link that is gone needs none.
  public func stopRawStream() async {
    dispatcher.onSample = nil
    guard client.isConnected else { return }
    // Which of the two is needed depends on the firmware; neither is answered (ring reference, 5.1).
    for frame in RawControl.stopSequence { try? dispatcher.post(frame) }
    await written(within: .seconds(2))
    await EventLoop.shared.sleep(for: .milliseconds(500))
  }

  /// Waits until the ring has taken everything that was posted, as far as it says so; also in a task that is cancelled.
  func written(within time: Duration) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      whenWritten(within: time) { continuation.resume() }
    }
  }

  /// The same for callers that can't wait.
  func whenWritten(within time: Duration, _ action: @escaping () -> Void) {
    guard !client.isIdle else { return action() }
    let timers = EventLoop.shared.timers
    var action: (() -> Void)? = action
    let finish = {
      action?()
      action = nil
    }
    let timer = timers.schedule(after: time) { finish() }
    client.whenIdle {
      timers.cancel(timer)
      finish()
    }
  }

  /// Frames that were of no use so far.
  public var counters: RingDispatcher.Counters { dispatcher.counters }
}
