import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import HaloRaw
import RingLink

/// Finds the beats in the light of a stream.
@BluetoothActor
final class BeatFinder {
  private let tally = PulseTally()
  private var light: RingLight
  /// Takes a beat, and the time of the sample that has shown it.
  var report: (SampleWriter.Mark, Instant) -> Void = { _, _ in }
  /// Takes the message that there are too few samples.
  var warn: (String) -> Void = { _ in }

  /// Takes the quality of a second.
  var assess: (PulseSecond) -> Void = { _ in }

  init(of ring: RingClient) {
    light = RingLight(encoding: ring.firmware.accelerometerEncoding)
  }

  var beatsPerMinute: Double? { tally.monitor.beatsPerMinute }

  /// Why the light shows no pulse now; nil if it does, or if that is not known.
  var fault: PulseReason? {
    tally.monitor.second.flatMap { $0.quality < Beat.acceptance ? $0.reason : nil }
  }

  var variability: PulseVariability.Summary { tally.monitor.variability.summary(at: tally.monitor.time) }

  private func add(_ sample: RingLight.Sample?, at time: Instant) {
    guard let sample else { return }
    report(
      tally.add(
        at: time.inSeconds, light: sample.light, acceleration: sample.acceleration, counter: sample.counter),
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

  func take(_ sample: RawSample, at time: Instant) { add(light.take(sample), at: time) }

  func take(_ sample: CountedSample, packet: Int, at time: Instant) {
    add(light.take(sample, packet: packet), at: time)
  }

  func mark(_ mark: SampleWriter.Mark, at time: Instant) {
    switch mark {
    case .gap, .pause: report(tally.interrupt(), at: time)
    default: break
    }
  }

  func end() async { (report, warn, assess) = ({ _, _ in }, { _ in }, { _ in }) }

  var summary: [String] { tally.summary }
}
