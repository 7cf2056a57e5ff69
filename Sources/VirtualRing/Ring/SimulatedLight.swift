import RingLink

/// What keeps the light of the sensor on during the raw stream (ring reference, 5.1). The stream itself is another
/// matter: on newer rings the light outlives it.
struct SimulatedLight {
  /// Bits that hold the light, by the request that took them.
  private var holders: Set<UInt8> = []
  private let needsRelease: Bool

  init(family: RingFamily) {
    // Of the RY rings nobody knows; they are taken for the newer ones, which are harder to darken.
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
