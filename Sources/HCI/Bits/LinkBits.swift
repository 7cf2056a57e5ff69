import HaloBluetoothCore

// The bits of parameters of links and of advertising (Core Specification Vol 4, Part E).

extension LEPHYs {
  /// All of the three (7.8.48).
  static let bits = BitNames(
    [0: LEPHY.le1M, 1: .le2M, 2: .leCoded].mapValues(\.description), plural: "PHYs")
}

extension AdvertisingChannels {
  /// (7.8.5)
  static let bits = BitNames([0: "channel 37", 1: "channel 38", 2: "channel 39"], plural: "channels")
}

extension PreferredPHYs {
  /// The bits of ALL_PHYS (7.8.48).
  static let noPreferenceBits = BitNames([0: "no preference for TX", 1: "no preference for RX"])
}

extension AdvertisingEventProperties {
  /// (7.8.53)
  static let bits = BitNames(
    [
      0: "connectable", 1: "scannable", 2: "directed", 3: "high duty cycle directed", 4: "legacy PDUs",
      5: "anonymous", 6: "with TX power", 7: "decision PDUs", 8: "AdvA in decision PDUs",
      9: "ADI in decision PDUs",
    ], plural: "properties")
}

/// The bits of parameters of BR/EDR links.
enum ClassicLinkBits {
  /// The packets of an ACL link (7.1.5): those of Enhanced Data Rate are on unless their bits are set.
  static let packetTypes = BitNames(
    [
      1: "no 2-DH1", 2: "no 3-DH1", 3: "DM1", 4: "DH1", 8: "no 2-DH3", 9: "no 3-DH3", 10: "DM3", 11: "DH3",
      12: "no 2-DH5", 13: "no 3-DH5", 14: "DM5", 15: "DH5",
    ], plural: "packet types")

  /// The packets of a synchronous link (7.1.26).
  static let synchronousPacketTypes = BitNames(
    [
      0: "HV1", 1: "HV2", 2: "HV3", 3: "EV3", 4: "EV4", 5: "EV5", 6: "no 2-EV3", 7: "no 3-EV3", 8: "no 2-EV5",
      9: "no 3-EV5",
    ], plural: "packet types")

  /// What a link may do (7.2.9).
  static let policy = BitNames(
    [0: "role switch", 1: "hold mode", 2: "sniff mode", 3: "park state"], plural: "modes")
}
