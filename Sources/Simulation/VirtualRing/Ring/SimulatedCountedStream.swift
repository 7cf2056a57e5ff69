import HaloBluetoothCore
import RingLink

/// The packets of a counted stream (ring reference, 5.7). Its counter goes on when the stream is requested again.
struct SimulatedCountedStream {
  /// The type of the measurement, which chooses the light.
  enum Light: UInt8 {
    case green = 13
    case red = 14
  }

  let light: Light
  /// When it ends, unless it is requested again.
  var end: Instant
  private let losesEvery: Int?
  private let reorders: Bool
  /// A packet that is sent after the next one.
  private var held: RingFrame?

  private static let reorderInterval = 10

  init(_ light: Light, until end: Instant, _ faults: VirtualRingFaults) {
    self.light = light
    self.end = end
    losesEvery = faults.losesPacketEvery
    reorders = faults.reordersPackets
  }

  /// The frames that are sent in the place of a packet.
  ///
  /// - Parameters:
  ///   - index: the number of the packet, from 0
  ///   - heartRate: in beats a minute
  mutating func frames(
    _ index: Int, _ green: OpticalSample, _ red: OpticalSample, _ acceleration: Acceleration,
    heartRate: Double
  ) -> [RingFrame] {
    if let losesEvery, (index + 1).isMultiple(of: losesEvery) { return [] }
    let axes = AccelerometerSample(acceleration, encoding: .sixteenBit)
    let isGreen = light == .green
    // Infrared light goes through more blood: the same pulse on a stronger signal.
    let numbers = [
      isGreen ? green.raw : red.raw, isGreen ? 0 : UInt16(clamping: 40 * Int(red.raw)), axes.x, axes.y,
      axes.z,
    ]
    // The counter, the rate or the saturation, and the numbers, LE.
    let vital = isGreen ? UInt8(clamping: Int(heartRate.rounded())) : 97
    let frame = SimulatedRing.frame(
      0x69,
      [light.rawValue, 0, UInt8(truncatingIfNeeded: index), vital]
        + numbers.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
    let late = held.take()
    if reorders, late == nil, (index + 1).isMultiple(of: Self.reorderInterval) {
      held = frame
      return []
    }
    return [frame] + (late.map { [$0] } ?? [])
  }
}
