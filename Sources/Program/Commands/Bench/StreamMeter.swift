import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import RingLink

/// Measures a stream: when each packet was received, and when its line was written. Lines go to `/dev/null`, as JSON.
@BluetoothActor
final class StreamMeter {
  private let timers: Timers
  /// The connection interval of now; zero if packets do not come at connection events.
  private let currentInterval: () -> Duration
  private var interval = Duration.zero
  private var writer: SampleWriter
  private var statistics = StreamStatistics()
  private var begin: (time: Instant, usage: ProcessUsage)?
  private var end: (time: Instant, usage: ProcessUsage)?
  /// When each packet was received, in nanoseconds since the first one, and how long its line took from there.
  private var received: [Int64] = []
  private var delays: [Int64] = []

  init(_ timers: Timers, writer: consuming SampleWriter, interval: @escaping () -> Duration) {
    self.timers = timers
    currentInterval = interval
    self.writer = writer
  }

  /// The first sample begins the measurement, and is not part of it: the start is over then. With another connection interval,
  /// as some rings ask for after some seconds, the measurement begins again.
  func take(_ sample: RawSample, at time: Instant) {
    guard sample != .refused, end == nil else { return }
    statistics.add(time)
    guard writer.collect(sample, at: time) else { return }
    _ = writer.flush()
    let now = timers.current
    if currentInterval() != interval { beginAgain() }
    guard let begin else { return begin = (time, ProcessUsage.current) }
    received.append(time.nanoseconds(since: begin.time))
    delays.append(now.nanoseconds(since: time))
  }

  private func beginAgain() {
    interval = currentInterval()
    begin = nil
    received = []
    delays = []
    statistics = StreamStatistics()
  }

  func finish() {
    if begin != nil { end = (timers.current, ProcessUsage.current) }
  }

  /// - Parameters:
  ///   - linkInterval: that of the link, also where packets come at any time
  ///   - dropped: how many packets the kernel has dropped; nil if it does not count
  func result(linkInterval: Duration?, dropped: Int?) -> StreamMeasurement? {
    guard let begin, let end, !received.isEmpty else { return nil }
    let nanoseconds = interval.wholeNanoseconds
    var events = ConnectionEvents.delays(of: received, interval: nanoseconds)
    // Packets at any time of the interval: they show no events.
    if Distribution(events.compactMap { $0 }).quantile(0.99) > nanoseconds * 9 / 10 { events = [] }
    let sums = zip(events, delays).compactMap { event, delay in event.map { $0 + delay } }
    return StreamMeasurement(
      samples: received.count, time: end.time - begin.time, rate: statistics.rate, jitter: statistics.jitter,
      interval: interval, linkInterval: linkInterval,
      missed: ConnectionEvents.missed(in: received, interval: nanoseconds),
      eventToPacket: Distribution(events.compactMap { $0 }), packetToLine: Distribution(delays),
      eventToLine: Distribution(sums),
      usage: end.usage - begin.usage, dropped: dropped)
  }
}

/// The time and the work that a stream took.
struct StreamMeasurement {
  var samples: Int
  var time: Duration
  /// Samples a second.
  var rate: Double?
  /// The standard deviation of the time between samples, in seconds.
  var jitter: Double?
  /// The connection interval; zero where packets do not come at connection events, as from simulated rings.
  var interval: Duration
  /// The same where they do not, too; nil if it is not known.
  var linkInterval: Duration?
  /// Connection events without a packet, where one was usual.
  var missed: Int
  var eventToPacket: Distribution
  var packetToLine: Distribution
  var eventToLine: Distribution
  var usage: ProcessUsage
  /// Packets that the kernel has dropped; nil if it does not count.
  var dropped: Int?

