import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import RingLink

/// One stream, from its start to its summary.
///
/// Properties that each sample reads and writes have no dynamic check for exclusive access: 80 instructions each.
@BluetoothActor
final class SampleStream: @BluetoothActor TickObserver {
  private enum End {
    case wanted
    /// The link is lost.
    case lost(String)
    /// The link stays, but no samples come.
    case silent(String, doesAnswer: Bool)
    /// Something else is due, for which the stream pauses.
    case due
  }

  private var ring: RingClient
  private var chosen: ChosenStream
  /// The stream that the ring sends now.
  private var source: StreamSource
  private let link: ReconnectingLink<RingClient>
  private let session: Session
  private let timers: Timers
  private let options: StreamOptions
  @exclusivity(unchecked) private var writer: SampleWriter
  /// Sends the samples to a broker, too.
  private let observers: [any SampleObserver]
  /// Whether lines are collected, which are written at the end of this turn of the loop.
  @exclusivity(unchecked) private var isCollecting = false
  /// The automatic measurements of the ring while there is no stream.
  private var paused: SavedMeasurements?
  @exclusivity(unchecked) private var summary = StreamSummary()
  /// Whether the stream has failed, and no sample has come since.
  @exclusivity(unchecked) private var isFailing = true
  /// When the stream has failed the last time, and how often its link had been made again then.
  private var gap: (start: Instant, reconnections: Int)?
  /// When the last sample was read.
  @exclusivity(unchecked) private var lastSample: Instant?
  @exclusivity(unchecked) private var end: End?
  private var onEnd: OneShot<Void>?
  @exclusivity(unchecked) private var durationTimer: Timers.Token?
  private var silenceTimer: Timers.Token?
  /// The work with the ring in between.
  private let plan: RingPlan?
  /// Whether the ring is being asked why it sends nothing.
  private var isAsking = false
  /// Reads the firmware of a new ring, which the first sample does not need.
  private var identification: Task<Void, Never>?

  /// How long no sample may come until the ring is asked why: three usual intervals, at least this time, and the other one
  /// until an interval is known.
  private static let shortestSilence = Duration.seconds(1)
  private static let firstSilence = Duration.seconds(5)
  /// The lines of a turn are written early beyond this number of bytes.
  private static let largestBatch = 1 << 16
  /// How long the end may take when the ring does not answer.
  private static let leaveDeadline = Duration.seconds(5)

  /// - Parameters:
  ///   - ring: the ring, open
  ///   - link: its link
  ///   - chosen: the stream to request
  ///   - writer: prints the samples
  ///   - observers: get them, too
  ///   - plan: the work with the ring in between; nil for none
  init(
    _ ring: RingClient, _ link: ReconnectingLink<RingClient>, _ chosen: ChosenStream,
    writer: consuming SampleWriter,
    observers: [any SampleObserver], _ plan: RingPlan?, _ options: StreamOptions, _ session: Session
  ) {
    self.ring = ring
    self.link = link
    self.writer = writer
    self.observers = observers
    self.plan = plan
    self.chosen = chosen
    source = chosen.source
    self.options = options
    self.session = session
    timers = session.timers
    for case let beats as BeatFinder in observers {
      beats.report = { self.report($0, at: $1) }
      beats.warn = { self.warn($0) }
      beats.assess = { second in for observer in self.observers { observer.take(second) } }
    }
  }

  /// The results of measurements, for the file beside the output.
  var results: [String: JSONValue] { summary.results }

  func run() async throws(Failure) {
    let forget = link.interruption.onRequest { self.finish(.wanted) }
    defer { forget() }
    let forgetSkips = session.whenBytesAreSkipped { what, time in self.markLoss(what, at: time) }
    defer { forgetSkips() }
    let forgetMarks = session.annotations.onMark(
      of: ring.connection.peer, name: link.name ?? session.ringName
    ) { self.annotate($0, at: $1) }
    var result = Result<Void, Failure>.success(())
    do throws(Failure) {
      try await link.ask { ring in try await stream(from: ring) }
    } catch {
      if error.code != .interrupted || !link.interruption.isRequested { result = .failure(error) }
    }
    forgetMarks()
    flush()
    writer.finish(at: timers.now.wholeMicroseconds)
    timers.cancel(durationTimer)
    timers.cancel(silenceTimer)
    summary.finish(at: timers.current)
    if !(await timers.within(Self.leaveDeadline, { await self.leave() })) {
      warn("the ring did not answer at the end; it may go on streaming until the link is gone")
    }
    if writer.output.failure == nil { report() }
    try result.get()
  }

