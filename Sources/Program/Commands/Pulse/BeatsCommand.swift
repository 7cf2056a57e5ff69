import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import HaloSystem
import HaloViews

private enum BeatsOption {
  static let seconds = Flag("--seconds", help: "print the quality of each second, too")
}

let beatsCommand = CommandSpec(
  name: "beats", arguments: "FILE",
  summary: "find the beats of the pulse in the light that stream has written",
  file: .reads, options: [BeatsOption.seconds, CommonOptions.format],
  examples: [
    (
      "halo-raw stream --ppg --accel --duration 1m --output light.csv --adapter virtual:fast",
      "first, a minute of light"
    ),
    ("halo-raw beats light.csv", "print a line for each beat, and a summary"),
    (
      "halo-raw stream --ppg --accel --duration 30s --adapter virtual:fast | halo-raw beats -",
      "print the beats while they happen"
    ),
  ],
  details: """
    FILE is what stream has written, as text, csv or jsonl, or a table of csv with the columns t (seconds) and ppg (counts, a
    beat is a fall), and x, y, z (g) and n (a counter of packets) if there are any; - is standard input, whose beats are
    printed as they come.

    Each line is a beat: its time, on the clock of t; its quality from 0 to 1, and the time at which it was known. The interval
    is that since the beat before, the rate that of the last ten seconds. A beat of a quality below 0.5 is not accepted, for the
    reason that is given: it has no interval, and belongs to no rate. A line "break" is a time across which no interval leads.
    In csv, the names of the columns are a comment.

    The times of arrival are not those of measurement: a line through them is, with a constant delay. 25 samples a second show
    a variability, 8 a rate; a stock ring's one a second shows no beat. Without acceleration, movement is not watched. Times are
    those of the pulse at the finger, not of the heart. This is not a medical device. halo-raw's documentation has the
    figures: docs/pulse.md.
    """,
  usesAdapter: false
) { invocation in
  let interruption = Interruption()
  let path = invocation.positionals[0]
  let printer = BeatPrinter(
    invocation[CommonOptions.format] ?? .standard, seconds: invocation[BeatsOption.seconds])
  let input = try await interruption.cancels { () async throws(Failure) in
    do throws(FileError) { return try await InputPieces(path) } catch { throw unreadable(error) }
  }
  var lines = InputLines(longest: 1 << 20)
  while !interruption.isRequested, !printer.hasFailed {
    let piece = try await interruption.cancels { () async throws(Failure) in
      do throws(FileError) { return try await input.next() } catch { throw unreadable(error) }
    }
    guard let piece else { break }
    for line in lines.take(piece[...]) { printer.take(line) }
    printer.flush()
    if printer.isDelayed {
      await interruption.cancels { () async in await OutputQueue.standardOutput.drain() }
    }
  }
  if let line = lines.finish(), !interruption.isRequested { printer.take(line) }
  try printer.finish(path)
}

private func unreadable(_ error: FileError) -> Failure { Failure(.cannotOpenFile, "cannot read \(error)") }

/// Prints the beats of the rings in a file.
@BluetoothActor
private final class BeatPrinter {
  /// The pulse of one ring, and what was printed of it.
  private final class Pulse {
    var monitor = PulseMonitor()
    /// What is to be printed.
    var events: [PulseEvent] = []
    /// In seconds: the first sample.
    var first: Double?
    var accepted = 0
    var refused: [PulseReason: Int] = [:]
    var sum = 0.0
    var intervals = 0
    var hadMotion = false
    var isSaidToBeSlow = false

    func add(_ sample: PulseInput.Sample) {
      first = first ?? sample.time
      hadMotion = hadMotion || monitor.detector.watchesMotion
      monitor.add(
        at: sample.time, light: sample.light, acceleration: sample.acceleration, counter: sample.counter
      ) { events.append($0) }
    }

    func interrupt() { monitor.interrupt { events.append($0) } }
  }

  private let format: OutputFormat
  private let printsSeconds: Bool
  private var output = Console.output()
  private var input = PulseInput()
  /// In the order in which they came.
  private var pulses: [(ring: String, pulse: Pulse)] = []
  private var malformed = 0
  private static let mostRings = 64

