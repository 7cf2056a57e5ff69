import RingLink

/// What keeps the light of the sensor on during the raw stream (ring reference, 5.1). It is independent of the stream:
/// on newer rings the light stays on after the stream has ended.
struct SimulatedLight {
  /// Bits that hold the light, by the request that took them.
  private var holders: Set<UInt8> = []
  private let needsRelease: Bool

  init(family: RingFamily) {
    // The behaviour of the RY rings is unknown; they are treated as newer ones, whose light is harder to switch off.
    needsRelease = family != .rf03
  }

  var isOn: Bool { !holders.isEmpty }

  mutating func take(_ control: RawControl) {
    holders = [needsRelease && control == .stream ? RawControl.release.rawValue : RawControl.stop.rawValue]
  }

  mutating func end(_ control: RawControl) { holders.remove(control.rawValue) }

  /// The link is gone, or another measurement has taken the sensor.
  mutating func turnOff() { holders = [] }
}
