import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import RingLink

/// The newest facts of a stream, for those who watch it: its rate, what it has lost, the battery, and the heart rate of its
/// light or of its ring.
@BluetoothActor
final class StreamVitals: SampleObserver {
  private let session: Session
  /// Finds the beats in the same samples.
  private let beats: BeatFinder?
  /// Measures the heart rate of a ring that is too slow for a wave; nil if nothing may interrupt the stream.
  private let plan: RingPlan?
  /// The samples of this kind are counted.
  private let kind: SampleKinds
  private var reading: PeriodicReading?
  /// The ring, on its link of now; nil before the stream begins.
  private(set) var ring: (@BluetoothActor () -> RingClient)?
  private(set) var battery: RingBattery?
  private(set) var gaps = 0
  /// The packets of the counted stream that are lost; nil for another stream.
  private(set) var lost: Int?
  /// Samples a second, at the last sample.
  private var lastRate: Double?
  private var lastSample: Instant?
  /// The samples since ``rateStart``.
  private var count = 0
  private var rateStart: Instant?
  /// The heart rate that the ring has measured, and when.
  private var measured: (rate: Int, time: Instant)?
  private var hasAsked = false
  private var pauseStart: Instant?

  private static let batteryPause = Duration.seconds(300)
  private static let measurePause = Duration.seconds(60)
  /// How long a measured heart rate is shown.
  private static let measuredTime = Duration.seconds(150)
  private static let usualSilence = Duration.seconds(3)
  private static let rateWindow = Duration.seconds(2)
  /// In samples a second: below this, there is no wave.
  private static let slowRate = 5.0

  /// - Parameters:
  ///   - plan: measures the heart rate in pauses of the stream
  ///   - beats: finds the beats in the light
  init(_ session: Session, _ kinds: SampleKinds, _ plan: RingPlan?, _ beats: BeatFinder?) {
    (self.session, self.plan, self.beats) = (session, plan, beats)
    kind = [.ppg, .accelerometer, .spo2].first { kinds.contains($0) } ?? .ppg
  }

  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {
    self.ring = ring
    let reading = PeriodicReading(session.timers, every: Self.batteryPause) { [self] in
      // Without an answer, it is shown as unknown.
      battery = try? await ring().battery()
    }
    reading.begin(after: identification)
    self.reading = reading
  }

  func end() async {
    await reading?.end()
    reading = nil
  }

  // MARK: Samples

  func take(_ sample: RawSample, at time: Instant) {
    switch sample {
    case .ppg where kind == .ppg, .accelerometer where kind == .accelerometer, .spo2 where kind == .spo2:
      countSample(at: time)
    default: break
    }
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    if lost == nil { lost = 0 }
    if sample.light == .green, sample.vital > 0 { measured = (Int(sample.vital), time) }
    countSample(at: time)
  }

  private func countSample(at time: Instant) {
    lastSample = time
    guard let start = rateStart else { return rateStart = time }
    count += 1
    let elapsed = time - start
    guard elapsed >= Self.rateWindow else { return }
    (lastRate, count, rateStart) = (Double(count) / elapsed.inSeconds, 0, time)
    guard isSlow, !hasAsked, kind == .ppg else { return }
    hasAsked = true
    if plan?.isOnDemand == true { plan?.measure(every: Self.measurePause) }
  }

  func take(_ event: RingEvent, at time: Instant) {
    if case .battery(let battery) = event { self.battery = battery }
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    if case .packets(let step) = mark { lost = (lost ?? 0) + step.loss }
    if case .measured("heart_rate_bpm", let rate) = mark { measured = (rate, time) }
    switch mark {
    case .gap: gaps += 1
    case .pause: pauseStart = time
    default: return
    }
    (count, rateStart) = (0, nil)
  }

  // MARK: The heart rate

  /// Samples a second; nil while it is not known, and while none come.
  var rate: Double? { silence == nil ? lastRate : nil }

  /// Whether there are too few samples for a wave.
  var isSlow: Bool { lastRate.map { $0 < Self.slowRate } ?? false }

  /// For how long no sample has come; nil if that is usual.
  var silence: Duration? {
    guard let lastSample else { return nil }
    let time = session.timers.current - lastSample
    return time > max(Self.usualSilence, .seconds(3 / max(lastRate ?? 1, 0.01))) ? time : nil
  }

  /// Whether the ring measures its heart rate from time to time, or sends one with its samples.
  var hasOwnRate: Bool { plan != nil || lost != nil }

  /// For how many seconds the stream has paused for a measurement; nil if it does not.
  var measuringTime: Int? {
    guard plan?.isPerforming == true else { return nil }
    return pauseStart.map { max(0, Int((session.timers.current - $0).inSeconds)) } ?? 0
  }

  /// Beats a minute: counted in the wave, or as the ring has measured it.
  var heartRate: (beatsPerMinute: Int, isOfRing: Bool)? {
    if silence == nil, let rate = beats?.beatsPerMinute { return (Int(rate.rounded()), false) }
    guard let measured, session.timers.current - measured.time < Self.measuredTime else { return nil }
    return (measured.rate, true)
  }

  /// Why the light shows no pulse now; nil if it does, or if that is not known.
  var fault: PulseReason? {
    guard kind == .ppg else { return nil }
    return isSlow ? .rateTooLow : beats?.fault
  }

  /// The variability of the last minutes; nil if no beats are looked for.
  var variability: PulseVariability.Summary? { beats?.variability }
}
