import HaloBluetoothCore

extension RingClient {
  /// The timeout for the first sample.
  package static let firstSampleDeadline = Duration.seconds(3)

  /// Starts the raw stream, and returns when the first sample is there (ring reference, 5).
  ///
  /// The ring sends all of its sub-types; they cannot be selected. It continues until ``stopRawStream()``, until the
  /// ring is put on its charger, or until another measurement takes the sensor.
  ///
  /// - Parameter sink: called on the loop for each sample, the first one included, with the time at which its packet
  ///   was received. Nothing is copied, allocated or handed to another thread on the way here.
  /// - Throws: `.streamRefused` if the ring refuses, `.noData` if it does not answer
  package func startRawStream(sink: @escaping (RawSample, Instant) -> Void) async throws(RingError) {
    leaveCountedStream()
    let dispatcher = self.dispatcher
    let hasBegun = try await awaitCallback { (done: @escaping (Result<Bool?, RingError>) -> Void) in
      let end = OneShot<Result<Bool?, RingError>> { result in
        // The samples go directly from the frame to the sink from here on.
        dispatcher.onSample = result == .success(true) ? sink : nil
        done(result)
      }
      end.expire(after: RingClient.firstSampleDeadline, in: timers, with: .success(nil))
      dispatcher.onSample = { sample, time in
        let isRefused = sample == .refused
        end(.success(!isRefused))
        if !isRefused { sink(sample, time) }
      }
      dispatcher.whenClosed { error in
        dispatcher.onSample = nil
        end(.failure(error))
      }
      try? dispatcher.post(RawControl.start)
      return { end(.failure(.cancelled)) }
    }
    switch hasBegun {
    case true?: return
    case false?: throw .streamRefused(battery: try? await battery())
    case nil:
      throw .noData(seconds: RingClient.firstSampleDeadline.inSeconds, battery: try? await battery())
    }
  }

  /// Stops the raw stream: the sensor's light goes out. Samples still in transit are dropped. Returns when the ring has
  /// confirmed the commands, within two seconds, or half a second after they were sent to a ring that confirms none; a link
  /// that is gone needs none. Cancelling the task does not cancel this, as the light would stay on.
  package func stopRawStream() async {
    dispatcher.onSample = nil
    guard connection.isConnected else { return }
    // Which of the two is needed depends on the firmware; neither is answered (ring reference, 5.1).
    for frame in RawControl.stopSequence { try? dispatcher.post(frame) }
    await written(within: .seconds(2))
    if !confirmsFrames { await timers.sleep(for: .milliseconds(500)) }
  }

  /// Waits until the ring has confirmed all posted frames, as far as it does; also in a task that is cancelled.
  func written(within time: Duration) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      whenWritten(within: time) { continuation.resume() }
    }
  }

  /// The same for callers that cannot wait.
  func whenWritten(within time: Duration, _ action: @escaping () -> Void) {
    guard !gatt.isIdle else { return action() }
    let end = OneShot<Void> { _ in action() }
    end.expire(after: time, in: timers, with: ())
    gatt.whenIdle { end() }
  }
}

/// A value received from a ring.
package enum RingTraffic: Hashable, Sendable {
  case frame(RingFrame)
  case bulk(BulkFrame)
  /// No frame: of the wrong length, or with a wrong checksum.
  case unreadable([UInt8])
}

/// For exploration.
extension RingClient {
  /// Delivers everything that the ring sends, answers and samples included, until the link ends. Returns when it has
  /// subscribed.
  ///
  /// - Parameter sink: called on the loop, with the receive time
  package func watch(_ sink: @escaping (RingTraffic, Instant) -> Void) async throws(RingError) {
    _ = try await RingError.of(
      await gatt.subscribe(to: commandNotify) { value, time in
        sink((try? RingFrame(parsing: value)).map { .frame($0) } ?? .unreadable(Array(value)), time)
      })
    do throws(RingError) {
      try await openBulk()
    } catch .noBulkService {
      return
    }
    guard let bulkNotify else { return }
    var assembler = BulkAssembler()
    _ = try await RingError.of(
      await gatt.subscribe(to: bulkNotify) { value, time in
        switch assembler.receive(value, at: time) {
        case .frame(let frame): sink(.bulk(frame), time)
        case .raw(let frame): sink(.frame(frame), time)
        case .dropped: sink(.unreadable(Array(value)), time)
        case .incomplete: break
        }
      })
  }

  /// Sends one message without waiting for an answer.
  ///
  /// - Throws: `.dangerous` for frames that are never sent, `.noBulkService`
  package func send(_ message: RingMessage) async throws(RingError) {
    if let danger = message.danger { throw .dangerous(danger) }
    switch message {
    case .frame(let frame): try dispatcher.post(frame)
    case .bulk(let id, let payload):
      try await openBulk()
      sendBulk(id, payload: payload)
    }
    await written(within: .seconds(2))
  }
}
