import HaloBluetoothCore

/// A sport session that runs on a ring. It ends when ``RingClient/exercise(_:began:sink:)`` does.
@BluetoothActor
package final class SportSession {
  package let sport: Sport
  package private(set) var isPaused = false

  /// When it began, by the ring's clock; nil if the ring's answer does not contain it.
  package fileprivate(set) var start: RingTime?

  private let ring: RingClient
  /// A ring sends a full ten seconds twice.
  fileprivate var last: SportUpdate?
  private var silence: Timers.Token?
  private var end: ((RingError) -> Void)?

  /// After this time without data, a session that is not paused is over: rings send data every second.
  private static let longestSilence = Duration.seconds(10)

  fileprivate init(_ sport: Sport, on ring: RingClient) {
    self.sport = sport
    self.ring = ring
  }

  /// Pauses it: the ring counts no more. Does nothing if it is paused.
  ///
  /// - Throws: `.refused`, `.notAnswered`, `.disconnected`
  package func pause() async throws(RingError) {
    guard !isPaused else { return }
    isPaused = true
    expectUpdate()
    do throws(RingError) {
      try await send(SportControl.pauseAction)
    } catch {
      isPaused = false
      expectUpdate()
      throw error
    }
  }

  /// Continues it. Does nothing if it is not paused.
  ///
  /// - Throws: `.refused`, `.notAnswered`, `.disconnected`
  package func resume() async throws(RingError) {
    guard isPaused else { return }
    try await send(SportControl.resumeAction)
    isPaused = false
    expectUpdate()
  }

  private func send(_ action: UInt8) async throws(RingError) {
    _ = try await ring.request(CommandTable.sport, SportControl(action, sport))
  }

  /// A paused session may be silent for as long as one likes.
  fileprivate func expectUpdate() {
    ring.timers.cancel(silence)
    guard !isPaused else { return }
    silence = ring.timers.schedule(after: Self.longestSilence) { [self] in
      end?(.sportEnded(seconds: Self.longestSilence.inSeconds))
    }
  }

  /// Waits for the end of the link, of the task, or of the ring's reports.
  fileprivate func waitForEnd() async throws(RingError) {
    try await awaitCallback { (done: @escaping (Result<Void, RingError>) -> Void) in
      end = { done(.failure($0)) }
      expectUpdate()
      ring.dispatcher.whenClosed { [weak self] in self?.end?($0) }
      return { self.end?(.cancelled) }
    }
  }

  fileprivate func leave() {
    ring.timers.cancel(silence)
    end = nil
  }
}

extension RingClient {
  /// Begins a sport session, and ends it in order when the task is cancelled. It has no deadline, but ends when the ring
  /// sends nothing for ten seconds and the session is not paused.
  ///
  /// - Parameters:
  ///   - sport: the kind of exercise
  ///   - began: called once the ring has begun it
  ///   - sink: called on the loop with the ring's counts, each second; while nothing changes, once
  /// - Throws: `.cancelled` in the ordinary course; `.refused` by rings that have no sessions, `.sportEnded` if the ring
  ///   falls silent, `.disconnected`
  package func exercise(
    _ sport: Sport, began: ((SportSession) -> Void)? = nil,
    sink: @escaping (SportUpdate, Instant) -> Void
  ) async throws(RingError) {
    let session = SportSession(sport, on: self)
    let command = CommandTable.sportUpdate.command
    // The ring may report on the session before it has answered.
    dispatcher.listen(to: command) { frame, time in
      session.expectUpdate()
      guard let update = try? CommandTable.sportUpdate.value(frame), update != session.last else { return }
      session.last = update
      sink(update, time)
    }
    defer {
      dispatcher.listen(to: command, nil)
      session.leave()
    }
    do throws(RingError) {
      let reply = try await request(CommandTable.sport, SportControl(SportControl.startAction, sport))
      if reply.seconds > 0 { session.start = RingTime(seconds: Int(reply.seconds)) }
      began?(session)
      try await session.waitForEnd()
    } catch {
      if case .refused = error { throw error }
      // The task may be cancelled; the stop command is sent nevertheless, and the ring gets the time to answer.
      await finish(CommandTable.sport.request(SportControl(SportControl.endAction, sport)))
      throw error
    }
  }

  /// Sends a command that ends an activity, and waits until it is answered or timed out, even if the task is cancelled.
  func finish(_ frame: RingFrame) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      dispatcher.start(
        RingExchange(.frame(frame), accept: { _ in .done }) { _ in continuation.resume() })
    }
  }
}
