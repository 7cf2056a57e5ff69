import HaloBluetoothCore
import HaloCommandLine
import HaloMQTT
import RingLink

/// The samples of a stream for a broker: the same records as its output in JSON has, in any format of it.
@BluetoothActor
final class SampleMirror: SampleObserver {
  let publisher: RingPublisher
  private var writer: SampleWriter
  /// Whether the heart rate is that of the beats, and not what the ring says with each counted sample.
  private let hasBeats: Bool

  /// In bytes: when collected records leave before the second is over.
  private static let largestCollection = 1 << 14

  init(
    _ publisher: RingPublisher, of ring: RingClient, _ kinds: SampleKinds, _ clock: borrowing RecordClock,
    origin: RecordOrigin = RecordOrigin(), hasBeats: Bool = false
  ) {
    self.publisher = publisher
    self.hasBeats = hasBeats
    writer = SampleWriter(
      .jsonl, kinds: kinds, hasBeats: hasBeats, encoding: ring.firmware.accelerometerEncoding, clock: clock,
      ring: ring.connection.peer.description, origin: origin, output: publisher.writer)
    // Until the end of the publisher: the stream may be gone before the last batch is made.
    publisher.collect = { _ = self.writer.flush() }
  }

  func take(_ sample: RawSample, at time: Instant) {
    _ = writer.collect(sample, at: time)
    passOn()
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    _ = writer.collect(sample, packet: packet, at: time)
    if sample.vital > 0, !hasBeats || sample.light != .green {
      publisher.update(Int(sample.vital), of: sample.light)
    }
    passOn()
  }

  private func passOn() {
    if writer.output.pending > Self.largestCollection { _ = writer.flush() }
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    if case .beat = mark, !hasBeats { return }
    writer.mark(mark, at: time)
    if case .beat(_, let rate?) = mark { publisher.update(Int(rate.rounded()), of: .green) }
  }

  func take(_ event: RingEvent, at time: Instant) { publisher.update(event, at: time) }

  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {
    publisher.watch(after: identification, ring)
  }

  func end() async { await publisher.end() }
}

/// Puts lines of JSON into batches.
final class RecordBatches: RecordSink {
  private var maker: BatchMaker
  private let publish: ([UInt8]) -> Void

  init(_ maker: BatchMaker, _ publish: @escaping ([UInt8]) -> Void) {
    self.maker = maker
    self.publish = publish
  }

  func take(_ records: RawSpan, ends: Span<Int>) {
    var start = 0
    for index in ends.indices {
      let batch = maker.add(records.extracting(start..<ends[index]))
      start = ends[index]
      if let batch { publish(batch) }
    }
  }

  /// Sends the waiting samples.
  func send() {
    if !maker.isEmpty { publish(maker.take()) }
  }
}
