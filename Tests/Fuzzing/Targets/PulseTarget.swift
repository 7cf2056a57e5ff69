import HaloPulse
import HaloViews

extension FuzzTarget {
  /// Light in a file, and the beats in it: they are in order, and their numbers in their ranges.
  static let pulse = FuzzTarget("pulse", largestInput: 1 << 14) { bytes in
    var input = PulseInput()
    var monitor = PulseMonitor()
    var last: Beat?
    func check(_ event: PulseEvent) {
      switch event {
      case .beat(let beat):
        precondition((0...1).contains(beat.quality) && beat.timingError >= 0 && beat.time.isFinite)
        if let interval = beat.interval {
          precondition((0.27...2.2).contains(interval) && last.map { beat.time > $0.time } == true)
        }
        last = beat
      case .second(let second): precondition((0...1).contains(second.quality))
      case .wave(let wave): precondition((0...1).contains(wave.quality))
      case .interruption(let time): precondition(time.isFinite)
      }
    }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      switch input.read(line) {
      case .sample(let sample):
        monitor.add(
          at: sample.time, light: sample.light, acceleration: sample.acceleration, counter: sample.counter,
          to: check)
      case .interruption: monitor.interrupt(to: check)
      case .other, .malformed: break
      }
    }
    monitor.interrupt(to: check)
    let summary = monitor.variability.summary(at: monitor.time)
    precondition((0...1).contains(summary.coverage) && (0...1).contains(summary.irregular))
    if let rate = monitor.beatsPerMinute { precondition((27...223).contains(rate)) }
  }
}
