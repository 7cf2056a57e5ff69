import CAllocationCounter
import HaloSimulation
import HaloSystem
import HaloViews
import RingLink

extension HotPathCheck {
  /// The samples of a ring for the page of `stream --web`, with a message for its viewers 20 times a second.
  ///
  /// - Returns: whether a sample allocates nothing, and takes two microseconds at most
  static func measureLive() -> Bool {
    var wave = PulseWaveform(seed: 1, rate: 100, family: .rf03)
    let samples = (0..<2_000).map { wave.ppg(at: $0) }
    var live = LiveSamples(.all, .sixteenBit)
    var (allocations, nanoseconds, bytes) = (0 as UInt64, 0 as Int64, 0)
    // A message has the samples of 50 milliseconds, and waits no longer than a second.
    for batch in 0..<(warmUp + notifications) / 100 {
      let start = (allocation_count(), SystemClock.monotonic)
      for index in batch * 100..<batch * 100 + 100 {
        live.take(.ppg(samples[index % samples.count]), at: Double(index) / 100, isSent: true)
      }
      if batch * 100 >= warmUp {
        allocations += allocation_count() - start.0
        nanoseconds += SystemClock.monotonic.nanoseconds(since: start.1)
      }
      bytes += live.takeMessage(ring: 0)?.bytes.count ?? 0
    }
    let each = nanoseconds / Int64(notifications)
    print("to the page of --web: \(allocations) allocations for \(notifications) samples, \(each) ns each")
    return allocations == 0 && each <= 2_000 && bytes > notifications * 5
  }
}
