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
