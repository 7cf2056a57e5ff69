import BluetoothCore
import LineOutput
import RingLink

private enum StreamOption {
  static let count = Option("--count", as: .count, help: "stop after N samples")
  static let duration = Option(
    "--duration", as: .time, help: "stop after this time, counted from the first sample")
  static let pausesMeasurements = Flag(
    "--pause-measurements",
    help: "switch off the ring's automatic measurements, which disturb a stream; restore them afterwards")
}

let streamCommand = CommandSpec(
  name: "stream", arguments: "[RING]",
  summary: "stream the raw sensors: photoplethysmogram, acceleration, red light",
  positionals: 0...1,
  options: SampleOption.all + [
    StreamOption.count, StreamOption.duration, StreamOption.pausesMeasurements, CommonOptions.retryTime,
    CommonOptions.format,
  ] + RealTime.options,
  examples: [
    ("halo-raw stream --ppg --adapter virtual", "show the pulse of the built-in ring; Ctrl-C ends it"),
    (
      "halo-raw stream --ppg --accel --duration 3s --format jsonl --adapter virtual",
      "three seconds of two sensors, one JSON object per line"
    ),
    (
      "halo-raw stream --ppg --count 100 --record session.btsnoop --adapter virtual > ppg.csv",
      "a hundred samples as csv, and all HCI traffic for Wireshark"
    ),
  ],
  details: """
    Without --ppg, --accel or --spo2, all three are streamed. Each sample is printed as soon as its packet is received,
    with the time of that packet in seconds since the first sample. A stock ring sends one set per second.

    With --pause-measurements, the ring's automatic measurements (heart rate, SpO2, stress, HRV, temperature) are off
    during the stream and restored at its end. If the link is lost for good or the program is killed, the next command
    that connects to the ring restores them.

    If no sample arrives for 5 s, or for three of the usual intervals if that is longer, halo-raw reads the ring's battery
    and starts the stream again, for as long as --retry-for allows. The gap is marked.

    If the output is not read in time, samples are dropped; a line of kind "dropped" has their number, in their place.

    At the end, a summary goes to standard error: samples, rate, jitter, gaps, delays, rejected and dropped frames.

    \(RealTime.details)
    """
) { invocation throws(Failure) in
  try RealTime.apply(invocation)
  let count = invocation[StreamOption.count]
  let duration = invocation[StreamOption.duration]
  let format = OutputFormat(invocation)
  let kinds = SampleKinds(invocation)
  let retryTime = invocation[CommonOptions.retryTime]
  let pausesMeasurements = invocation[StreamOption.pausesMeasurements]
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      let ring = try await session.openRing()
      // The encoding of acceleration depends on the firmware.
      if kinds.contains(.accelerometer) {
        try await session.confirm(ring)
        session.warnAboutUnknownFirmware(of: ring, needsAcceleration: true)
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

/// The summary of a stream at its end. Samples received = printed + dropped + filtered.
struct StreamSummary {
  var printed = 0
  /// Samples of kinds that are not selected.
  var filtered = 0
  /// Samples that were not printed because the output was not read in time.
  var dropped = 0

  private var ppg = StreamStatistics()
  private var accelerometer = StreamStatistics()
  private var spo2 = StreamStatistics()

  /// Counts a sample; allocates nothing.
  ///
  /// - Returns: false if its kind is never printed
  mutating func add(_ sample: RawSample, at time: Instant) -> Bool {
    switch sample {
    case .ppg: ppg.add(time)
    case .accelerometer: accelerometer.add(time)
    case .spo2: spo2.add(time)
    default: return false
    }
    return true
  }

  mutating func finish(at time: Instant) {
    ppg.finish(at: time)
    accelerometer.finish(at: time)
    spo2.finish(at: time)
  }

  var hasAcceleration: Bool { accelerometer.count > 0 }

  /// The interval between samples of a kind; zero if it is unknown.
  var usualInterval: Duration {
    let rates = [ppg, accelerometer, spo2].compactMap(\.rate)
    return rates.max().map { .nanoseconds(Int64(1e9 / $0)) } ?? .zero
  }

  /// A line for each kind, and one for what was not printed.
  var lines: [String] {
    var lines: [String] = []
    for (name, statistics) in [("ppg", ppg), ("accel", accelerometer), ("spo2", spo2)]
    where statistics.count > 0 {
      var line = "\(name): \(Console.counted(statistics.count, "sample"))"
      if let rate = statistics.rate { line += ", \(decimal(rate, 2)) a second" }
      if let jitter = statistics.jitter { line += ", jitter \(decimal(jitter * 1000, 2)) ms" }
      line += ", longest interval \(decimal(Double(statistics.longestInterval) / 1e6, 1)) ms"
      line += ", " + Console.counted(statistics.gaps, "gap")
      if statistics.delays > 0 { line += ", " + Console.counted(statistics.delays, "delay") }
      lines.append(line)
    }
    if dropped > 0 {
      let received = printed + dropped + filtered
      lines.append(
        "\(received) samples received: \(printed) printed, \(filtered) not selected, "
          + "\(dropped) dropped because the output was not read in time")
    }
    return lines
  }
}

/// A number with one or two decimals.
func decimal(_ value: Double, _ places: Int) -> String {
  let thousandths = Int64((min(value.magnitude, 1e12) * 1000).rounded())
  let divisor: Int64 = places == 1 ? 100 : 10
  let magnitude = (thousandths + divisor / 2) / divisor
  return DecimalText.string(value < 0 ? -magnitude : magnitude, places: places)
}
