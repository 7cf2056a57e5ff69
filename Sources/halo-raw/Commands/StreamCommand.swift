import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let streamCommand = CommandSpec(
  name: "stream", arguments: "[RING]",
  summary: "streams the raw sensors: photoplethysmogram, acceleration, red light",
  positionals: 0...1,
  options: [
    OptionSpec("--ppg", help: "the photoplethysmogram (green light), in counts of the sensor"),
    OptionSpec("--accel", help: "acceleration in g, and in counts"),
    OptionSpec("--spo2", help: "red and infrared light, in counts; not a percentage"),
    OptionSpec("--count", value: "N", help: "ends after N samples"),
    OptionSpec("--duration", value: "TIME", help: "ends after this time, counted from the first sample"),
    OptionSpec(
      "--pause-measurements",
      help:
        "switches off what the ring measures by itself, which disturbs a stream, and restores it afterwards"),
    retryOption,
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw stream --ppg --adapter virtual", "watches the built-in ring's pulse; Ctrl-C ends it"),
    (
      "halo-raw stream --ppg --accel --duration 3s --format jsonl --adapter virtual",
      "three seconds of two sensors, one JSON object a line"
    ),
    (
      "halo-raw stream --ppg --count 100 --record session.btsnoop --adapter virtual > ppg.csv",
      "a hundred samples as csv, and all HCI traffic for Wireshark"
    ),
  ],
  details: """
    Without --ppg, --accel or --spo2, all three. Each sample is printed as soon as its packet is received, with
    the time of that packet in seconds since the first sample. Rings as they are sold send one set a second.
    With --pause-measurements the ring's automatic measurements (heart rate, SpO2, stress, HRV, temperature) are off for
    the time of the stream. They are restored at its end, however it ends: if the link is lost for good or the program
    is killed, by the next command that connects to the ring.
    At the end, a summary on standard error: samples, rate, gaps, jitter, frames that were rejected.
    """
) { invocation throws(Failure) in
  let count = try invocation.integer("--count", in: 1...Int.max)
  let duration = try invocation.duration("--duration")
  let format = try OutputFormat(invocation)
  let kinds = SampleKinds(invocation)
  let retryTime = try invocation.retryTime
  let pausesMeasurements = invocation.has("--pause-measurements")
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      let ring = try await session.openRing()
      // How acceleration is encoded hangs on it.
      if kinds.contains(.accelerometer) {
        try await session.confirm(ring)
        session.tellWhatIsUnknown(of: ring, accelerates: true)
      }
      return ring
    }
    let writer = SampleWriter(
      format, kinds: kinds, encoding: ring.firmware.accelerometerEncoding, output: Console.output(.drop))
    let stream = SampleStream(
      ring, writer: writer, count: count, duration: duration, retryTime: retryTime, session)
    if pausesMeasurements { try await stream.pauseMeasurements() }
    try await stream.run()
  }
}

/// One stream, from its start to its summary.
@BluetoothActor
private final class SampleStream {
  private enum End {
    case wanted
    case lost(String)
  }

  private var ring: Ring
  private let session: Session
  private let count: Int?
  private let duration: Duration?
  private let retryTime: Duration
  private var writer: SampleWriter
  /// What the ring measures by itself when nobody streams.
  private var paused: SavedMeasurements?
  private var printed = 0
  /// Samples of kinds that are not wanted.
  private var filtered = 0
  /// Samples that were not printed, as the output was not read in time.
  private var dropped = 0
  private var reconnections = 0
  private var rejectedFrames = 0
  private var statistics: (ppg: StreamStatistics, accelerometer: StreamStatistics, spo2: StreamStatistics) = (
    StreamStatistics(), StreamStatistics(), StreamStatistics()
  )
  private var end: End?
  private var onEnd: (() -> Void)?
  private var timer: Timers.Token?

  init(
    _ ring: Ring, writer: SampleWriter, count: Int?, duration: Duration?, retryTime: Duration,
    _ session: Session
  ) {
    self.ring = ring
    self.writer = writer
    self.count = count
    self.duration = duration
    self.retryTime = retryTime
    self.session = session
  }

  func pauseMeasurements() async throws(Failure) {
    paused = try await ringFailure { () async throws(RingError) in
      try await session.pauseMeasurements(of: ring)
    }
  }

  func run() async throws(Failure) {
    let forget = session.interruption.whenItComes { self.finish(.wanted) }
    defer { forget() }
    try await stream()
    while case .lost(let reason) = end, retryTime > .zero, session.canGoOn {
      guard try await reconnect(reason) else { break }
      try await stream()
    }
    EventLoop.shared.timers.cancel(timer)
    await leave()
    summarize()
    if case .lost(let reason) = end { throw Failure(RingError.disconnected(reason)) }
  }

