import BluetoothCore

/// One measurement, from its start until the stop command has been sent (ring reference, 4.9). It does no I/O: frames
/// pass through the dispatcher, and the timers supply the time.
///
/// It always ends within a deadline, and the stop command is sent unless the link is gone.
public final class MeasurementSession {
  /// The commands that control it.
  public enum Method: Hashable, Sendable {
    /// Once: ends with one value after about half a minute.
    case spot
    /// Until it is stopped. Only for heart rate.
    case continuous
    /// The same by the command of older rings, 0x1E.
    case live
  }

  public let kind: MeasurementKind
  public let method: Method
  /// Called for each update during the measurement.
  public var onEvent: ((MeasurementEvent, Instant) -> Void)?
  /// Called once, after the stop command. Nil if the measurement was stopped by the caller.
  public var onEnd: ((Result<MeasurementReading?, RingError>) -> Void)?

  private let dispatcher: RingDispatcher
  private let timers: Timers
  private var started = Instant.zero
  private var isOver = false
  private var hasHeard = false
  private var candidate: MeasurementReading?
  private var judge = MeasurementJudge()
  private var interval: Int?
  private var contactLostAt: Instant?
  private var silence: Timers.Token?
  private var limit: Timers.Token?
  private var keepAlive: Timers.Token?

  /// - Parameters:
  ///   - kind: used only by the spot method; the others measure heart rate
  ///   - method: the command that makes the ring measure
  ///   - dispatcher: passes the ring's frames on
  ///   - timers: the clock of the deadlines
  public init(
    _ kind: MeasurementKind, method: Method = .spot, dispatcher: RingDispatcher, timers: Timers
  ) {
    self.kind = method == .spot ? kind : .continuousHeartRate
    self.method = method
    self.dispatcher = dispatcher
    self.timers = timers
  }

  private var command: RingCommand {
    method == .live ? CommandTable.liveHeartRate.command : CommandTable.measurementStart.command
  }

  /// Sends the start command.
  public func start() {
    started = timers.now
    dispatcher.listen(to: command) { [weak self] frame, time in self?.receive(frame, at: time) }
    dispatcher.whenClosed { [weak self] error in self?.finish(.failure(error), tellsRing: false) }
    guard !isOver else { return }
    send(action: 1)
    expectFrame()
    if method == .spot {
      after(Self.longest(kind), in: \.limit) { session in
        session.finish(
          session.candidate.map { .success($0) }
            ?? session.failure(.noValue(seconds: Self.longest(session.kind).inSeconds)))
      }
    } else {
      expectReading()
      keepGoing()
    }
  }

  /// Ends it.
  ///
  /// - Parameter error: the error for the waiting caller; nil if this is not a failure
  public func stop(because error: RingError? = nil) {
    finish(error.map { .failure($0) } ?? .success(nil))
  }

  // MARK: Deadlines

  /// The timeout of a spot measurement. Rings end theirs after 30 seconds; variability takes up to 60.
  static func longest(_ kind: MeasurementKind) -> Duration {
    kind == .heartRate || kind == .oxygen ? .seconds(45) : .seconds(75)
  }

  /// Rings send an update twice a second, but old ones are silent while a continuous measurement warms up.
  private var longestSilence: Duration {
    if method == .spot { return candidate == nil ? .seconds(5) : .milliseconds(1500) }
    return candidate == nil ? .seconds(20) : .seconds(10)
  }

  /// A continuous measurement ends on its own about 40 seconds after the last request.
  static let keepAliveInterval = Duration.seconds(20)
  /// From the first value of a spot measurement to the one that counts; rings take 4.5 seconds.
  static let settlingTime = Duration.seconds(6)
  /// A continuous measurement takes some 16 seconds to its first value, and then one to the next.
  static let readingPatience = Duration.seconds(60)
  /// Without contact, the ring continues for 30 seconds.
  static let contactPatience = Duration.seconds(35)

  private func after(
    _ time: Duration, in token: ReferenceWritableKeyPath<MeasurementSession, Timers.Token?>,
    _ action: @escaping (MeasurementSession) -> Void
  ) {
    timers.cancel(self[keyPath: token])
    self[keyPath: token] = timers.schedule(after: time) { [weak self] in
      if let self { action(self) }
    }
  }

  private func expectFrame() {
    let time = longestSilence
    after(time, in: \.silence) { session in
      if session.method == .spot, let candidate = session.candidate {
        session.finish(.success(candidate))
      } else if session.hasHeard {
        session.finish(session.failure(.fellSilent(seconds: time.inSeconds)))
      } else {
        session.finish(.failure(.notAnswered(.frame(session.command), seconds: time.inSeconds)))
      }
    }
  }

  /// A continuous measurement without a result for this long is over, even if the ring still sends updates.
  private func expectReading() {
    after(Self.readingPatience, in: \.limit) { session in
      session.finish(session.failure(.noValue(seconds: Self.readingPatience.inSeconds)))
    }
  }

