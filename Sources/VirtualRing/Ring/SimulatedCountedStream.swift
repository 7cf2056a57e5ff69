import HaloBluetoothCore
import RingLink

/// The packets of a counted stream (ring reference, 5.7). Its counter goes on when the stream is requested again.
struct SimulatedCountedStream {
  let light: CountedSample.Light
  /// When it ends, unless it is requested again.
  var end: Instant
  private let losesEvery: Int?
  private let reorders: Bool
  /// A packet that is sent after the next one.
  private var held: RingFrame?

  private static let reorderInterval = 10

  init(_ light: CountedSample.Light, until end: Instant, _ faults: VirtualRingFaults) {
    self.light = light
    self.end = end
    losesEvery = faults.losesPacketEvery
    reorders = faults.reordersPackets
  }

  /// What is sent in the place of a packet.
  ///
  /// - Parameters:
  ///   - index: the number of the packet, from 0
  ///   - heartRate: in beats a minute
  mutating func frames(
    _ index: Int, _ green: OpticalSample, _ red: OpticalSample, _ acceleration: Acceleration,
    heartRate: Double
  ) -> [RingFrame] {
    if let losesEvery, (index + 1).isMultiple(of: losesEvery) { return [] }
    var sample = CountedSample(light)
    sample.packet = UInt8(truncatingIfNeeded: index)
    sample.vital = light == .green ? UInt8(clamping: Int(heartRate.rounded())) : 97
    sample.raw = light == .green ? green.raw : red.raw
    // Infrared light goes through more blood: the same pulse on a stronger signal.
    if light == .red { sample.infrared = UInt16(clamping: 40 * Int(red.raw)) }
    let axes = AccelerometerSample(acceleration, encoding: .sixteenBit)
    (sample.x, sample.y, sample.z) = (axes.x, axes.y, axes.z)
    let late = held.take()
    if reorders, late == nil, (index + 1).isMultiple(of: Self.reorderInterval) {
      held = sample.frame
      return []
    }
    return [sample.frame] + (late.map { [$0] } ?? [])
  }
}