  init(_ format: OutputFormat, seconds: Bool) {
    self.format = format
    printsSeconds = seconds
    if format == .csv { output.write("# time,quality,said,reason,interval_s,bpm,ring\n") }
  }

  var hasFailed: Bool { output.failure != nil }
  var isDelayed: Bool { output.isDelayed }

  func flush() { output.flush() }

  func take(_ line: InputLines.Line) {
    guard let text = line.text else { return malformed += 1 }
    switch input.read(Array(text.utf8)[...]) {
    case .sample(let sample): add(sample)
    case .interruption(let ring):
      for (name, pulse) in pulses where ring.isEmpty || name == ring {
        pulse.interrupt()
        print(pulse, of: name)
      }
    case .other: break
    case .malformed: malformed += 1
    }
  }

  private func add(_ sample: PulseInput.Sample) {
    guard let pulse = pulse(of: sample.ring) else { return }
    pulse.add(sample)
    print(pulse, of: sample.ring)
    guard !pulse.isSaidToBeSlow, !isFastEnough(pulse), let rate = pulse.monitor.detector.rate else { return }
    pulse.isSaidToBeSlow = true
    Console.error(
      label(sample.ring)
        + "\(Self.decimal(rate, 1)) samples a second show no beats: a rate needs \(Int(PulseDetector.leastRate)), a variability 25"
    )
  }

  private func pulse(of ring: String) -> Pulse? {
    if let known = pulses.first(where: { $0.ring == ring }) { return known.pulse }
    guard pulses.count < Self.mostRings else { return nil }
    let pulse = Pulse()
    pulses.append((ring, pulse))
    return pulse
  }

  // MARK: Lines

  private func print(_ pulse: Pulse, of ring: String) {
    for event in pulse.events { print(event, of: ring, pulse) }
    pulse.events.removeAll(keepingCapacity: true)
  }

  private func print(_ event: PulseEvent, of ring: String, _ pulse: Pulse) {
    switch event {
    case .wave: return
    case .beat(let beat):
      count(beat, pulse)
      write(beat, bpm: beat.isAccepted ? pulse.monitor.rate.beatsPerMinute(at: beat.time) : nil, ring)
    case .interruption(let time): write("break", at: time, of: ring)
    case .second(let second):
      guard printsSeconds else { return }
      write("second", at: second.start, quality: second.quality, second.reason, of: ring)
    }
    output.endLine()
  }

  private func count(_ beat: Beat, _ pulse: Pulse) {
    if beat.isAccepted { pulse.accepted += 1 } else { pulse.refused[beat.reason, default: 0] += 1 }
    guard let interval = beat.interval else { return }
    pulse.sum += interval
    pulse.intervals += 1
  }

  private func write(_ beat: Beat, bpm: Double?, _ ring: String) {
    let interval = beat.interval.map { Self.decimal($0, 4) }
    let bpm = bpm.map { Self.decimal($0, 1) }
    let (time, said) = (Self.decimal(beat.time, 5), Self.decimal(beat.said, 4))
    let quality = Self.decimal(beat.quality, 3)
    switch format {
    case .csv:
      output.write(
        "\(time),\(quality),\(said),\(beat.reason.rawValue),\(interval ?? ""),\(bpm ?? ""),\(Field.text(ring).csv)\n"
      )
    case .jsonl:
      output.write(
        "{\"t\":\(time),\"kind\":\"beat\",\"quality\":\(quality),\"said\":\(said),\"reason\":\"\(beat.reason.rawValue)\","
          + "\"interval_s\":\(interval ?? "null"),\"bpm\":\(bpm ?? "null"),\"ring\":\(Field.text(ring).json)}\n"
      )
    case .text:
      let numbers = [bpm.map { "\($0) bpm" }, beat.interval.map { "\(Int(($0 * 1000).rounded())) ms" }]
      let shown = beat.isAccepted ? numbers.compactMap(\.self).joined(separator: "  ") : "-"
      output.write(
        "\(Self.decimal(beat.time, 3)) s  \(label(ring))\(shown)  quality \(Self.decimal(beat.quality, 2))")
      output.write(beat.reason == .good ? "\n" : "  \(beat.reason.rawValue)\n")
    }
  }

