import GAP
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// The options of a stream of one ring.
struct StreamOptions {
  var kinds: SampleKinds
  var source: StreamSource.Choice
  var count: Int?
  var duration: Duration?
  var budget: ReconnectPolicy.Budget
  var pausesMeasurements: Bool
  /// Whether beats are printed between the samples.
  var hasBeats: Bool

  fileprivate init(_ invocation: Invocation) throws(Failure) {
    source = invocation[StreamOption.source]
    kinds = SampleKinds(invocation)
    if source == .counted, kinds.countedLight == nil {
      guard !SampleOption.all.contains(where: { invocation.isGiven($0) }) else {
        throw .usage("the counted stream has one light at a time; leave out --ppg or --spo2")
      }
      kinds = [.ppg, .accelerometer]
    }
    count = invocation[StreamOption.count]
    duration = invocation[StreamOption.duration]?.ifLimited
    budget = ReconnectPolicy.Budget(invocation)
    pausesMeasurements = invocation[StreamOption.pausesMeasurements]
    hasBeats = invocation[StreamOption.beats]
    guard !hasBeats || kinds.contains(.ppg) else {
      throw .usage("--beats are found in green light; add --ppg")
    }
  }
}

private enum StreamOption {
  static let all = Flag(
    "--all", help: "stream every ring that is heard within 5 s, or within --wait if it is given")
  static let source = Option(
    "--source", as: .choice("SOURCE", StreamSource.Choice.allCases.map { ($0.rawValue, $0) }),
    default: "auto", help: "the stream: counted (0x69), raw (0xA1), or auto")
  static let count = Option("--count", as: .count, help: "stop after N samples")
  static let duration = Option(
    "--duration", as: .timeLimit,
    help: "stop after this time, counted from the first sample (default: 0, no limit)")
  static let beats = Flag(
    "--beats", help: "print each beat of the pulse between the samples: see halo-raw beats")
  static let plot = Flag(
    "--plot", help: "draw the samples as waveforms on the terminal; records go to --output only")
  static let pausesMeasurements = Flag(
    "--pause-measurements",
    help: "switch off the ring's automatic measurements, which disturb a stream; restore them afterwards")
}

let streamCommand = CommandSpec(
  name: "stream", arguments: "[RING...]",
  summary: "stream the raw sensors: photoplethysmogram, acceleration, red light",
  positionals: 0...StreamGroup.maximumRings,
  options: SampleOption.all + [
    StreamOption.source, StreamOption.all, StreamOption.beats, StreamOption.plot, WebAddress.option,
    StreamOption.count, StreamOption.duration, StreamOption.pausesMeasurements,
    CommonOptions.retryTime,
  ] + PlanOption.all + LiveOption.all + RealTime.options,
  rules: PlanOption.rules,
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
    (
      "halo-raw stream R02_BEEF R02_BEF0 --ppg --count 50 --adapter virtual:rings=2",
      "two rings at once; each line has its ring"
    ),
  ],
  details: """
    Without --ppg, --accel or --spo2, all three are streamed. Each sample is printed as soon as its packet is received.
    A stock ring sends one set per second.

    Rings have one or two streams. All have the raw one (0xA1), of all sensors. Some have a counted one (0x69, kinds 13 and
    14), of one light and acceleration: a lost packet shows as a line of kind "lost", with the number of the first one in
    "packet" and how many in "count"; so does one that is late (count -1), or doubled (0). "sent" has the bytes of a value
    as they were sent: their order, and the sign and scale of acceleration, are not proved. With --source auto, the counted
    stream is used where it has all that is wanted: not for --ppg together with --spo2. A ring is asked once: it has 1.5 s
    to answer, and the answer is kept for its firmware. --source counted without a selection streams --ppg and --accel.

    "t" is the time of the packet in seconds since the first sample, on a clock that is never set; "time" is the same as
    time of day. "seq" counts the samples of each kind from 0, also over a new connection. If the clock of this computer
    is set during the stream, "time" follows, and a line of kind "clock" marks the place.

    With several rings, or --all, "seq", --count, --duration, gaps and the summary are of each ring; "t" is that of all.
    A ring that is out of reach holds no other up: it is connected when it is heard, within --wait, and again within
    --retry-for if its link is lost. If a ring fails, the others go on, and the exit code is that of the first failure.
    Lines are in the order of their ring's packets.

    With --beats, a line of kind "beat" has the time of a beat on the clock of "t" in "beat_s", the interval since the one
    before, the rate of the last ten seconds, and the quality; "note" has why a beat is not accepted. "t" is the time at
    which it was known. Stream --accel, too: without acceleration, movement may look like a pulse.

    The ring may not change the interval of the link, which it would do to save its battery: samples would come late, and
    several at once. --interval 15..125 gives it a choice.

    With --plot, the terminal shows the last ten seconds, or the last minute if the ring is slow, with the scale, the rate,
    the interval of the link, the battery, gaps, and the heart rate where eight samples a second or more show it. Of a ring
    that sends fewer than five a second, there is no wave: the heart rate is then the ring's own, for which the stream pauses
    once a minute, unless the records go to a file or a broker; --measure asks for it there. It takes one ring.

    With --web, a browser shows the same and more: the waves as they come, the beats and how good the light is, the state of
    the link, the day so far, and a field for marks. Port 8642 of this machine is the default, which no other machine
    reaches; at another address, such as --web=0.0.0.0:8642, the page is at a link with a secret, which is shown as a QR
    code, too. Eight viewers have room. A viewer who is too slow misses samples; the records miss none. It takes
    libmicrohttpd: sudo apt install libmicrohttpd12 libqrencode4. halo-raw's documentation has more: docs/live.md.

    With --pause-measurements, the ring's automatic measurements (heart rate, SpO2, stress, HRV, temperature) are off
    during the stream and restored at its end. If the link is lost for good or the program is killed, the next command
    that connects to the ring restores them.

    If no sample arrives for three of the usual intervals and a second, halo-raw reads the ring's battery. If the samples
    were only delayed, they have arrived with the answer. If not, the ring is on its charger, or has stopped the stream:
    the gap is marked, and the stream is started again, for as long as --retry-for allows.

    \(RingPlan.details)
    What it has measured is a line of the kind "measured".

    A line of kind "mark" has what halo-raw mark has marked, from another terminal; a line of kind "event" that the wearer has
    used the ring's button or keys, or an alarm of the ring.

    A line of kind "gap" marks an interruption, with the reason. A line of kind "rejected" has a damaged frame, in its
    place.

    If the output is not read in time, samples are dropped; a line of kind "dropped" has their number, in their place.

    At the end, a summary goes to standard error: samples, rate, jitter, gaps and delays of each kind; and what became of
    every frame. How many samples are missing in a gap is not known: the raw stream does not count them. The counted stream
    has its losses in the summary.

    \(RealTime.details)
    """
) { invocation in
  try RealTime.apply(invocation)
  let options = try StreamOptions(invocation)
  let isAll = invocation[StreamOption.all]
  let selectors = try StreamGroup.selectors(invocation, isAll: isAll)
  if invocation[StreamOption.plot] {
    guard !isAll, selectors.count < 2 else { throw Failure.usage("--plot takes one ring") }
    try StreamPlot.checkTerminal()
  }
  try await Session.run(invocation, endsInOrder: true) { session in
    // Rings ask for slower links, on which samples come late and several at once.
    session.keepParameters()
    try await LiveServer.during(invocation, session) { web in
      let live = try await LiveOutput(invocation, session)
      web?.use(live)
      // A page and a picture are read instead of lines, and the link to the page has to stay in view.
      let isPlotted = invocation[StreamOption.plot]
      let isShown = Console.isTerminal && !invocation.isGiven(CommonOptions.format)
      live.isHidden = isPlotted || web != nil && isShown
      guard !isAll, selectors.count < 2 else {
        return try await StreamGroup(session, live, web, options).run(
          selectors, scanTime: isAll ? invocation.timeForAllRings : nil)
      }
      try await stream(session, live, web, options, isPlotted: isPlotted)
    }
  }
}

