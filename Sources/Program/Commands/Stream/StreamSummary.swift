import HaloBluetoothCore
import HaloCommandLine
import HaloStorage
import RingLink

/// The summary of a stream at its end. All that was received is counted once: received = printed + filtered + rejected
/// + dropped + other. A frame of the raw stream is one sample, a packet of the counted stream has two.
struct StreamSummary {
  var printed = 0
  /// Samples of kinds that are not selected.
  var filtered = 0
  /// Damaged frames.
  var rejected = 0
  /// Frames of the stream that hold no sample.
  var other = 0
  /// How often the stream was interrupted.
  private var interruptions = 0
  /// How often it has paused for other requested work.
  private var pauses = 0
  /// Samples that were not printed because the output was not read in time.
  var dropped = 0
  /// The stream of now; nil before it has begun.
  var source: StreamSource?
  /// The packets of the counted stream.
  private(set) var packets = PacketCounter()

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
    default:
      other += 1
      return false
    }
    return true
  }

  /// Counts a packet of the counted stream, and its samples unless it is doubled; allocates nothing.
  mutating func add(_ sample: CountedSample, at time: Instant) -> PacketCounter.Step {
    let step = packets.add(sample)
    guard step.kind != .doubled else { return step }
    if sample.light == .green { ppg.add(time) } else { spo2.add(time) }
    accelerometer.add(time)
    return step
  }

  /// The ring may begin to count anew.
  mutating func requestedAgain() { packets.requestedAgain() }

  /// The stream is interrupted: the time to the next sample is not an interval, but a gap.
  mutating func interrupt(isPlanned: Bool = false) {
    if isPlanned { pauses += 1 } else { interruptions += 1 }
    packets.interrupt()
    ppg.interrupt()
    accelerometer.interrupt()
    spo2.interrupt()
  }

  mutating func finish(at time: Instant) {
    ppg.finish(at: time)
    accelerometer.finish(at: time)
    spo2.finish(at: time)
  }

  /// The output so far.
  var progress: SessionStatus.Progress {
    let last = max(ppg.last, accelerometer.last, spo2.last)
    return SessionStatus.Progress(records: printed, last: last > .zero ? last : nil)
  }

  private var all: [(kind: SampleKinds, name: String, statistics: StreamStatistics)] {
    [(.ppg, "ppg", ppg), (.accelerometer, "accel", accelerometer), (.spo2, "spo2", spo2)]
  }

  private var received: Int { printed + filtered + rejected + other + dropped }

  var hasAcceleration: Bool { accelerometer.count > 0 }

  /// The interval between samples of a kind; zero if it is unknown.
  var usualInterval: Duration {
    all.compactMap(\.statistics.rate).max().map { .nanoseconds(Int64(1e9 / $0)) } ?? .zero
  }

  /// The rates and the counts, by name. A ring has its own rate: none is asked for.
  var results: [String: JSONValue] {
    var rates: [String: JSONValue] = [:]
    var counts: [String: JSONValue] = [:]
    for (_, name, statistics) in all where statistics.count > 0 {
      rates[name] = .object([
        "Asked": .null, "Measured": statistics.rate.map { .number(($0 * 1000).rounded() / 1000) } ?? .null,
      ])
      counts[name] = .integer(statistics.count)
    }
    var results: [String: JSONValue] = [
      "Source": source.map { .string($0.name) } ?? .null, "SamplingFrequency": .object(rates),
      "Samples": .object(counts),
      "Gaps": .integer(interruptions), "Pauses": .integer(pauses),
      "Received": .integer(received), "Printed": .integer(printed), "NotSelected": .integer(filtered),
      "Rejected": .integer(rejected), "Other": .integer(other), "Dropped": .integer(dropped),
    ]
    if packets.received > 0 { results["Packets"] = packetResults }
    return results
  }

  private var packetResults: JSONValue {
    .object([
      "Received": .integer(packets.received), "Doubled": .integer(packets.doubled),
      "Late": .integer(packets.late), "Lost": packets.ringCounts ? .integer(packets.lost) : .null,
      "LostPercent": packets.ringCounts
        ? .number(((packets.lossRatio ?? 0) * 100_000).rounded() / 1000) : .null,
    ])
  }

  /// `packets: 1500 received, 15 lost (0.99 %)`
  private var packetLine: String {
    var line = "packets: \(packets.received) received, "
    guard packets.ringCounts else { return line + "not counted by this ring: losses are not known" }
    line += "\(packets.lost) lost (\(decimal((packets.lossRatio ?? 0) * 100, 2)) %)"
    if packets.doubled > 0 { line += ", \(packets.doubled) doubled" }
    if packets.late > 0 { line += ", \(packets.late) late" }
    return line
  }

  /// A line for each requested kind, and one for samples that were not printed; with 80 columns or fewer.
  func lines(of kinds: SampleKinds) -> [String] {
    var lines: [String] = []
    for (kind, name, statistics) in all where kinds.contains(kind) && statistics.count > 0 {
      var line = "\(name): \(Console.counted(statistics.count, "sample"))"
      if let rate = statistics.rate { line += ", \(decimal(rate, 2))/s" }
      if let jitter = statistics.jitter { line += ", jitter \(decimal(jitter * 1000, 2)) ms" }
      line += ", longest pause \(decimal(Double(statistics.longestInterval) / 1e6, 1)) ms"
      line += ", " + Console.counted(statistics.gaps + interruptions, "gap")
      if statistics.delays > 0 { line += ", " + Console.counted(statistics.delays, "delay") }
      lines.append(line)
    }
    if packets.received > 0 { lines.append(packetLine) }
    lines.append(
      "\(Console.counted(received, packets.received > 0 ? "sample" : "frame")) received: \(printed) printed, \(filtered) not selected, \(rejected) rejected"
        + (other > 0 ? ", \(other) other" : ""))
    if pauses > 0 { lines.append("\(Console.counted(pauses, "pause")) for what was asked for in between") }
    if dropped > 0 { lines.append("\(dropped) dropped because the output was not read in time") }
    return lines
  }
}
