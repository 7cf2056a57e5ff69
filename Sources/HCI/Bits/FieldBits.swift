import HaloBluetoothCore

// The bits of event masks: their names are those of the events.

extension EventMask {
  /// The bits of Set Event Mask (Core Specification Vol 4, Part E, 7.3.1): bit 0 is event 0x01.
  static let bits = BitNames(events: (0..<63).map { ($0, HCIEventCode(rawValue: UInt8($0 + 1))) })

  /// The bits of Set Event Mask Page 2 (7.3.69): bit 0 is event 0x40.
  static let page2Bits = BitNames(events: (0..<63).map { ($0, HCIEventCode(rawValue: UInt8($0 + 0x40))) })
}

extension LEEventMask {
  /// The bits of LE Set Event Mask (7.8.1): bit 0 is subevent 0x01.
  static let bits: BitNames = {
    let named = (0..<64).compactMap { bit in
      HCIEventInfo[LESubevent(rawValue: UInt8(bit + 1))].map { (bit, $0.name) }
    }
    return BitNames(
      Dictionary(uniqueKeysWithValues: named), plural: "events", listingUnset: named.map(\.0))
  }()
}

extension HCIEventCode {
  /// Whether the controller sends the event whatever the mask is (7.3.1).
  fileprivate var isAlwaysSent: Bool {
    self == .commandComplete || self == .commandStatus || self == .numberOfCompletedPackets
  }
}

extension BitNames {
  /// The names of events; a mask lists the events that it leaves out, if controllers have them.
  fileprivate convenience init(events: [(bit: Int, code: HCIEventCode)]) {
    let known = events.compactMap { bit, code in HCIEventInfo[code].map { (bit: bit, code: code, info: $0) } }
    self.init(
      Dictionary(
        uniqueKeysWithValues: known.map {
          ($0.bit, $0.code.isAlwaysSent ? "\($0.info.name) (always sent)" : $0.info.name)
        }),
      plural: "events",
      listingUnset: known.filter { !$0.info.isWithdrawn && !$0.code.isAlwaysSent }.map(\.bit))
  }
}

extension SupportedCommands {
  /// The bits of Supported Commands (Core Specification Vol 4, Part E, 6.27), with the names of the commands.
  static let bits = BitNames(
    Dictionary(
      HCICommandCatalog.standard.infos.compactMap { info in
        info.bit.map { ($0.octet * 8 + $0.bit, info.name) }
      },
      uniquingKeysWith: { first, _ in first }),
    plural: "commands", numbering: .ofOctets)
}

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

  /// The link policy settings (7.2.9).
  static let policy = BitNames(
    [0: "role switch", 1: "hold mode", 2: "sniff mode", 3: "park state"], plural: "modes")
}

/// The states and roles of a controller that can exist at the same time (Core Specification Vol 4, Part E, 7.8.27).
enum LEStateBits {
  private static let advertising = [
    "not connectable", "scannable", "connectable", "high duty cycle directed", "low duty cycle directed",
  ].map { "\($0) advertising" }
  private static let passive = "passive scanning"
  private static let active = "active scanning"
  private static let initiating = "initiating"
  private static let central = "connected as central"
  private static let peripheral = "connected as peripheral"

  private static let combinations: [[String]] = [
    [advertising[0]], [advertising[1]], [advertising[2]], [advertising[3]], [passive], [active],
    [initiating, central], [peripheral],
    [advertising[0], passive], [advertising[1], passive], [advertising[2], passive],
    [advertising[3], passive],
    [advertising[0], active], [advertising[1], active], [advertising[2], active], [advertising[3], active],
    [advertising[0], initiating], [advertising[1], initiating], [advertising[0], central],
    [advertising[1], central], [advertising[0], peripheral], [advertising[1], peripheral],
    [passive, initiating], [active, initiating], [passive, central], [active, central],
    [passive, peripheral], [active, peripheral], [initiating, central],
    [advertising[4]], [advertising[4], passive], [advertising[4], active],
    [advertising[2], initiating], [advertising[3], initiating], [advertising[4], initiating],
    [advertising[2], central], [advertising[3], central], [advertising[4], central],
    [advertising[2], peripheral], [advertising[3], peripheral], [advertising[4], peripheral],
    [initiating, peripheral],
  ]

  static let names: BitNames = {
    var names: [Int: String] = [:]
    for (bit, states) in combinations.enumerated() { names[bit] = states.joined(separator: ", ") }
    // These two are not states at the same time, but a state and its successor; and initiating while connected.
    names[6] = "initiating and being central"
    names[28] = "initiating while connected as central"
    return BitNames(names, plural: "states and combinations")
  }()
}