  /// Streams on a link until the end that is wanted.
  ///
  /// - Throws: why the stream has failed; the gap is marked
  private func stream(from ring: RingClient) async throws {
    if ring !== self.ring {
      self.ring = ring
      // It may have restarted in between.
      if let paused { try await ring.pause(paused) }
    }
    if options.pausesMeasurements, paused == nil {
      paused = try await link.interruption.cancels { [session] in
        try await session.pauseMeasurements(of: ring)
      }
    }
    repeat {
      try await performPlan(with: ring)
      try await startRing()
      begin()
      watchForSilence(since: timers.current)
      plan?.whenDue { [self] in finish(.due) }
      await waitForEnd()
      // A mark of a gap comes after the samples before it.
      flush()
      timers.cancel(silenceTimer)
      plan?.ignore()
      if let end { try conclude(end) }
    } while !link.interruption.isRequested && (plan?.isDue ?? false)
  }

  /// Does the due work in a pause of the stream.
  private func performPlan(with ring: RingClient) async throws {
    guard let plan, plan.isDue, !link.interruption.isRequested else { return }
    await stopRing()
    try await link.interruption.cancels { [self] () async throws(Failure) in
      try await plan.perform(on: ring, name: link.name ?? session.ringName) { kind, reading, time in
        guard let number = reading.value.number else { return }
        self.mark(.measured(kind.columns[0], number), at: time)
      }
    }
  }

  private func startRing() async throws(Failure) {
    end = link.interruption.isRequested ? .wanted : nil
    let ring = self.ring
    ring.connection.whenDisconnected { loss in
      if self.ring === ring { self.finish(.lost(loss.description)) }
    }
    // Not weakly: each retain of an object that was ever captured weakly takes 150 instructions more.
    ring.dispatcher.onRejected = { bytes, error, time in self.reject(bytes, error, at: time) }
    ring.dispatcher.onEvent = { event in self.take(event) }
    do throws(RingError) {
      try await link.interruption.cancels { () async throws(RingError) in
        try await self.request(ring)
      }
    } catch {
      var failure = Failure(error)
      // Every ring answers this.
      if case .notAnswered = error { failure.link.fault = .silence }
      throw failure
    }
    if chosen.isChosen, summary.source != source { Console.error(prefixed("streaming \(source.title)")) }
    summary.source = source
  }

  /// Has the ring stream; the raw stream, if it has no counted one after all.
  private func request(_ ring: RingClient) async throws(RingError) {
    source = chosen.source
    if case .counted(let light) = source {
      do throws(RingError) {
        return try await ring.startCountedStream(
          light, onRequest: { self.summary.requestedAgain() }, sink: { self.take($0, at: $1) })
      } catch .countedStream(_, let failure) where chosen.isChosen && failure.isDefinite {
        chosen.isDenied = true
        source = .raw
      }
    }
    try await requestRaw(ring)
    // The ring has sent a sample: it streams, and not with a count.
    guard chosen.isDenied else { return }
    chosen.isDenied = false
    chosen.source = .raw
    session.remember(countedStream: false, of: ring)
  }

  private func requestRaw(_ ring: RingClient) async throws(RingError) {
    var sink = { (sample: RawSample, time: Instant) in self.take(sample, at: time) }
    if !observers.isEmpty {
      sink = { sample, time in
        if self.end == nil { for observer in self.observers { observer.take(sample, at: time) } }
        self.take(sample, at: time)
      }
    }
    try await ring.startRawStream(sink: sink)
  }

  /// Reports that the ring streams, the first time or again. The first time, the work beside the stream begins.
  private func begin() {
    guard let gap else {
      reportStatus("streaming")
      session.status.count(ring.connection.peer) { self.summary.progress }
      identify()
      for observer in observers { observer.begin(after: identification) { self.ring } }
      return
    }
    guard link.reconnections > gap.reconnections else { return }
    note("connected again after \(decimal((timers.current - gap.start).inSeconds, 1)) s")
    reportStatus("streaming again; connected again \(Console.counted(link.reconnections, "time"))")
  }

  private func identify() {
    guard ring.firmware.firmwareRevision == nil, end == nil else { return }
    let ring = self.ring
    let session = self.session
    // Without it, the ring is new the next time as well.
    identification = BluetoothActor.run {
      do throws(Failure) { try await session.identify(ring) } catch { session.note(error.message) }
    }
  }

  // MARK: Failures

