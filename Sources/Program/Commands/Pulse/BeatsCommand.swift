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
      "halo-raw stream --ppg --accel --duration 30s --adapter virtual:fast | halo-raw beats -",
      "print the beats while they happen"
    ),
    (
      "halo-raw stream --ppg --accel --duration 1m --output light.csv --adapter virtual:fast",
      "first, a minute of light"
    ),
    ("halo-raw beats light.csv", "print a line for each beat, and a summary"),
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
  while let input, !interruption.isRequested, !printer.hasFailed {
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
  try printer.finish(path, isInterrupted: interruption.isRequested)
}

private func unreadable(_ error: FileError) -> Failure { Failure(.cannotOpenFile, "cannot read \(error)") }

/// Prints the beats of the rings in a file.
@BluetoothActor
private final class BeatPrinter {
  private let format: OutputFormat
  private let printsSeconds: Bool
  private var output = Console.output()
  private var input = PulseInput()
  /// In the order in which they came.
  private var pulses: [(ring: String, tally: PulseTally)] = []
  private var malformed = 0
  private static let mostRings = 64

  init(_ format: OutputFormat, seconds: Bool) {
    self.format = format
    printsSeconds = seconds
    guard format == .csv else { return }
    output.write("# time,quality,said,reason,interval_s,bpm,ring\n")
    output.flush()
  }

  var hasFailed: Bool { output.failure != nil }
  var isDelayed: Bool { output.isDelayed }

  func flush() { output.flush() }

  func take(_ line: InputLines.Line) {
    guard let text = line.text else { return malformed += 1 }
    switch input.read(Array(text.utf8)[...]) {
    case .sample(let sample): add(sample)
    case .interruption(let ring):
      for (name, tally) in pulses where ring.isEmpty || name == ring {
        print(tally.interrupt(), of: name, tally)
      }
    case .other: break
    case .malformed: malformed += 1
    }
  }

  private func add(_ sample: PulseInput.Sample) {
    guard let tally = tally(of: sample.ring) else { return }
    let events = tally.add(
      at: sample.time, light: sample.light, acceleration: sample.acceleration, counter: sample.counter)
    print(events, of: sample.ring, tally)
    if let slowness = tally.takeSlowness() { Console.error(label(sample.ring) + slowness) }
  }

  private func tally(of ring: String) -> PulseTally? {
    if let known = pulses.first(where: { $0.ring == ring }) { return known.tally }
    guard pulses.count < Self.mostRings else { return nil }
    let tally = PulseTally()
    pulses.append((ring, tally))
    return tally
  }

  /// Prints the beats that wait, and the summaries.
  func finish(_ path: String, isInterrupted: Bool) throws(Failure) {
    for (ring, tally) in pulses { print(tally.interrupt(), of: ring, tally) }
    flush()
    guard !pulses.isEmpty else {
      guard !isInterrupted, !hasFailed else { return }
      let name = path == "-" ? "standard input" : path.printable
      throw Failure(.badData, "\(name) has no light of halo-raw stream, and no columns t and ppg")
    }
    if malformed > 0 { Console.error("halo-raw: \(Console.counted(malformed, "line")) left out: damaged") }
    for (ring, tally) in pulses { for line in tally.summary { Console.error(label(ring) + line) } }
    guard pulses.contains(where: { $0.tally.isFastEnough }) else {
      throw Failure(
        .badData,
        "no beats; stream --source counted may have more samples a second, and measure heart-rate has the ring's own rate"
      )
    }
  }

  // MARK: Lines

  private func print(_ events: [PulseEvent], of ring: String, _ tally: PulseTally) {
    for event in events {
      switch event {
      case .wave: continue
      case .beat(let beat): write(beat, bpm: tally.beatsPerMinute(at: beat), ring)
      case .interruption(let time): write("break", at: time, of: ring)
      case .second(let second):
        guard printsSeconds else { continue }
        write("second", at: second.start, quality: second.quality, second.reason, of: ring)
      }
      output.endLine()
    }
  }

  private func write(_ beat: Beat, bpm: Double?, _ ring: String) {
    let interval = beat.interval.map { Self.digits($0, 4) }
    let bpm = bpm.map { Self.digits($0, 1) }
    let (time, said) = (Self.digits(beat.time, 5), Self.digits(beat.said, 4))
    let quality = Self.digits(beat.quality, 3)
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
        "\(Self.digits(beat.time, 3)) s  \(label(ring))\(shown)  quality \(Self.digits(beat.quality, 2))")
      output.write(beat.reason == .good ? "\n" : "  \(beat.reason.rawValue)\n")
    }
  }

  /// Writes a line that is no beat.
  private func write(
    _ kind: String, at time: Double, quality: Double? = nil, _ reason: PulseReason? = nil, of ring: String
  ) {
    let time = Self.digits(time, 4)
    let quality = quality.map { Self.digits($0, 3) }
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

  private static func digits(_ value: Double, _ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return DecimalText.string(Int64((value * scale).rounded()), places: places)
  }
}
