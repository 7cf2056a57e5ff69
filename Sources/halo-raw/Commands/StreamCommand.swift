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
  ],
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
    """
) { invocation throws(Failure) in
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
