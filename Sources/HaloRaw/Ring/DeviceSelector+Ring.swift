import RingLink

extension DeviceSelector {
  /// A ring of the COLMI R02 family, by what it advertises: of several, the one that is heard first.
  public static let anyRing = DeviceSelector.matching { device in
    (RingIdentity.matches(device) ?? .possible) > .ambiguousName
  }
}
