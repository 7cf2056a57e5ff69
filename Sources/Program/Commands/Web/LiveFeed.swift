import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import HaloViews
import RingLink

/// The stream of one ring for its viewers in browsers: samples in batches, and everything else as it comes. Without viewers,
/// only the day is kept.
@BluetoothActor
final class LiveFeed: SampleObserver {
  let address: BluetoothAddress
  /// The number of the ring on the page.
  let index: Int
  let name: String?
  /// Gets the messages.
  private unowned let server: LiveServer
  private let kinds: SampleKinds
  private let session: Session
  private let vitals: StreamVitals
  @exclusivity(unchecked) private var samples: LiveSamples
  /// The last beats and seconds, as messages.
  private var judged: [[UInt8]] = []
  private var timer: Timers.Token?

  private static let pause = Duration.milliseconds(50)
  private static let mostJudged = 200

  init(
    _ server: LiveServer, index: Int, of ring: RingClient, name: String?, _ kinds: SampleKinds,
    _ vitals: StreamVitals, _ session: Session
  ) {
    (self.server, self.index, self.name, self.kinds) = (server, index, name, kinds)
    (self.vitals, self.session) = (vitals, session)
    address = ring.connection.peer
    samples = LiveSamples(kinds, ring.firmware.accelerometerEncoding)
    scheduleBatch()
  }

  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {}

  func end() async {
    session.timers.cancel(timer)
    sendBatch()
  }

  var day: DayLog { samples.day }

  /// Takes what was written before this run.
  func addEarlier(_ log: DayLog) { samples.updateDay { $0.addEarlier(log) } }

  // MARK: Samples

  func take(_ sample: RawSample, at time: Instant) {
    samples.take(sample, at: server.seconds(time), isSent: server.hasViewers)
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    samples.take(sample, at: server.seconds(time), isSent: server.hasViewers)
  }

  private func scheduleBatch() {
    timer = session.timers.schedule(after: Self.pause) { [weak self] in
      guard let self else { return }
      sendBatch()
      scheduleBatch()
    }
  }

  private func sendBatch() {
    guard let message = samples.takeMessage(ring: index) else { return }
    server.send(message.bytes, samples: message.samples)
  }

  // MARK: Marks

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    // The samples before it come first.
    sendBatch()
    switch mark {
    case .beat(let beat, let rate): return send(beat, rate)
    case .measured("heart_rate_bpm", let rate): addRate(rate, at: server.seconds(time))
    case .packets(let step) where step.loss <= 0: return
    default: break
    }
    let note =
      switch mark {
      case .measured("heart_rate_bpm", let value): "heart rate \(value) bpm"
      case .measured("spo2_percent", let value): "SpO2 \(value) %"
      default: mark.text
      }
    server.mark(LiveMark(ring: index, time: server.seconds(time), kind: mark.name, note: note))
  }

  private func send(_ beat: Beat, _ rate: Double?) {
    var message = EventText("beat")
    message.add("ring", index)
    message.add("t", server.seconds(beat.time), places: 4)
    message.add("interval", beat.interval, places: 4)
    message.add("bpm", rate, places: 1)
    message.add("quality", beat.quality, places: 2)
    message.add("reason", beat.reason.rawValue)
    judge(message.finished())
  }

  private func judge(_ message: [UInt8]) {
    judged.append(message)
    if judged.count > Self.mostJudged { judged.removeFirst(Self.mostJudged / 4) }
    server.send(message)
  }

  func take(_ second: PulseSecond) {
    var second = second
    second.start = server.seconds(second.start)
    // It takes some seconds to know the rate, after each pause anew.
    if vitals.isSlow { second.reason = .rateTooLow }
    let rate = vitals.heartRate.flatMap { $0.isOfRing ? nil : Double($0.beatsPerMinute) }
    samples.updateDay { $0.add(second, beatsPerMinute: rate) }
    var message = EventText("second")
    message.add("ring", index)
    message.add("t", second.start, places: 1)
    message.add("quality", second.quality, places: 2)
    message.add("reason", second.reason.rawValue)
    judge(message.finished())
  }

  // MARK: State

  /// The ring itself.
  var description: [UInt8] {
    var message = EventText("ring")
    message.add("ring", index)
    message.add("address", address.description)
    message.add("name", name)
    let names: [(kind: SampleKinds, name: StaticString)] = [
      (.ppg, "\"ppg\""), (.spo2, "\"spo2\""), (.accelerometer, "\"accel\""),
    ]
    message.add("kinds", names.filter { kinds.contains($0.kind) }) { $0.write($1.name) }
    message.add("firmware", vitals.ring?().firmware.firmwareRevision)
    return message.finished()
  }

  /// The last samples, beats and seconds, for a viewer who has just come.
  var recent: [[UInt8]] { (samples.recentMessage(ring: index).map { [$0] } ?? []) + judged }

  /// The state of its stream now.
  var state: [UInt8] {
    let connection = vitals.ring?().connection
    let rate = vitals.heartRate
    var message = EventText("state")
    message.add("ring", index)
    message.add("state", activity)
    message.add("connected", connection?.isConnected)
    message.add("source", vitals.lost == nil ? "raw" : "counted")
    message.add("rate", vitals.rate, places: 1)
    message.add("bpm", rate?.beatsPerMinute)
    message.add("bpm_source", rate.map { $0.isOfRing ? "ring" : "light" })
    message.add("fault", vitals.fault?.rawValue)
    message.add("own_rate", vitals.hasOwnRate)
    message.add("battery", vitals.battery.map { Int($0.percent) })
    message.add("charging", vitals.battery?.isCharging)
    message.add(
      "interval_ms", connection?.parameters.map { $0.interval.duration.inSeconds * 1000 }, places: 2)
    message.add("lost", vitals.lost)
    message.add("gaps", vitals.gaps)
    message.add("records", session.status.records(of: address))
    if let variability = vitals.variability, let rmssd = variability.rmssd {
      message.add("variability") { text in
        text.add("rmssd_ms", rmssd * 1000, places: 1)
        text.add("sdnn_ms", variability.sdnn.map { $0 * 1000 }, places: 1)
        text.add("window_s", variability.window, places: 0)
        text.add("estimate", variability.isEstimate)
      }
    } else {
      message.add("variability", String?.none)
    }
    return message.finished()
  }

  /// What the stream does, in a few words.
  private var activity: String? {
    if let seconds = vitals.measuringTime { return "measuring the heart rate, \(seconds) s" }
    let state = session.status.state(of: address)
    guard state?.hasPrefix("streaming") == true, let silence = vitals.silence else { return state }
    return "no sample for \(Int(silence.inSeconds)) s"
  }

  /// Notes the rate that the ring sends with its samples.
  func noteRate(at time: Double) {
    guard vitals.lost != nil, let rate = vitals.heartRate, rate.isOfRing else { return }
    addRate(rate.beatsPerMinute, at: time)
  }

  private func addRate(_ beatsPerMinute: Int, at time: Double) {
    samples.updateDay { $0.addRate(Double(beatsPerMinute), at: time) }
  }
}

/// An event of a stream on the page.
struct LiveMark {
  /// The number of the ring.
  let ring: Int
  /// In seconds, on the clock of the page.
  let time: Double
  let kind: String
  let note: String

  func write(into text: inout EventText) {
    text.add("ring", ring)
    text.add("t", time, places: 3)
    text.add("kind", kind)
    text.add("note", note)
  }
}
