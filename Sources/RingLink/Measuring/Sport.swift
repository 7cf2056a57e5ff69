import BluetoothCore

/// Begins, pauses or ends a sport session (ring reference, 4.14).
public struct SportControl: FrameRecord {
  /// 1 start, 2 pause, 3 resume, 4 end.
  public var action: UInt8 = 1
  /// A raw value of ``Sport``.
  public var sport: UInt8 = 4

  public init() {}

  /// The ``action`` that ends a session.
  public static let endAction: UInt8 = 4

  /// The names of the kinds of exercise, by their number.
  public static let sports = [4: "walk", 7: "run", 8: "hike", 9: "cycle", 10: "other"]

  public static let fields: [RecordField<Self>] = [
    RecordField("action", \.action, at: 1, words: [1: "start", 2: "pause", 3: "resume", 4: "end"]),
    RecordField("sport", \.sport, at: 2, words: sports),
  ]
}

/// The data that a ring sends each second of a sport session. One source only.
public struct SportUpdate: FrameRecord {
  /// A raw value of ``Sport``.
  public var sport: UInt8 = 0
  public var status: UInt8 = 0
  /// The duration of the session, in seconds.
  public var seconds: UInt16 = 0
  /// The heart rate, in beats per minute.
  public var beatsPerMinute: UInt8 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0
  /// The steps of the session.
  public var steps: UInt32 = 0
  /// The distance of the session, in meters.
  public var meters: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("sport", \.sport, at: 1, words: SportControl.sports),
    RecordField("status", \.status, at: 2),
    RecordField("duration", \.seconds, at: 3, .uint16LittleEndian, .seconds),
    RecordField("heart-rate", \.beatsPerMinute, at: 5, .uint8, .beatsPerMinute),
    RecordField("calories", \.calories, at: 6, .uint24BigEndian, .calories),
    RecordField("steps", \.steps, at: 9, .uint24BigEndian, .steps),
    RecordField("distance", \.meters, at: 12, .uint24BigEndian, .meters),
  ]
}

/// The activity of a sport session (ring reference, 4.14).
public enum Sport: UInt8, Hashable, Sendable, CaseIterable {
  case walk = 4
  case run = 7
  case hike = 8
  case cycle = 9
  case other = 10
}

extension Ring {
  /// After this time without data, a sport session is over: rings send data every second.
  static let sportSilence = Duration.seconds(10)

  /// Begins a sport session, and ends it in order when the task is cancelled. It has no deadline, but ends when the ring
  /// sends nothing for ten seconds.
  ///
  /// - Parameters:
  ///   - sport: the kind of exercise
  ///   - sink: called on the loop once a second with what the ring counts
  /// - Throws: `.cancelled` in the ordinary course; `.refused` by rings that have no sessions, `.sportEnded` if the ring
  ///   falls silent, `.disconnected`
  public func exercise(
    _ sport: Sport, sink: @escaping (SportUpdate, Instant) -> Void
  ) async throws(RingError) {
    var control = SportControl()
    control.sport = sport.rawValue
    let timers = self.timers
    let dispatcher = self.dispatcher
    let command = CommandTable.sportUpdate.command
    var silence: Timers.Token?
    var end: ((RingError) -> Void)?
    func expect() {
      timers.cancel(silence)
      silence = timers.schedule(after: Ring.sportSilence) {
        end?(.sportEnded(seconds: Ring.sportSilence.inSeconds))
      }
    }
    // The ring may report on the session before it has answered.
    dispatcher.listen(to: command) { frame, time in
      expect()
      if let update = try? CommandTable.sportUpdate.value(frame) { sink(update, time) }
    }
    defer {
      dispatcher.listen(to: command, nil)
      timers.cancel(silence)
    }
    let start = control
    do throws(RingError) {
      _ = try await request(CommandTable.sport, start)
      try await awaitCallback { (done: @escaping (Result<Void, RingError>) -> Void) in
        end = { done(.failure($0)) }
        expect()
        dispatcher.whenClosed { end?($0) }
        return { end?(.cancelled) }
      }
    } catch {
      if case .refused = error { throw error }
      control.action = SportControl.endAction
      // The task may be cancelled; the stop command is sent nevertheless, and the ring gets the time to answer.
      await finish(CommandTable.sport.request(control))
      throw error
    }
  }

  /// Sends a command that ends an activity, and waits until it is answered or timed out, even if the task is cancelled.
  private func finish(_ frame: RingFrame) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      dispatcher.start(
        RingExchange(.frame(frame), accept: { _ in .done }) { _ in continuation.resume() })
    }
  }
}
