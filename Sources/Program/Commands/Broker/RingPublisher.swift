import HaloBluetoothCore
import HaloStorage
import HaloCommandLine
import HaloMQTT
import RingLink

/// The messages of one device for a broker: its records in a batch each second, and its state.
@BluetoothActor
final class RingPublisher {
  private let output: BrokerOutput
  private let device: BluetoothAddress
  private let batches: RecordBatches
  private var clock: RecordClock
  private var timer: Timers.Token?
  private var reading: PeriodicReading?
  private let presence: RingPresence
  private var state = RingState()
  /// When the state changed; nil if it is published.
  private var changed: Instant?
  /// The readings that are not published, with their times.
  private var readings: [RingValue: (reading: RingReading, time: String)] = [:]
  /// The newest stored values that were published.
  private var stored = StoredValues()
  /// The values that the ring has sent itself.
  private var measured: Set<RingValue> = []
  /// The last values of counted samples.
  private var vitals: [CountedSample.Light: (number: Int, time: Instant)] = [:]
  /// Passes on the records that are collected elsewhere.
  var collect: () -> Void = {}

  /// How much time a batch has.
  private static let interval = Duration.seconds(1)
  private static let readingInterval = Duration.seconds(600)
  /// When the same value of a counted stream is published again.
  private static let vitalInterval = Duration.seconds(60)

  init(_ output: BrokerOutput, of device: BluetoothAddress, name: String?) {
    self.output = output
    self.device = device
    clock = output.session.clock.recordClock
    presence = RingPresence(output, of: device, name: name)
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

  private func sendAll(isEnd: Bool = false) {
    collect()
    batches.send()
    presence.check(publishing: Set(readings.keys), isEnd: isEnd)
    for (value, (reading, time)) in readings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      output.send(reading.message(output.topics, value, of: device, time: time))
    }
    readings = [:]
    guard let changed else { return }
    self.changed = nil
    output.send(state.message(output.topics, of: device, time: clock.text(changed)))
  }

  /// Sends the last records.
  func finish() {
    output.session.timers.cancel(timer)
    sendAll(isEnd: true)
    presence.finish()
    collect = {}
  }

  // MARK: The state

  /// Makes the ring appear in Home Assistant, each time that there is a link to it.
  ///
  /// - Parameter ring: the ring, on its link of now
  func announce(_ ring: @escaping @BluetoothActor () -> RingClient?) {
    presence.follow(ring)
  }

  private func update(_ value: RingValue, _ json: JSONValue, isEstimate: Bool = false) {
    let now = output.session.timers.current.wholeMicroseconds
    update(value, RingReading(json, isEstimate: isEstimate), at: clock.text(now))
    measured.insert(value)
    guard !isEstimate else { return }
    let old = state
    state.take(value, json)
    if state != old { changed = now }
  }

  /// A value of another time.
  ///
  /// - Parameter time: ISO 8601
  private func update(_ value: RingValue, _ reading: RingReading, at time: String) {
    readings[value] = (reading, time)
  }

  /// Publishes the newest of the ring's stored values, but for values that this command has measured: those are newer.
  func update(_ newest: StoredValues) {
    for (value, reading) in newest.values where !measured.contains(value) {
      guard stored.values[value].map({ $0.time < reading.time }) ?? true else { continue }
      update(value, reading.value, at: reading.time.description)
    }
    stored = newest
    // The ring is described while there is a link to it.
    sendAll()
  }

  func update(_ event: RingEvent, at time: Instant) {
    switch event {
    case .battery(let battery): update(battery)
    case .liveTotals(let totals): update(.steps, .integer(Int(totals.steps)))
    case .sport(let sport) where sport.beatsPerMinute > 0:
      update(.heartRate, .integer(Int(sport.beatsPerMinute)))
    case .skinTemperature(let tenths): update(.temperature, .number(Double(tenths) / 10))
    case .counter(let value): update(.counter, .integer(Int(value)))
    case .button(let button): tell(.button("\(button)"), at: time)
    case .heartRateAlarm(let alarm):
      update(.heartRate, .integer(Int(alarm.beatsPerMinute)))
      tell(.alarm(alarm.word, beatsPerMinute: Int(alarm.beatsPerMinute)), at: time)
    default: break
    }
  }

  private func tell(_ moment: RingMoment, at time: Instant) {
    output.send(moment.message(output.topics, of: device, time: clock.text(time)))
  }

  /// Takes the ring's own value of a counted stream, which comes with each of its samples.
  func update(_ vital: Int, of light: CountedSample.Light) {
    let value: RingValue = light == .green ? .heartRate : .spo2
    let now = output.session.timers.current
    if let last = vitals[light], last.number == vital, now - last.time < Self.vitalInterval { return }
    vitals[light] = (vital, now)
    update(value, .integer(vital))
  }

  func update(_ reading: MeasurementReading) {
    switch (reading.value, reading.estimate) {
    case (.heartRate(let rate), nil): update(.heartRate, .integer(rate))
    case (.combined(let values), nil) where values.beatsPerMinute > 0:
      update(.heartRate, .integer(Int(values.beatsPerMinute)))
    case (.oxygen(let percent), nil): update(.spo2, .integer(percent))
    // Firmware makes up part of them, which is said with them.
    case (.variability(let milliseconds), _): update(.hrv, .integer(milliseconds), isEstimate: true)
    case (.stress(let stress), _): update(.stress, .integer(stress), isEstimate: true)
    default: break
    }
  }

  private func update(_ battery: RingBattery) {
    update(.battery, .integer(Int(battery.percent)))
    update(.charging, .bool(battery.isCharging))
  }

  /// Announces the ring, and reads its battery and steps now and every ten minutes, until ``end()``.
  ///
  /// - Parameters:
  ///   - identification: the task to wait for first
  ///   - ring: the ring, on its link of now
  func watch(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {
    var isAnnounced = false
    let reading = PeriodicReading(output.session.timers, every: Self.readingInterval) { [self] in
      if !isAnnounced { announce(ring) }
      isAnnounced = true
      await read(ring())
    }
    reading.begin(after: identification)
    self.reading = reading
  }

  private func read(_ ring: RingClient) async {
    // A ring that does not answer now may do so the next time.
    do throws(RingError) {
      update(try await ring.battery())
      update(.steps, .integer(Int(try await ring.today().steps)))
    } catch {
      output.session.note("--mqtt: \(error)")
    }
  }

  func end() async {
    await reading?.end()
    reading = nil
  }
}