  /// Marks the gap, unless the end is wanted.
  ///
  /// - Throws: why there is a gap
  private func conclude(_ end: End) throws(Failure) {
    var failure: Failure
    let reason: String
    switch end {
    case .wanted: return
    case .due: return pause(.pause(plan?.title ?? ""))
    case .lost(let loss):
      reason = "connection lost: \(loss)"
      failure = Failure(RingError.disconnected(loss))
    case .silent(let silence, let doesAnswer):
      reason = silence
      failure = Failure(
        .timedOut, "the ring sends no more samples: \(silence)", doesAnswer ? .unready : .silence)
      failure.link.attempt = "\(silence); starting the stream again"
    }
    // Lost while it was to end.
    if case .lost = end, link.interruption.isRequested { return summary.interrupt() }
    pause(.gap(reason))
    throw failure
  }

  /// Marks that no samples come for a while.
  private func pause(_ reason: SampleWriter.Mark) {
    if case .pause = reason { summary.interrupt(isPlanned: true) } else { summary.interrupt() }
    let now = timers.current
    mark(reason, at: now.wholeMicroseconds)
    isFailing = true
    gap = (now, link.reconnections)
  }

  /// Checks for samples, for as long as the stream lasts.
  ///
  /// - Parameter last: the time of the last sample, or of the start
  private func watchForSilence(since last: Instant) {
    let interval = summary.usualInterval
    let limit = interval == .zero ? Self.firstSilence : max(Self.shortestSilence, interval * 3)
    // Retained until the end of the stream, which cancels it; an object with weak references costs 150 instructions more
    // each time that it is retained.
    silenceTimer = timers.schedule(at: last + limit) { [self] in
      guard end == nil else { return }
      if let lastSample, lastSample > last { return watchForSilence(since: lastSample) }
      askWhy("no sample for \(decimal(limit.inSeconds, 1)) s", since: last)
    }
  }

  /// Asks the ring for its battery, and ends the stream with the cause. A link delivers in order: with the answer, all
  /// samples that were only delayed are here, and the stream goes on.
  ///
  /// - Parameter last: the time of the last sample; nil if the ring has ended the stream itself
  private func askWhy(_ silence: String, since last: Instant?) {
    guard !isAsking else { return }
    isAsking = true
    let ring = self.ring
    BluetoothActor.run { [self] in
      var battery: RingBattery?
      let limit = (ring.connection.parameters?.supervisionTimeout.duration ?? .seconds(4)) + .seconds(1)
      while end == nil, battery == nil {
        do throws(RingError) {
          battery = try await ring.battery()
        } catch {
          // A link that is not lost yet may still deliver. Other errors take no time.
          guard case .notAnswered = error, let last, timers.current < last + limit else { break }
        }
      }
      isAsking = false
      guard end == nil, ring === self.ring else { return }
      if let last, let lastSample, lastSample > last {
        note("\(silence): the samples were delayed")
        return watchForSilence(since: lastSample)
      }
      var cause = battery.map { $0.isCharging ? "the ring is on its charger" : "its battery is at \($0)" }
      if let status = ring.countedStreamStatus, status.time > lastSample ?? .zero {
        cause = "it sends status \(status.code); is it worn?"
      }
      finish(.silent("\(silence); \(cause ?? "the ring does not answer")", doesAnswer: battery != nil))
    }
  }

  /// Marks a damaged frame at its place.
  private func reject(_ bytes: RawSpan, _ error: RingFrameError, at time: Instant) {
    guard end == nil else { return }
    flush()
    summary.rejected += 1
    mark(.rejected(error.description, Array(bytes)), at: time)
  }

  /// Marks where the way from the controller has lost bytes, which may have been samples.
  private func markLoss(_ what: String, at time: Instant) {
    guard end == nil, summary.source != nil else { return }
    flush()
    mark(.rejected(what, []), at: time)
  }

  /// Marks what a person says.
  private func annotate(_ text: String, at time: Instant) {
    flush()
    mark(.annotation(text), at: time)
  }

  /// Passes on what the ring reports itself, and marks what its wearer has done.
  private func take(_ event: RingEvent) {
    let time = timers.now.wholeMicroseconds
    for observer in observers { observer.take(event, at: time) }
    guard let words = event.momentWords else { return }
    flush()
    mark(.event(words.joined(separator: " ")), at: time)
  }

  private func stopRing() async {
    if source.isCounted { await ring.stopCountedStream() } else { await ring.stopRawStream() }
  }

  private func leave() async {
    await stopRing()
    ring.dispatcher.onRejected = nil
    ring.dispatcher.onEvent = nil
    await identification?.value
    for observer in observers { await observer.end() }
    if let paused, !paused.isEmpty { await session.leaveMeasurements(paused, of: ring) }
    await link.close()
  }

