import HaloBluetoothCore

extension RingClient {
  /// Starts the counted stream, and returns when the first sample is there (ring reference, 5.7). It goes on until
  /// ``stopCountedStream()``, until the link ends, or until another measurement takes the sensor.
  ///
  /// ```swift
  /// var counter = PacketCounter()
  /// try await ring.startCountedStream(.green, onRequest: { counter.requestedAgain() }) { sample, time in
  ///   let step = counter.add(sample)
  ///   print(step.number, sample.raw, step.kind)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - light: the light to measure with; a ring has one at a time
  ///   - deadline: for the first sample
  ///   - onRequest: called whenever the stream was requested again, so that it goes on
  ///   - sink: called on the loop for each sample, the first one included, with the time at which its packet was received.
  ///     Nothing is copied, allocated or handed to another thread on the way here.
  /// - Throws: `.countedStream` if the ring does not stream: most do not know this one
  package func startCountedStream(
    _ light: CountedSample.Light, within deadline: Duration = RingClient.firstSampleDeadline,
    onRequest: (() -> Void)? = nil, sink: @escaping (CountedSample, Instant) -> Void
  ) async throws(RingError) {
    measurement?.stop(because: .measurement(measurement?.kind ?? light.kind, .takenOver(by: light.kind)))
    leaveCountedStream()
    let stream = CountedStream(light, dispatcher, timers, onRequest: onRequest)
    countedStream = stream
    do throws(RingError) {
      try await awaitCallback { (done: @escaping (Result<Void, RingError>) -> Void) in
        stream.start(within: deadline, sink, done)
        return { done(.failure(.cancelled)) }
      }
    } catch {
      leaveCountedStream()
      // Nothing waits for the answer: the next frames may be those of another stream.
      if case .countedStream(_, .refused) = error { throw error }
      try? dispatcher.post(stream.stop)
      throw error
    }
  }

  /// The last frame of the counted stream that held no sample: its status, and when it was received; nil if there was none.
  package var countedStreamStatus: (code: UInt8, time: Instant)? { countedStream?.status }

  /// Stops the counted stream: the sensor's light goes out. Samples still in transit are dropped. Returns when the ring has
  /// answered, or has not within ``RingExchange/usualSilence``; a link that is gone needs no end. Cancelling the task does not
  /// cancel this, as the light would stay on.
  package func stopCountedStream() async {
    guard let stream = countedStream else { return }
    leaveCountedStream()
    guard connection.isConnected else { return }
    await finish(stream.stop)
  }

  /// Requests the counted stream no more: another one takes the sensor from it.
  func leaveCountedStream() {
    countedStream?.end()
    countedStream = nil
  }
}

/// A counted stream that runs: it is requested again before its time on the ring is over.
@BluetoothActor
final class CountedStream {
  let light: CountedSample.Light
  private let dispatcher: RingDispatcher
  private let timers: Timers
  private let onRequest: (() -> Void)?
  private var timer: Timers.Token?
  private var deadline: Timers.Token?
  private(set) var status: (code: UInt8, time: Instant)?
  private var firstSample: OneShot<Result<Void, RingError>>?

  /// How long the ring streams after a request. Two requests may get lost.
  private static let seconds: UInt8 = 60
  private static let requestInterval = Duration.seconds(20)

  init(
    _ light: CountedSample.Light, _ dispatcher: RingDispatcher, _ timers: Timers,
    onRequest: (() -> Void)?
  ) {
    self.light = light
    self.dispatcher = dispatcher
    self.timers = timers
    self.onRequest = onRequest
  }

  /// Sends the request.
  ///
  /// - Parameter done: called with the first sample, or with the reason why there is none
  func start(
    within deadline: Duration, _ sink: @escaping (CountedSample, Instant) -> Void,
    _ done: @escaping (Result<Void, RingError>) -> Void
  ) {
    let dispatcher = self.dispatcher
    let light = self.light
    let end = OneShot<Result<Void, RingError>> { [timers] result in
      timers.cancel(self.deadline)
      // The samples go directly from the frame to the sink from here on.
      if case .success = result { dispatcher.onCountedSample = sink }
      done(result)
    }
    firstSample = end
    // A ring may have an error first, and samples after it.
    var failure: CountedStreamFailure?
    dispatcher.onCountedSample = { sample, time in
      guard sample.light == light else { return }
      guard !sample.isEmpty else { return failure = .empty }
      end(.success(()))
      sink(sample, time)
    }
    dispatcher.listen(to: MeasurementForms.command) { [weak self] frame, time in
      if let refusal = CommandTable.refusal(frame, pending: MeasurementForms.command) {
        end(.failure(.countedStream(light, .refused(refusal.code))))
      } else {
        failure = .status(frame.byte(at: 2))
        self?.status = (frame.byte(at: 2), time)
      }
    }
    self.deadline = timers.schedule(after: deadline) {
      end(.failure(.countedStream(light, failure ?? .silent(seconds: deadline.inSeconds))))
    }
    dispatcher.whenClosed { error in end(.failure(error)) }
    request()
  }

  /// The command that ends it.
  var stop: RingFrame { CommandTable.measurementStop.request(MeasurementStop(light.kind)) }

  private func request() {
    try? dispatcher.post(
      RingFrame(MeasurementForms.command, CountedStreamStart(light, seconds: Self.seconds)))
    timer = timers.schedule(after: Self.requestInterval) { [weak self] in
      guard let self else { return }
      request()
      onRequest?()
    }
  }

  /// Takes no more samples, and requests no more.
  func end() {
    timers.cancel(timer.take())
    dispatcher.onCountedSample = nil
    dispatcher.listen(to: MeasurementForms.command, nil)
    firstSample?(.failure(.cancelled))
  }
}
