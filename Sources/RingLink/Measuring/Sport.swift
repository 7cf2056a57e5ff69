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

  /// The forms of the answer: an echo, or the time at which the session began.
  static let replies = [
    FrameForm("start time", startingWith: [6], SportStart.self), FrameForm("reply", SportControl.self),
  ]

  /// The names of the kinds of exercise, by their number. Rings know more than sixty; these are those whose number a
  /// source states.
  public static let sports = [
    4: "walk", 5: "rope", 7: "run", 8: "hike", 9: "cycle", 10: "other", 20: "climbing", 21: "badminton",
    22: "yoga",
    60: "hiking",
  ]

  public static let fields: [RecordField<Self>] = [
    RecordField("action", \.action, at: 1, words: [1: "start", 2: "pause", 3: "resume", 4: "end"]),
    RecordField("sport", \.sport, at: 2, words: sports),
  ]
}

/// The ring's answer with the time at which the session began.
public struct SportStart: FrameRecord {
  /// In the ring's wall clock, since 1970 as if that were UTC.
  public var seconds: UInt32 = 0

  public init() {}

  public static let fields: [RecordField<Self>] = [
    RecordField("start", \.seconds, at: 3, .uint32LittleEndian, .seconds)
  ]
}

/// The data that a ring sends each second of a sport session (ring reference, 4.14).
public struct SportUpdate: FrameRecord {
  /// A raw value of ``Sport``.
  public var sport: UInt8 = 0
  /// 1 paused, 2 running, 3 not worn; other values are not known.
  public var status: UInt8 = 2
  /// The duration of the session, in seconds.
  public var seconds: UInt16 = 0
  /// The heart rate, in beats per minute.
  public var beatsPerMinute: UInt8 = 0
  /// The steps of the session.
  public var steps: UInt32 = 0
  /// The distance of the session, in meters.
  public var meters: UInt32 = 0
  /// Small calories: 1000 make a kilocalorie.
  public var calories: UInt32 = 0

  public init() {}

  private static let running: UInt8 = 2
  private static let statuses = [1: "paused", Int(running): "running", 3: "not worn"]

  /// The ``status`` in words: `paused`; nil while the session runs.
  public var interruption: String? {
    status == Self.running ? nil : Self.statuses[Int(status)] ?? "status \(status)"
  }

  public static let fields: [RecordField<Self>] = [
    RecordField("sport", \.sport, at: 1, words: SportControl.sports),
    RecordField("status", \.status, at: 2, words: statuses),
    RecordField("duration", \.seconds, at: 3, .uint16BigEndian, .seconds),
    RecordField("heart-rate", \.beatsPerMinute, at: 5, .uint8, .beatsPerMinute),
    RecordField("steps", \.steps, at: 6, .uint24BigEndian, .steps),
    RecordField("distance", \.meters, at: 9, .uint24BigEndian, .meters),
    RecordField("calories", \.calories, at: 12, .uint24BigEndian, .calories),
  ]
}

/// The activity of a sport session (ring reference, 4.14).
public enum Sport: UInt8, Hashable, Sendable, CaseIterable {
  case walk = 4
  case rope = 5
  case run = 7
  case hike = 8
  case cycle = 9
  case other = 10
  case climbing = 20
  case badminton = 21
  case yoga = 22
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
