import CAllocationCounter
import HaloBluetoothCore
import HaloPulse
import HaloSimulation
import HaloSystem
import RingLink

extension HotPathCheck {
  /// The light of the built-in ring, as beats: at 25 samples a second, and at 100.
  ///
  /// - Returns: whether nothing was allocated, and a sample took two microseconds at most
  static func measurePulse() -> Bool {
    [25.0, 100].allSatisfy { rate in
      var wave = PulseWaveform(seed: 1, rate: rate, family: .rf03)
      let samples = (0..<2_000).map { (Double(wave.ppg(at: $0).raw), wave.acceleration(at: $0)) }
      var monitor = PulseMonitor()
      var beats = 0
      func add(_ index: Int) {
        // The same wave again and again: its seam is a small movement.
        let (light, g) = samples[index % samples.count]
        monitor.add(
          at: Double(index) / rate, light: light, acceleration: SIMD3(g.x, g.y, g.z),
          counter: UInt8(truncatingIfNeeded: index)
        ) { if case .beat = $0 { beats += 1 } }
      }
      for index in 0..<warmUp { add(index) }
      let start = (allocation_count(), SystemClock.monotonic)
      for index in warmUp..<warmUp + notifications { add(index) }
      let allocations = allocation_count() - start.0
      let each = SystemClock.monotonic.nanoseconds(since: start.1) / Int64(notifications)
      print(
        "light to beats, \(Int(rate)) a second: \(allocations) allocations for \(notifications) samples, \(each) ns each"
      )
      return allocations == 0 && each <= 2_000 && beats > 1_000
    }
  }
}