  /// Streams until the end, or until the link is lost.
  private func stream() async throws(Failure) {
    ring.client.whenDisconnected { loss in self.finish(.lost(loss.description)) }
    do throws(RingError) {
      let ring = self.ring
      try await session.interruption.cancels { () async throws(RingError) in
        try await ring.startRawStream { sample, time in self.take(sample, at: time) }
      }
      await waitForEnd()
    } catch {
      switch error {
      case .cancelled: finish(.wanted)
      case .disconnected(let reason): finish(.lost(reason))
      default:
        await leave()
        throw Failure(error)
      }
    }
  }

  /// Marks the gap and makes a new link.
  ///
  /// - Returns: false if there is none in time; the stream is over then, as lost
  private func reconnect(_ reason: String) async throws(Failure) -> Bool {
    let lostAt = EventLoop.shared.now
    rejectedFrames += ring.counters.rejectedFrames
    writer.printGap("connection lost: \(reason)", at: lostAt.wholeMicroseconds)
    session.note("connection lost: \(reason); trying again for \(Int(retryTime.inSeconds)) s")
    do throws(Failure) {
      let ring = self.ring
      let retryTime = self.retryTime
      let session = self.session
      let paused = self.paused
      self.ring = try await session.interruption.cancels { () async throws(Failure) in
        let ring = try await session.reopen(ring, within: retryTime)
        // It may have restarted meanwhile.
        if let paused { try await ringFailure { () async throws(RingError) in try await ring.pause(paused) } }
        return ring
      }
    } catch {
      if error.code == .interrupted { end = .wanted } else if error.code != .connectionLost { throw error }
      return false
    }
    // A wish to end may have come meanwhile; it is not to be taken for the old loss.
    end = session.interruption.hasCome ? .wanted : nil
    reconnections += 1
    session.note("connected again after \(decimal((EventLoop.shared.now - lostAt).inSeconds, 1)) s")
    return end == nil
  }

  private func leave() async {
    await ring.stopRawStream()
    if let paused, !paused.isEmpty { await session.leaveMeasurements(paused, of: ring) }
    await ring.client.disconnect()
  }

  /// The hot path.
  private func take(_ sample: RawSample, at time: Instant) {
    guard end == nil else { return }
    switch sample {
    case .ppg: statistics.ppg.add(time)
    case .accelerometer: statistics.accelerometer.add(time)
    case .spo2: statistics.spo2.add(time)
    default: return
    }
    switch writer.print(sample, at: time) {
    case .printed: printed += 1
    case .filtered: return filtered += 1
    case .dropped: dropped += 1
    }
    if printed == 1, timer == nil, let duration {
      timer = EventLoop.shared.timers.schedule(after: duration) { self.finish(.wanted) }
    }
    if printed == count || writer.output.failure != nil { finish(.wanted) }
  }

  private func finish(_ end: End) {
    guard self.end == nil else { return }
    self.end = end
    onEnd?()
    onEnd = nil
  }

  private func waitForEnd() async {
    guard end == nil else { return }
    await withCheckedContinuation { continuation in onEnd = { continuation.resume() } }
  }

  // MARK: Summary

  private func summarize() {
    guard writer.output.failure == nil else { return }
    for (name, statistics) in [
      ("ppg", statistics.ppg), ("accel", statistics.accelerometer), ("spo2", statistics.spo2),
    ] where statistics.count > 0 {
      var line = "\(name): \(Console.counted(statistics.count, "sample"))"
      if let rate = statistics.rate { line += ", \(decimal(rate, 2)) a second" }
      if let jitter = statistics.jitter { line += ", jitter \(decimal(jitter * 1000, 2)) ms" }
      line += ", longest interval \(decimal(Double(statistics.longestInterval) / 1e6, 1)) ms"
      line += ", " + Console.counted(statistics.gaps, "gap")
      if statistics.delays > 0 { line += ", " + Console.counted(statistics.delays, "delay") }
      Console.error(line)
    }
    if reconnections > 0 { Console.error("connected again \(Console.counted(reconnections, "time"))") }
    let rejected = rejectedFrames + ring.counters.rejectedFrames
    Console.error(
      Console.counted(rejected, "frame") + " rejected"
        + (session.central.droppedPackets.map { ", \(Console.counted($0, "packet")) dropped by the kernel" }
          ?? "")
        + (ring.client.parameters.map { "; link: \($0)" } ?? ""))
    if statistics.accelerometer.count > 0, writer.encoding == nil, ring.firmware.accelerometerEncoding == nil
    {
      Console.error(
        "the encoding of acceleration is not known for this firmware, and could not be told from the data")
    }
  }

  private func decimal(_ value: Double, _ places: Int) -> String {
    var output = Int((value.magnitude * 1000).rounded())
    let divisor = places == 1 ? 100 : 10
    output = (output + divisor / 2) / divisor
    let scale = places == 1 ? 10 : 100
    let fraction = String(output % scale)
    return "\(value < 0 ? "-" : "")\(output / scale)."
      + String(repeating: "0", count: places - fraction.count) + fraction
  }
}
