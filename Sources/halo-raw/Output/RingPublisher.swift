import BluetoothCore
import LineOutput
import MQTT
import RingLink

/// What a broker gets of one device: its records in a batch each second, and what is known of it.
@BluetoothActor
final class RingPublisher {
  private let output: BrokerOutput
  private let device: BluetoothAddress
  private let name: String?
  private let batches: RecordBatches
  private var clock: RecordClock
  private var state = RingState()
  /// When the state changed; nil if it is published.
  private var changed: Instant?
  private var timer: Timers.Token?
  private var reading: PeriodicReading?
  /// Passes on the records that are collected elsewhere.
  fileprivate var collect: () -> Void = {}

  /// How much time a batch has.
  private static let interval = Duration.seconds(1)
  private static let readingInterval = Duration.seconds(600)

  init(_ output: BrokerOutput, of device: BluetoothAddress, name: String?) {
    self.output = output
    self.device = device
    self.name = name
    clock = output.session.clock.recordClock
    let topic = output.topics.batches(of: device, output.command)
    batches = RecordBatches(BatchMaker(ring: device, name: name)) { batch in
      output.send(Message(topic: topic, payload: batch))
    }
    output.add(self)
    scheduleBatch()
  }

  /// Takes lines of JSON.
  var writer: LineWriter { LineWriter(to: batches) }

  private func scheduleBatch() {
    timer = output.session.timers.schedule(after: Self.interval) { [self] in
      sendAll()
      scheduleBatch()
    }
  }

  private func sendAll() {
    collect()
    batches.send()
    guard let changed else { return }
    self.changed = nil
    output.send(state.message(output.topics, of: device, time: clock.text(changed)))
  }

  /// Sends the last records.
  func finish() {
    output.session.timers.cancel(timer)
    sendAll()
    collect = {}
  }

  // MARK: The state

  /// Makes the ring appear in Home Assistant.
  func announce(_ ring: Ring) {
    let assistant = HomeAssistant(
      device, name: name, model: ring.firmware.hardwareRevision, firmware: ring.firmware.firmwareRevision,
      topics: output.topics,
      moments: RingMoments(
        buttons: RingEvent.Button.allCases.map { "\($0)" }, alarms: HeartRateAlarm.words),
      version: HelpPage.version)
    for message in assistant.messages { output.send(message) }
  }

  func update(_ change: (inout RingState) -> Void) {
    let old = state
    change(&state)
    if state != old { changed = output.session.timers.current.wholeMicroseconds }
  }

  func update(_ event: RingEvent, at time: Instant) {
    switch event {
    case .battery(let battery): update(battery)
    case .liveTotals(let totals): update { $0.steps = Int(totals.steps) }
    case .sport(let sport) where sport.beatsPerMinute > 0:
      update { $0.beatsPerMinute = Int(sport.beatsPerMinute) }
    case .counter(let value): update { $0.counter = Int(value) }
    case .button(let button): tell(.button("\(button)"), at: time)
    case .heartRateAlarm(let alarm):
      update { $0.beatsPerMinute = Int(alarm.beatsPerMinute) }
      tell(.alarm(alarm.word, beatsPerMinute: Int(alarm.beatsPerMinute)), at: time)
    default: break
    }
  }

  private func tell(_ moment: RingMoment, at time: Instant) {
    output.send(moment.message(output.topics, of: device, time: clock.text(time)))
  }

  func update(_ reading: MeasurementReading) {
    guard reading.estimate == nil else { return }
    switch reading.value {
    case .heartRate(let rate): update { $0.beatsPerMinute = rate }
    case .combined(let values) where values.beatsPerMinute > 0:
      update { $0.beatsPerMinute = Int(values.beatsPerMinute) }
    default: break
    }
  }

  private func update(_ battery: RingBattery) {
    update {
      $0.batteryPercent = Int(battery.percent)
      $0.isCharging = battery.isCharging
    }
  }

  /// Announces the ring, and reads its battery and steps now and every ten minutes, until ``end()``.
  ///
  /// - Parameters:
  ///   - identification: what is waited for first
  ///   - ring: the ring, on its link of now
  func watch(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> Ring) {
    var isAnnounced = false
    let reading = PeriodicReading(output.session.timers, every: Self.readingInterval) { [self] in
      if !isAnnounced { announce(ring()) }
      isAnnounced = true
      await read(ring())
    }
    reading.begin(after: identification)
    self.reading = reading
  }

  private func read(_ ring: Ring) async {
    // A ring that does not answer now may do so the next time.
    do throws(RingError) {
      update(try await ring.battery())
      let today = try await ring.today()
      update { $0.steps = Int(today.steps) }
    } catch {
      output.session.note("--mqtt: \(error)")
    }
  }

  /// Ends what ``watch(after:_:)`` began.
  func end() async {
    await reading?.end()
    reading = nil
  }
}

/// Puts lines of JSON into batches.
private final class RecordBatches: RecordSink {
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

  /// Sends what there is.
  func send() {
    if !maker.isEmpty { publish(maker.take()) }
  }
}

/// The samples of a stream for a broker: the same records as its output in JSON has, in any format of it.
@BluetoothActor
final class SampleMirror {
  let publisher: RingPublisher
  private var writer: SampleWriter

  /// In bytes: when collected records leave before the second is over.
  private static let largestCollection = 1 << 14

  init(
    _ publisher: RingPublisher, of ring: Ring, _ kinds: SampleKinds, _ clock: borrowing RecordClock,
    origin: RecordOrigin = RecordOrigin()
  ) {
    self.publisher = publisher
    writer = SampleWriter(
      .jsonl, kinds: kinds, encoding: ring.firmware.accelerometerEncoding, clock: clock,
      ring: ring.client.peer.description, origin: origin, output: publisher.writer)
    // Until the end of the publisher: the stream may be gone before the last batch is made.
    publisher.collect = { _ = self.writer.flush() }
  }

  func take(_ sample: RawSample, at time: Instant) {
    _ = writer.collect(sample, at: time)
    passOn()
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    _ = writer.collect(sample, packet: packet, at: time)
    passOn()
  }

  private func passOn() {
    if writer.output.pending > Self.largestCollection { _ = writer.flush() }
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) { writer.mark(mark, at: time) }
}
