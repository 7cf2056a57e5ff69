import BluetoothCore
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
    If no sample comes for 5 s, or for three of the usual intervals, the ring is asked for its battery and the stream is
    started again, for as long as --retry-for says; the gap is marked.
    If the output is not read in time, samples are dropped; a line of kind "dropped" says how many, where they would be.
    At the end, a summary on standard error: samples, rate, jitter, gaps, delays, and what was rejected or dropped.
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
