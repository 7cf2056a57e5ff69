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
