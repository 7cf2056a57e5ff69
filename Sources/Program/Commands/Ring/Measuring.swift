import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// A measurement and its output.
@BluetoothActor
final class Measuring {
  private let timers: Timers
  private let measured: Measured
  private let isLive: Bool
  private let interval: Duration?
  /// After how many values it ends; nil for no limit.
  var count: Int?
  /// How long after the first value it ends; nil for no limit.
  var duration: Duration?
  private let format: OutputFormat
  private let publisher: RingPublisher?
  let printer: TimedPrinter
  private var progress = ProgressLine()
  private let origin: Instant
  private var latestProgress: Instant?
  private var readings = 0
  private var timer: Timers.Token?

  /// Opens the link, and describes the records.
  ///
  /// - Parameters:
  ///   - measured: the quantity to measure
  ///   - others: the quantities to measure in between
  ///   - isLive: whether the command of older rings is used for the heart rate
  ///   - interval: from one measurement to the next; nil for a value about once a second
  ///   - live: where the records go
  ///   - link: leads to the ring
  ///   - lasts: whether there is more than one value
  init(
    _ measured: Measured, _ others: [Measured], isLive: Bool, every interval: Duration?, _ live: LiveOutput,
    _ link: ReconnectingLink<RingClient>, lasts: Bool
  ) async throws(Failure) {
    let ring = try await link.open()
    (self.measured, self.isLive, self.interval) = (measured, isLive, interval)
    timers = ring.timers
    format = live.format
    origin = timers.now.wholeMicroseconds
    let columns = measured.columns + others.flatMap(\.columns).filter { !measured.columns.contains($0) }
    printer = try await TimedPrinter(
      live, of: ring, ["kind", "state"] + columns + ["interval_ms", "estimate", "note"], origin: origin,
      showsTime: lasts)
    publisher = live.publisher
    guard lasts else {
      publisher?.announce { [weak link] in link?.device }
      return
    }
    // It announces the ring, too.
    publisher?.watch(after: nil) { [weak link] in link?.device ?? ring }
  }

  /// Ends the work beside the measurement.
  func end() async { await publisher?.end() }

  /// Measures once.
  func measure(_ ring: RingClient, until end: Interruption) async throws(RingError) {
    defer { progress.clear() }
    let reading = try await end.cancels { [self] () async throws(RingError) in
      try await ring.measure(measured.kind, isLive: isLive) { self.take($0, at: $1) }
    }
    progress.clear()
    show(reading, of: measured, at: timers.now.wholeMicroseconds)
  }

  /// Measures until the desired end, and does the due work in between.
  func run(_ ring: RingClient, on link: ReconnectingLink<RingClient>, _ plan: RingPlan?) async throws {
    let end = link.interruption
    var due = timers.current
    while !end.isRequested {
      if let plan, plan.isDue {
        if readings > 0 { print("pause", ["note": .text(plan.title)], text: "pause: \(plan.title)") }
        try await plan.perform(on: ring, name: link.name) { self.show($1, of: $0, at: $2) }
      }
      if let interval {
        if due <= timers.current {
          due = timers.current + interval
          try await measureOrMark(ring, on: link)
        }
        await end.cancels { [self, due] () async in await sleep(until: due, or: plan) }
      } else {
        try await measureContinuously(ring, on: link, until: plan)
        guard plan?.isDue ?? false else { break }
      }
    }
    end.request()
  }

  /// Waits for a time, or until something else is due.
  private func sleep(until time: Instant, or plan: RingPlan?) async {
    var timer: Timers.Token?
    await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
      timer = timers.schedule(at: time) { done(.success(())) }
      plan?.whenDue { done(.success(())) }
      return { done(.success(())) }
    }
    timers.cancel(timer)
    plan?.ignore()
  }

  /// Measures once; no value is a record.
  private func measureOrMark(
    _ ring: RingClient, on link: ReconnectingLink<RingClient>
  ) async throws(RingError) {
    do throws(RingError) {
      try await measure(ring, until: link.interruption)
    } catch {
      guard case .measurement(_, let reason) = error else { throw error }
      print("no-value", ["note": .text("\(reason)")], text: "no value: \(reason)")
    }
    countValue(on: link)
  }

  /// - Parameter plan: the work for which it ends when it is due
  private func measureContinuously(
    _ ring: RingClient, on link: ReconnectingLink<RingClient>, until plan: RingPlan?
  ) async throws(RingError) {
    let end = link.interruption
    let rates = ring.heartRates(isLive: isLive)
    let forget = end.onRequest { rates.stop() }
    plan?.whenDue { rates.stop() }
    defer {
      forget()
      plan?.ignore()
      progress.clear()
    }
    for try await (event, time) in rates where !end.isRequested {
      take(event, at: time)
      if case .reading = event { countValue(on: link) }
    }
  }

  /// Ends it if there is all that is wanted.
  private func countValue(on link: ReconnectingLink<RingClient>) {
    link.dataFlow()
    let end = link.interruption
    if readings > 0, let duration, timer == nil {
      timer = timers.schedule(after: duration) { end.request() }
    }
    if readings == count || printer.hasFailed { end.request() }
  }

  /// Marks the loss of the link.
  func markGap(_ reason: String) {
    print("gap", ["note": .text(reason)], text: "gap: \(reason)")
  }

  /// Ends a continuous measurement.
  ///
  /// - Throws: if there was no value
  func finish() throws(Failure) {
    timers.cancel(timer)
    if readings == 0 { throw Failure(.interrupted, "interrupted before the first value") }
  }

  private func take(_ event: MeasurementEvent, at time: Instant) {
    switch event {
    case .warmingUp: warmUp(at: time)
    case .beatInterval(let interval): print("beat", at: time, ["interval_ms": .number(interval)])
    case .reading(let reading):
      progress.clear()
      show(reading, of: measured, at: time)
    case .contactLost:
      progress.clear()
      print("no-contact", at: time)
      if format != .jsonl { Console.error("the ring does not touch the skin") }
    }
  }

  private func warmUp(at time: Instant) {
    let seconds = Int((time - origin).inSeconds)
    if format == .text { progress.show("warming up, \(seconds) s; keep still") }
    guard format == .jsonl else { return }
    if let latestProgress, time - latestProgress < .milliseconds(900) { return }
    latestProgress = time
    print("warming-up", at: time)
  }

  private func show(_ reading: MeasurementReading, of measured: Measured, at time: Instant) {
    // A value measured in between does not count, and its publisher has it already.
    if measured.name == self.measured.name {
      readings += 1
      publisher?.update(reading)
    }
    let note = measured.note(on: reading.value)
    var fields = Dictionary(uniqueKeysWithValues: zip(measured.columns, measured.fields(of: reading.value)))
    fields["interval_ms"] = .number(reading.beatInterval)
    fields["note"] = .text(note)
    print(
      "value", of: measured, at: time, fields, isEstimate: reading.estimate != nil,
      text: measured.text(of: reading) + (reading.estimate.map { ": \($0.rawValue)" } ?? "")
        + (note.map { " (\($0))" } ?? ""))
  }

  private func print(
    _ state: String, of other: Measured? = nil, at time: Instant? = nil, _ fields: [String: Field] = [:],
    isEstimate: Bool = false, text: String? = nil
  ) {
    let name = (other ?? measured).name
    let common: [String: Field] = [
      "kind": .text(name), "state": .text(state), "estimate": .flag(isEstimate),
    ]
    printer.print("\(name) \(state)", common.merging(fields) { $1 }, at: time, text: text)
  }
}
