import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import RingLink

/// Finds the beats in the light of a stream.
@BluetoothActor
final class BeatFinder {
  private let tally = PulseTally()
  private var detector: AccelerometerEncodingDetector
  /// In g, of the last sample.
  private var acceleration: SIMD3<Double>?
  /// Takes a beat, and the time of the sample that has shown it.
  var report: (SampleWriter.Mark, Instant) -> Void = { _, _ in }
  /// Takes the message that there are too few samples.
  var warn: (String) -> Void = { _ in }

  /// Takes the quality of a second.
  var assess: (PulseSecond) -> Void = { _ in }

  init(of ring: RingClient) {
    detector = AccelerometerEncodingDetector(known: ring.firmware.accelerometerEncoding)
  }

  var beatsPerMinute: Double? { tally.monitor.beatsPerMinute }

  /// Why the light shows no pulse now; nil if it does, or if that is not known.
  var fault: PulseReason? {
    tally.monitor.second.flatMap { $0.quality < Beat.acceptance ? $0.reason : nil }
  }

  var variability: PulseVariability.Summary { tally.monitor.variability.summary(at: tally.monitor.time) }

  private func add(_ light: UInt16, counter: UInt8?, at time: Instant) {
    report(
      tally.add(at: time.inSeconds, light: Double(light), acceleration: acceleration, counter: counter),
      at: time)
  }

  private func report(_ events: [PulseEvent], at time: Instant) {
    for event in events {
      switch event {
      case .beat(let beat): report(.beat(beat, bpm: tally.beatsPerMinute(at: beat)), time)
      case .second(let second): assess(second)
      case .wave, .interruption: break
      }
    }
    if let slowness = tally.takeSlowness() { warn(slowness) }
  }
}

extension BeatFinder: SampleObserver {
  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient) {}

  func take(_ sample: RawSample, at time: Instant) {
    switch sample {
    case .ppg(let optical): add(optical.raw, counter: nil, at: time)
    case .accelerometer(let sample):
      detector.observe(sample)
      if let encoding = detector.encoding { take(sample.acceleration(encoding)) }
    default: break
    }
  }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    if let g = sample.acceleration(detector.encoding) { take(g) }
    if sample.light == .green { add(sample.raw, counter: UInt8(truncatingIfNeeded: packet), at: time) }
  }

  private func take(_ g: Acceleration) { acceleration = SIMD3(g.x, g.y, g.z) }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    switch mark {
    case .gap, .pause: report(tally.interrupt(), at: time)
    default: break
    }
  }

  func end() async { (report, warn, assess) = ({ _, _ in }, { _ in }, { _ in }) }

  var summary: [String] { tally.summary }
}
