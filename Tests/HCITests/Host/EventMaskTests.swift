import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// The masks of events that the host sets, beside those of others: the Linux kernel (net/bluetooth/hci_sync.c, 2026), Zephyr
/// (subsys/bluetooth/host/hci_core.c, 2026), Bumble (bumble/host.py, 2026-08), BTstack (hci.c, 2026). Each bit that one of
/// them sets and this host does not has a reason here, and so has each bit that only this host sets.
@Suite struct EventMaskTests {
  /// A mask, and whose it is.
  private typealias Peer = (name: String, bits: Set<Int>)

  private static func bits(_ mask: UInt64) -> Set<Int> {
    Set((0..<64).filter { mask & 1 << UInt64($0) != 0 })
  }

  /// Bits that are left out, with the reason.
  private typealias Reason = (bits: Set<Int>, text: String)

  private func expectReasons(
    for own: Set<Int>, beside peers: [Peer], leftOut: [Reason], own ownReasons: [Int: String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let others = peers.reduce(into: Set<Int>()) { $0.formUnion($1.bits) }
    let explained = leftOut.reduce(into: Set<Int>()) { $0.formUnion($1.bits) }
    #expect(others.subtracting(own) == explained, "left out", sourceLocation: sourceLocation)
    #expect(own.subtracting(others) == Set(ownReasons.keys), "only here", sourceLocation: sourceLocation)
  }

  @Test func eachBitOfTheEventMaskIsThereForAReason() {
    let inquiryAndConnections: Set<Int> = [0, 1, 2, 3, 5, 6, 8, 9, 10, 12, 16, 17, 19, 20, 21, 22, 23, 24]
    expectReasons(
      for: Self.bits(EventMask.host.rawValue),
      beside: [
        ("Linux, LE only", Self.bits(0x2000_8000_0204_E890)),
        ("Linux, BR/EDR and LE", Self.bits(0x3DBF_F807_FFFB_FFFF)),
        ("Zephyr", Self.bits(0x2000_8000_0200_8890)),
        ("Bumble", Self.bits(0x3DBF_F807_BFFF_9FFF)),
        ("BTstack", Self.bits(0x3FFF_FFFF_FFFF_FFFF)),
      ],
      leftOut: [
        (inquiryAndConnections, "of BR/EDR: inquiry, connections, authentication, modes"),
        ([26, 27, 28, 29, 31, 32, 33, 34, 43, 44, 45, 46], "of BR/EDR: packets, QoS, features, audio"),
        ([48, 49, 50, 51, 52, 53, 55, 56, 58, 59, 60], "of BR/EDR: Secure Simple Pairing, links"),
        ([25], "Data Buffer Overflow: no more packets are sent than there are buffers"),
        ([30, 35, 36, 37, 38, 39, 40, 41, 42, 54, 57], "reserved; BTstack sets all bits"),
      ],
      own: [:])
  }

  @Test func eachBitOfTheLEEventMaskIsThereForAReason() {
    expectReasons(
      for: Self.bits(LEEventMask.host(LEFeatures(rawValue: .max)).rawValue),
      beside: [
        ("Linux", Self.bits(0x0007_FC06_7F8A_7FFF)),
        ("Zephyr", [0, 1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 14, 15, 16, 17, 18, 23, 31, 32, 34, 42]),
        ("Bumble", Self.bits(0x007B_ED0F_FFF7_FFFF)),
        ("BTstack", Self.bits(0x007F_FD07_FFFF_FFFF)),
      ],
      leftOut: [
        ([7, 8], "keys that the controller computes: the host asks for none"),
        (
          [10],
          "directed advertisements to a private address that the controller has not resolved: it has none"
        ),
        (
          [13, 14, 15, 23, 26, 27, 28, 29, 33, 35],
          "periodic advertising and broadcast streams are not received"
        ),
        ([16], "scans have no end of their own"),
        ([18], "who scans is not asked for"),
        ([20, 21, 22], "direction finding is not used"),
        ([24, 25], "connected isochronous streams are not used"),
        ([30], "the peer's clock accuracy is not asked for"),
        ([31, 32, 34], "power control and subrating are not asked for"),
        (
          [40],
          "Enhanced Connection Complete [v2] replaces the other where it is set: it is for periodic advertising"
        ),
        ([42], "the features beyond the first page are not asked for"),
        (Set(43...54), "channel sounding, and what came after it"),
      ],
      own: [:])
  }

  /// Bits of features that the controller does not have may be refused.
  @Test func withoutFeaturesTheLEEventMaskIsThatOfBluetooth4() {
    #expect(LEEventMask.host([]).rawValue == 0x0F)
  }
}