  private func keepGoing() {
    after(Self.keepAliveInterval, in: \.keepAlive) { session in
      session.send(action: MeasurementStart.keepAliveAction)
      session.keepGoing()
    }
  }

  // MARK: Frames

  private func send(action: UInt8) {
    let frame =
      method == .live
      ? CommandTable.liveHeartRate.request(LiveHeartRateControl(action))
      : CommandTable.measurementStart.request(MeasurementStart(kind, action: action))
    do throws(RingError) {
      try dispatcher.post(frame)
    } catch {
      finish(.failure(error), tellsRing: false)
    }
  }

  private func receive(_ frame: RingFrame, at time: Instant) {
    guard !isOver else { return }
    if let refusal = CommandTable.refusal(frame, pending: command), refusal.command == command {
      return finish(.failure(.refused(.frame(command), refusal.code)), tellsRing: false)
    }
    do throws(RingFrameError) {
      if method == .live {
        receive(try CommandTable.liveHeartRate.reply(frame), at: time)
      } else {
        receive(try CommandTable.measurementStart.reply(frame), at: time)
      }
    } catch {
      finish(.failure(.malformed(.frame(command), error)))
    }
  }

  private func receive(_ update: LiveHeartRate, at time: Instant) {
    hasHeard = true
    if update.beatsPerMinute > 0 {
      take(MeasurementReading(kind: kind, value: .heartRate(Int(update.beatsPerMinute))), at: time)
    } else if candidate == nil {
      onEvent?(.warmingUp, time)
    }
    if !isOver { expectFrame() }
  }

  private func receive(_ update: MeasurementUpdate, at time: Instant) {
    guard update.kind == kind else {
      // Updates still in transit from an earlier measurement when this one began do not indicate another one.
      guard time.nanoseconds(since: started) >= 1_000_000_000 else { return }
      return finish(failure(.takenOver(by: update.kind)))
    }
    hasHeard = true
    guard update.status == 0 else { return receive(status: update.status, at: time) }
    contactLostAt = nil
    let beats = Int(update.beatInterval)
    if beats > 0, beats != interval {
      interval = beats
      onEvent?(.beatInterval(beats), time)
    }
    guard !isOver else { return }
    if let value = update.measuredValue {
      take(MeasurementReading(kind: kind, value: value, beatInterval: interval), at: time)
      if kind == .oxygen, update.second == 1, let candidate { return finish(.success(candidate)) }
    } else if candidate == nil {
      onEvent?(.warmingUp, time)
    }
    if !isOver { expectFrame() }
  }

  private func receive(status: UInt8, at time: Instant) {
    guard status <= 2 else { return finish(failure(.status(status))) }
    guard method == .continuous, status == 1 else { return finish(failure(.notWorn)) }
    let lostAt = contactLostAt ?? time
    if contactLostAt == nil {
      contactLostAt = time
      onEvent?(.contactLost, time)
    }
    guard !isOver else { return }
    if time - lostAt > Self.contactPatience { return finish(failure(.notWorn)) }
    expectFrame()
  }

  private func take(_ reading: MeasurementReading, at time: Instant) {
    var reading = reading
    reading.estimate = kind.estimate
    if method == .spot {
      judge.add(reading.value.number, after: time - started)
      reading.estimate = judge.verdict(kind, beatInterval: interval)
      if candidate == nil {
        after(Self.settlingTime, in: \.limit) { session in
          if let candidate = session.candidate { session.finish(.success(candidate)) }
        }
      }
    }
    candidate = reading
    guard method != .spot else { return }
    expectReading()
    onEvent?(.reading(reading), time)
  }

  // MARK: The end

  private func failure(_ reason: MeasurementFailure) -> Result<MeasurementReading?, RingError> {
    .failure(.measurement(kind, reason))
  }

  private func finish(_ result: Result<MeasurementReading?, RingError>, tellsRing: Bool = true) {
    guard !isOver else { return }
    isOver = true
    for token in [silence, limit, keepAlive] { timers.cancel(token) }
    dispatcher.listen(to: command, nil)
    let done = onEnd
    onEnd = nil
    onEvent = nil
    guard tellsRing else {
      done?(result)
      return
    }
    switch method {
    case .spot:
      // The ring stores the value sent here; it must not store an invented value as measured.
      let kept = (try? result.get()).flatMap { $0.estimate == nil ? $0.value.number : nil }
      let stop = MeasurementStop(kind, value: UInt8(clamping: kept ?? 0))
      dispatcher.start(
        RingExchange(.frame(CommandTable.measurementStop.request(stop)), accept: { _ in .done }) { _ in
          done?(result)
        })
    case .continuous:
      let stop = MeasurementStart(kind, action: MeasurementStart.stopAction)
      try? dispatcher.post(CommandTable.measurementStart.request(stop))
      done?(result)
    case .live:
      try? dispatcher.post(
        CommandTable.liveHeartRate.request(LiveHeartRateControl(LiveHeartRateControl.stopAction)))
      done?(result)
    }
  }
}
