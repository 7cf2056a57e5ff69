import HaloBluetoothCore

/// One measurement (ring reference, 4.9) as a value: frames and time in, frames and events out. It does no I/O;
/// ``MeasurementSession`` runs it.
package struct MeasurementProcedure {
  package enum Action: Equatable {
    case send(RingFrame)
    /// An update during the measurement, with the time of its frame.
    case report(MeasurementEvent, Instant)
    /// It is over. The command that ends it on the ring is nil if there is none to send; the one of a spot measurement is
    /// answered.
    case finish(Result<MeasurementReading?, RingError>, stop: RingFrame?)
  }

  package let kind: MeasurementKind
  package let method: MeasurementSession.Method
  package private(set) var isOver = false

  private var started = Instant.zero
  private var hasHeard = false
  private var candidate: MeasurementReading?
  private var detector = EstimateDetector()
  private var interval: Int?
  private var contactLostAt: Instant?
  /// The time in which a frame is expected, and its end.
  private var silence = Duration.zero
  private var silenceDeadline: Instant?
  private var limit: Instant?
  private var keepAlive: Instant?

  /// A measurement of `kind` by the spot method, and of the heart rate by the others.
  package init(_ kind: MeasurementKind, method: MeasurementSession.Method) {
    self.kind = method == .spot ? kind : .continuousHeartRate
    self.method = method
  }

  /// The command that starts it, and whose frames it takes.
  package var command: RingCommand {
    method == .live ? CommandTable.liveHeartRate.command : CommandTable.measurementStart.command
  }

  // MARK: Deadlines

  /// The timeout of a spot measurement. Rings end a measurement after 30 seconds; variability takes up to 60.
  private var longest: Duration { kind == .heartRate || kind == .oxygen ? .seconds(45) : .seconds(75) }
  /// A continuous measurement ends on its own about 40 seconds after the last request.
  private static let keepAliveInterval = Duration.seconds(20)
  /// From the first value of a spot measurement to the one that counts; rings take 4.5 seconds.
  private static let settlingTime = Duration.seconds(6)
  /// A continuous measurement takes some 16 seconds to its first value, and then one to the next. Without a result for
  /// this long it is over, even if the ring still sends updates.
  private static let readingTime = Duration.seconds(60)
  /// Without contact, the ring continues for 30 seconds.
  private static let contactTime = Duration.seconds(35)

  /// When to call ``advance(to:)``; nil if it is over.
  package var nextDeadline: Instant? { [silenceDeadline, limit, keepAlive].compactMap { $0 }.min() }

  /// Takes the steps that are due at `now`.
  package mutating func advance(to now: Instant) -> [Action] {
    guard let deadline = nextDeadline, deadline <= now else { return [] }
    switch deadline {
    case silenceDeadline: return finish(silenceResult)
    case limit:
      if method == .spot, let candidate { return finish(.success(candidate)) }
      return finish(failure(.noValue(seconds: (method == .spot ? longest : Self.readingTime).inSeconds)))
    default:
      keepAlive = now + Self.keepAliveInterval
      return [.send(request(action: MeasurementStart.keepAliveAction))]
    }
  }

  private var silenceResult: Result<MeasurementReading?, RingError> {
    if method == .spot, let candidate { return .success(candidate) }
    return hasHeard
      ? failure(.fellSilent(seconds: silence.inSeconds))
      : .failure(.notAnswered(.frame(command), seconds: silence.inSeconds))
  }

  /// Rings send an update twice a second, but old ones are silent while a continuous measurement warms up.
  private mutating func expectFrame(at now: Instant) {
    silence =
      method == .spot
      ? candidate == nil ? .seconds(5) : .milliseconds(1500)
      : candidate == nil ? .seconds(20) : .seconds(10)
    silenceDeadline = now + silence
  }

  // MARK: Start and end

  /// The first step.
  package mutating func start(at now: Instant) -> [Action] {
    started = now
    expectFrame(at: now)
    limit = now + (method == .spot ? longest : Self.readingTime)
    keepAlive = method == .spot ? nil : now + Self.keepAliveInterval
    return [.send(request(action: 1))]
  }

  /// Ends it.
  ///
  /// - Parameter error: the error for the waiting caller; nil if this is not a failure
  package mutating func stop(because error: RingError? = nil) -> [Action] {
    finish(error.map { .failure($0) } ?? .success(nil))
  }

  /// Ends it without a stop command: nothing can be sent.
  package mutating func fail(_ error: RingError) -> [Action] { finish(.failure(error), stopsRing: false) }

  private func request(action: UInt8) -> RingFrame {
    method == .live
      ? CommandTable.liveHeartRate.request(action)
      : CommandTable.measurementStart.request(MeasurementStart(kind, action: action))
  }

  private func failure(_ reason: MeasurementFailure) -> Result<MeasurementReading?, RingError> {
    .failure(.measurement(kind, reason))
  }

  private mutating func finish(
    _ result: Result<MeasurementReading?, RingError>, stopsRing: Bool = true
  ) -> [Action] {
    guard !isOver else { return [] }
    isOver = true
    (silenceDeadline, limit, keepAlive) = (nil, nil, nil)
    return [.finish(result, stop: stopsRing ? stopFrame(result) : nil)]
  }

  private func stopFrame(_ result: Result<MeasurementReading?, RingError>) -> RingFrame {
    switch method {
    case .spot:
      // The ring stores the value sent here; it must not store an invented value as measured.
      let kept = (try? result.get()).flatMap { $0.estimate == nil ? $0.value.stored : nil }
      return CommandTable.measurementStop.request(MeasurementStop(kind, value: kept ?? 0))
    case .continuous: return request(action: MeasurementStart.stopAction)
    case .live: return request(action: MeasurementCommands.stopLive)
    }
  }

  // MARK: Frames

  /// Takes a frame of ``command``, or a refusal of it.
  ///
  /// - Parameters:
  ///   - frame: the frame
  ///   - time: when it was received
  ///   - now: the time that the deadlines count from
  package mutating func receive(_ frame: RingFrame, at time: Instant, now: Instant) -> [Action] {
    guard !isOver else { return [] }
    if let refusal = CommandTable.refusal(frame, pending: command), refusal.command == command {
      return fail(.refused(.frame(command), refusal.code))
    }
    do throws(RingFrameError) {
      return method == .live
        ? receive(beatsPerMinute: try CommandTable.liveHeartRate.reply(frame), at: time, now)
        : receive(try CommandTable.measurementStart.reply(frame), of: frame, at: time, now)
    } catch {
      return finish(.failure(.malformed(.frame(command), error)))
    }
  }

  private mutating func receive(beatsPerMinute: UInt8, at time: Instant, _ now: Instant) -> [Action] {
    hasHeard = true
    let value = MeasuredValue.heartRate(Int(beatsPerMinute))
    let actions = take(beatsPerMinute > 0 ? value : nil, at: time, now)
    expectFrame(at: now)
    return actions
  }

  private mutating func receive(
    _ update: MeasurementUpdate, of frame: RingFrame, at time: Instant, _ now: Instant
  ) -> [Action] {
    guard update.kind == kind else {
      // Updates still in transit from an earlier measurement when this one began do not indicate another one.
      guard time.nanoseconds(since: started) >= 1_000_000_000 else { return [] }
      return finish(failure(.takenOver(by: update.kind)))
    }
    hasHeard = true
    guard update.status == 0 else { return receive(status: update.status, at: time, now) }
    contactLostAt = nil
    var actions: [Action] = []
    let beats = Int(update.beatInterval)
    if beats > 0, beats != interval {
      interval = beats
      actions.append(.report(.beatInterval(beats), time))
    }
    let value = update.measuredValue(frame)
    actions += take(value, at: time, now)
    if kind == .oxygen, update.second == 1, value != nil, let candidate {
      return actions + finish(.success(candidate))
    }
    expectFrame(at: now)
    return actions
  }

  private mutating func receive(status: UInt8, at time: Instant, _ now: Instant) -> [Action] {
    guard status <= 2 else { return finish(failure(.status(status))) }
    guard method == .continuous, status == 1 else { return finish(failure(.notWorn)) }
    let lostAt = contactLostAt ?? time
    let actions: [Action] = contactLostAt == nil ? [.report(.contactLost, time)] : []
    contactLostAt = lostAt
    if time - lostAt > Self.contactTime { return finish(failure(.notWorn)) }
    expectFrame(at: now)
    return actions
  }

  /// - Parameter value: nil while there is none
  private mutating func take(_ value: MeasuredValue?, at time: Instant, _ now: Instant) -> [Action] {
    guard let value else { return candidate == nil ? [.report(.warmingUp, time)] : [] }
    var reading = MeasurementReading(
      kind: kind, value: value, estimate: kind.estimate, beatInterval: interval)
    guard method == .spot else {
      candidate = reading
      limit = now + Self.readingTime
      return [.report(.reading(reading), time)]
    }
    if let number = value.number { detector.add(number, after: time - started) }
    reading.estimate = detector.verdict(kind, beatInterval: interval)
    if candidate == nil, kind.hasOneValue { limit = now + Self.settlingTime }
    candidate = reading
    return []
  }
}