  /// Writes a line that is no beat.
  private func write(
    _ kind: String, at time: Double, quality: Double? = nil, _ reason: PulseReason? = nil, of ring: String
  ) {
    let time = Self.decimal(time, 4)
    let quality = quality.map { Self.decimal($0, 3) }
    switch format {
    case .csv:
      output.write("\(kind),\(time),\(quality ?? ""),\(reason?.rawValue ?? ""),,,\(Field.text(ring).csv)\n")
    case .jsonl:
      let members = quality.map { ",\"quality\":\($0),\"reason\":\"\(reason?.rawValue ?? "")\"" } ?? ""
      output.write("{\"t\":\(time),\"kind\":\"\(kind)\"\(members),\"ring\":\(Field.text(ring).json)}\n")
    case .text:
      let rest = quality.map { "  quality \($0)  \(reason?.rawValue ?? "")" } ?? ""
      output.write("\(time) s  \(label(ring))\(kind)\(rest)\n")
    }
  }

  private func label(_ ring: String) -> String { pulses.count > 1 ? "\(ring.printable)  " : "" }

  private static func decimal(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return DecimalText.string(Int64((value * scale).rounded()), places: places)
  }

  // MARK: The end

  /// Prints the beats that wait, and the summaries.
  func finish(_ path: String) throws(Failure) {
    for (ring, pulse) in pulses {
      pulse.interrupt()
      print(pulse, of: ring)
    }
    flush()
    guard !pulses.isEmpty else {
      let name = path == "-" ? "standard input" : path.printable
      throw Failure(.badData, "\(name) has no light of halo-raw stream, and no columns t and ppg")
    }
    if malformed > 0 { Console.error("halo-raw: \(Console.counted(malformed, "line")) left out: damaged") }
    for (ring, pulse) in pulses { for line in summary(pulse) { Console.error(label(ring) + line) } }
    guard pulses.contains(where: { isFastEnough($0.pulse) }) else {
      throw Failure(
        .badData,
        "no beats; stream --source counted may have more samples a second, and measure heart-rate has the ring's own rate"
      )
    }
  }

  private func isFastEnough(_ pulse: Pulse) -> Bool {
    pulse.monitor.detector.rate.map { $0 >= PulseDetector.leastRate } ?? true
  }

  private func summary(_ pulse: Pulse) -> [String] {
    let seconds = pulse.monitor.time - (pulse.first ?? pulse.monitor.time)
    let rate = pulse.monitor.detector.rate.map { ", \(Self.decimal($0, 1)) samples a second" } ?? ""
    var lines = ["\(Self.decimal(seconds, 1)) s of light\(rate)"]
    guard isFastEnough(pulse) else { return lines }
    let all = pulse.accepted + pulse.refused.values.reduce(0, +)
    var first = "\(Console.counted(all, "beat")), \(pulse.accepted) accepted"
    if pulse.intervals > 0 { first += "; \(Self.decimal(60 * Double(pulse.intervals) / pulse.sum, 1)) bpm" }
    lines.append(first)
    let reasons = PulseReason.allCases.compactMap { reason in
      pulse.refused[reason].map { "\(reason.rawValue) \($0)" }
    }
    if !reasons.isEmpty { lines.append("not accepted: " + reasons.joined(separator: ", ")) }
    lines += variability(pulse)
    if !pulse.hadMotion, all > 0 { lines.append("movement was not watched: the stream has no acceleration") }
    if pulse.monitor.detector.polarity > 0 { lines.append("the light rises with the blood: it was turned") }
    return lines
  }

  private func variability(_ pulse: Pulse) -> [String] {
    let summary = pulse.monitor.variability.summary(at: pulse.monitor.time)
    guard let rmssd = summary.rmssd else { return [] }
    let sdnn = summary.sdnn.map { ", SDNN \(Self.decimal($0 * 1000, 1)) ms" } ?? ""
    let mark = summary.isEstimate ? ", an estimate" : ""
    return [
      "last \(Int(summary.window)) s: RMSSD \(Self.decimal(rmssd * 1000, 1)) ms\(sdnn), of pulse intervals on \(Int(summary.coverage * 100)) % of the time\(mark); timing errors alone give an RMSSD of \(Self.decimal(summary.floor * 1000, 1)) ms"
    ]
  }
}