  private static let quantiles: [(name: String, part: Double)] = [
    ("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1),
  ]

  private var delays: [(name: String, title: String, Distribution)] {
    [
      ("event_to_packet", "connection event to packet", eventToPacket),
      ("packet_to_line", "packet to line", packetToLine),
      ("event_to_line", "connection event to line", eventToLine),
    ]
  }

  /// In percent of one processor.
  private var load: Double { usage.cpu.inSeconds / max(time.inSeconds, 1e-9) * 100 }
  private var cpuPerSample: Int64 { usage.cpu.wholeNanoseconds / Int64(samples) }
  private var wakeUpsPerSecond: Double { Double(usage.wakeUps) / max(time.inSeconds, 1e-9) }

  /// One record, with a number for each thing.
  var fields: [(name: String, value: Field)] {
    func thousandths(_ value: Double?) -> Field {
      value.map { .decimal(Int(($0 * 1000).rounded()), places: 3) } ?? .number(nil)
    }
    func milliseconds(_ nanoseconds: Int64) -> Field { .decimal(Int(nanoseconds / 1000), places: 3) }
    var fields: [(name: String, value: Field)] = [
      ("samples", .number(samples)),
      ("duration_s", thousandths(time.inSeconds)),
      ("rate_hz", thousandths(rate)),
      ("jitter_ms", thousandths(jitter.map { $0 * 1000 })),
      ("interval_ms", thousandths(linkInterval.map { $0.inSeconds * 1000 })),
      ("missed_events", .number(interval > .zero ? missed : nil)),
    ]
    for (name, _, distribution) in delays {
      for quantile in Self.quantiles {
        let field = distribution.isEmpty ? .number(nil) : milliseconds(distribution.quantile(quantile.part))
        let part = quantile.name.replacing(".", with: "_")
        fields.append(("\(name)_\(part)_ms", field))
      }
    }
    return fields + [
      ("cpu_percent", thousandths(load)),
      ("cpu_per_sample_ms", milliseconds(cpuPerSample)),
      ("wakeups_per_second", thousandths(wakeUpsPerSecond)),
      ("dropped_packets", .number(dropped)),
    ]
  }

  /// The same as tables for a terminal.
  var text: String {
    var lines = ["samples    \(samples) in \(decimal(time.inSeconds, 1)) s"]
    if let rate { lines[0] += ", \(decimal(rate, 2)) a second" }
    if let jitter { lines[0] += ", jitter \(decimal(jitter * 1000, 2)) ms" }
    lines.append("")
    lines.append(Self.row("delay in ms", Self.quantiles.map(\.name)))
    for (_, title, distribution) in delays where !distribution.isEmpty {
      lines.append(
        Self.row(title, Self.quantiles.map { decimal(Double(distribution.quantile($0.part)) / 1e6, 2) }))
    }
    lines.append("")
    if interval > .zero {
      let events = Int(time.inSeconds / interval.inSeconds)
      lines.append(
        "missed     \(missed) of \(events) connection events, \(decimal(interval.inSeconds * 1000, 2)) ms each"
      )
    }
    lines.append(
      "CPU        \(decimal(load, 2)) % of a processor, \(decimal(Double(cpuPerSample) / 1e6, 2)) ms a sample"
    )
    lines.append("wake-ups   \(decimal(wakeUpsPerSecond, 1)) a second")
    if let dropped { lines.append("dropped    \(Console.counted(dropped, "packet")) by the kernel") }
    return lines.joined(separator: "\n")
  }

  private static func row(_ title: String, _ cells: [String]) -> String {
    func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
    return title + spaces(28 - title.count) + cells.map { spaces(9 - $0.count) + $0 }.joined()
  }
}

/// Measured times, sorted.
struct Distribution {
  /// In nanoseconds.
  private let values: [Int64]

  init(_ values: [Int64]) {
    self.values = values.sorted()
  }

  var isEmpty: Bool { values.isEmpty }

  /// The smallest value that a part of all values does not exceed; zero if there is none.
  ///
  /// - Parameter part: 0...1; 0.5 for the median
  func quantile(_ part: Double) -> Int64 {
    guard !values.isEmpty else { return 0 }
    let index = Int((part * Double(values.count)).rounded(.up)) - 1
    return values[min(max(index, 0), values.count - 1)]
  }
}