  // MARK: Samples

  /// The hot path.
  private func take(_ sample: RawSample, at time: Instant) {
    guard end == nil else { return }
    guard sample != .refused else {
      summary.other += 1
      return askWhy("the ring has stopped the stream", since: nil)
    }
    guard summary.add(sample, at: time) else { return }
    // Not its own time: if the process was stopped, the samples that waited are old.
    lastSample = timers.now
    if isFailing { flowAgain() }
    guard writer.collect(sample, at: time) else { return summary.filtered += 1 }
    summary.printed += 1
    printSoon()
  }

  /// The hot path of the counted stream.
  private func take(_ sample: CountedSample, at time: Instant) {
    guard end == nil else { return }
    let step = summary.add(sample, at: time)
    if step.kind != .next { mark(step, at: time) }
    guard step.kind != .doubled else { return }
    for observer in observers { observer.take(sample, packet: step.number, at: time) }
    lastSample = timers.now
    if isFailing { flowAgain() }
    let rest = options.count.map { $0 - summary.printed } ?? .max
    let lines = writer.collect(sample, packet: step.number, at: time, atMost: rest)
    summary.filtered += CountedSample.samples - lines
    guard lines > 0 else { return }
    summary.printed += lines
    printSoon()
  }

  /// Marks packets that are lost, late or doubled, at their place.
  private func mark(_ step: PacketCounter.Step, at time: Instant) {
    flush()
    mark(.packets(step), at: time)
  }

  private func report(_ beat: SampleWriter.Mark, at time: Instant) {
    guard options.hasBeats else {
      for observer in observers { observer.mark(beat, at: time) }
      return
    }
    flush()
    mark(beat, at: time)
  }

  /// Prints the collected lines at the end of this turn, or now if they are many.
  @inline(__always)
  private func printSoon() {
    if let duration = options.duration, durationTimer == nil {
      durationTimer = timers.schedule(after: duration) { self.link.interruption.request() }
    }
    if summary.printed == options.count || writer.output.pending > Self.largestBatch { return flush() }
    // The samples of one wake-up leave with one write.
    guard !isCollecting else { return }
    isCollecting = true
    EpollLoop.shared.atEndOfTick(self)
  }

  private func flowAgain() {
    isFailing = false
    link.dataFlow()
  }

  private func flush() {
    isCollecting = false
    let dropped = writer.flush()
    summary.printed -= dropped
    summary.dropped += dropped
    if summary.printed == options.count { finish(.wanted) }
    // Nothing more can be printed, also of other rings.
    if writer.output.failure != nil {
      finish(.wanted)
      session.interruption.request()
    }
  }

  private func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    writer.mark(mark, at: time)
    for observer in observers { observer.mark(mark, at: time) }
  }

  private func finish(_ end: End) {
    guard self.end == nil else { return }
    self.end = end
    onEnd?()
  }

  private func waitForEnd() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let end = OneShot<Void> { continuation.resume() }
      // Asked here: an end that came between a question before and this place would be missed.
      if self.end == nil { onEnd = end } else { end() }
    }
  }

  // MARK: Messages

  private func prefixed(_ line: String) -> String { link.prefixed(line) }

  private func warn(_ line: String) { Console.error("halo-raw: \(prefixed(line))") }

  private func note(_ line: @autoclosure () -> String) { session.note(prefixed(line())) }

  private func reportStatus(_ status: String) {
    session.status.report(status, of: ring.connection.peer, name: link.title ?? session.ringName)
  }

  private func report() {
    for line in summary.lines(of: options.kinds) { Console.error(prefixed(line)) }
    if options.hasBeats { for line in observers.flatMap(\.summary) { Console.error(prefixed(line)) } }
    if link.reconnections > 0 {
      Console.error(prefixed("connected again \(Console.counted(link.reconnections, "time"))"))
    }
    let connection = ring.connection
    let radio = [connection.phys.map { "PHY \($0)" }, connection.dataLengths.map { "data length \($0)" }]
      .compactMap(
        \.self)
    if let parameters = connection.parameters {
      Console.error(prefixed("link: \(parameters)"))
      if !radio.isEmpty { Console.error(prefixed("link: " + radio.joined(separator: ", "))) }
    }
    if link.title == nil, let dropped = session.droppedPackets { Console.error(dropped) }
    if summary.hasAcceleration, writer.encoding == nil, ring.firmware.accelerometerEncoding == nil {
      Console.error(
        prefixed("the encoding of acceleration is not known for this firmware, and the data does not show it")
      )
    }
  }

  func tickDidEnd() {
    if isCollecting { flush() }
  }
}