/// Streams one ring.
@BluetoothActor
private func stream(
  _ session: Session, _ live: LiveOutput, _ web: LiveServer?, _ options: StreamOptions, isPlotted: Bool
) async throws {
  let link = session.keepStream(live, options)
  let (ring, chosen) = try await link.ask { ring in
    (ring, try await session.chooseStream(of: ring, options))
  }
  let isCounted = chosen.source.isCounted
  try await live.begin(
    ring, columns: SampleWriter.columns(of: options.kinds, isCounted: isCounted, hasBeats: options.hasBeats)
  )
  let isWatched = isPlotted || web != nil
  var plan = try RingPlan(live.invocation, session, live.publisher)
  // A measurement interrupts the stream: not for records that are written or published.
  if isWatched, plan == nil, !live.isFile, live.publisher == nil { plan = RingPlan(demandedBy: session) }
  let beats = isWatched || options.hasBeats ? BeatFinder(of: ring) : nil
  let vitals = isWatched ? StreamVitals(session, options.kinds, plan, beats) : nil
  let plot = isPlotted ? vitals.map { StreamPlot(session, of: ring, options.kinds, $0) } : nil
  let feed = vitals.flatMap { web?.feed(of: ring, name: session.ringName, options.kinds, $0) }
  let writer = SampleWriter(
    live.format, kinds: options.kinds, isCounted: isCounted, hasBeats: options.hasBeats,
    encoding: ring.firmware.accelerometerEncoding, clock: live.clock, ring: live.device,
    header: live.header, output: live.writer)
  let mirror = live.publisher.map {
    SampleMirror($0, of: ring, options.kinds, live.clock, hasBeats: options.hasBeats)
  }
  let observers = [beats as (any SampleObserver)?, mirror, vitals, plot, feed].compactMap { $0 }
  let stream = SampleStream(
    ring, link, chosen, writer: writer, observers: observers, plan, options, session)
  try await live.complete(link, results: { stream.results }) {
    try await stream.run()
  }
}

extension Session {
  /// The ring of a stream, with an interruption of its own.
  func keepStream(
    _ live: LiveOutput, _ options: StreamOptions, of selector: RingSelector? = nil,
    check: @escaping (BluetoothAddress) throws(Failure) -> Void = { _ in }
  ) -> ReconnectingLink<RingClient> {
    let link = keepRing(
      options.budget, of: selector, until: Interruption(following: interruption),
      identifies: live.isDescribed,
      prepare: { [self] ring in
        try await prepareStream(of: ring, options.kinds)
        try await live.describe(ring)
      }, check: check)
    link.countsAsLost = true
    return link
  }

  /// Prepares the properties that the samples of a ring depend on: the encoding of acceleration depends on the firmware.
  private func prepareStream(of ring: RingClient, _ kinds: SampleKinds) async throws(Failure) {
    guard kinds.contains(.accelerometer) else { return }
    if ring.isAssumed || ring.firmware.firmwareRevision == nil { try await identify(ring) }
    warnAboutUnknownFirmware(of: ring, needsAcceleration: true)
  }
}
