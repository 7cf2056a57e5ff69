import TestSupport
import Testing

@testable import HaloDissection

/// Masks, features and sets say what their bits are.
@Suite struct BitNameTests {
  private func bits(_ packet: DissectedPacket) -> [String] {
    packet.fields(of: .hci, namesBits: true)
      .filter { $0.name.hasPrefix("bit ") || $0.name.hasPrefix("octet ") }.map { "\($0.name): \($0.value)" }
  }

  private func off(_ packet: DissectedPacket) -> [String] {
    packet.fields(of: .hci, namesBits: true).filter { $0.name == "off" }
      .flatMap { $0.value.split(separator: ",").map { String($0.drop { $0 == " " }) } }
  }

  /// A host that leaves LE Meta out waits in vain for all LE events. Reserved bits are set by hosts
  /// (apache/mynewt-core 307), and Mode Change is forgotten (zephyrproject-rtos/zephyr 102656).
  @Test func listsEnabledAndDisabledEventsOfEventMask() {
    let packet = Script().sent("01 010c 08 90 a0 00 00 00 80 00 00".dense)
    #expect(packet.summary == "Set Event Mask: events 0x000080000000a090: 5 events")
    #expect(
      bits(packet) == [
        "bit 4: Disconnection Complete", "bit 7: Encryption Change",
        "bit 13: Command Complete (always sent)",
        "bit 15: Hardware Error", "bit 47: Encryption Key Refresh Complete",
      ])
    #expect(off(packet).contains("LE Meta") && off(packet).contains("Mode Change"))
    // Events that cannot be masked, and those that no controller has, are not missing.
    for name in [
      "Command Status (always sent)", "Number of Completed Packets", "Page Scan Mode Change", "reserved",
    ] {
      #expect(!off(packet).contains(name), "\(name)")
    }
    let reserved = Script().sent("01 010c 08 00 00 00 00 00 00 00 40".dense)
    #expect(bits(reserved) == ["bit 62: reserved"])
    #expect(reserved.summary == "Set Event Mask: events 0x4000000000000000: bit 62")
  }

  @Test func theSecondPageHasNamesOfItsOwn() {
    let packet = Script().sent("01 630c 08 00 00 80 02 00 00 00 00".dense)
    #expect(
      packet.summary
        == "Set Event Mask Page 2: events of page 2 0x0000000002800000: "
        + "Authenticated Payload Timeout Expired + Encryption Change [v2]")
    // AMP is withdrawn.
    #expect(!off(packet).contains("Physical Link Complete") && off(packet).contains("SAM Status Change"))
  }

  /// Masks of LE were wrong by a bit more than once (PureSwift/Bluetooth 215): bit 0 is subevent 1, and channel sounding
  /// begins at bit 43 (the kernel's hci_le_set_event_mask_sync).
  @Test func aMaskOfLEHasTheNamesOfSubevents() {
    let packet = Script().sent("01 0120 08 1f 08 00 00 00 08 00 00".dense)
    #expect(
      bits(packet) == [
        "bit 0: LE Connection Complete", "bit 1: LE Advertising Report",
        "bit 2: LE Connection Update Complete",
        "bit 3: LE Read Remote Features Page 0 Complete", "bit 4: LE Long Term Key Request",
        "bit 11: LE PHY Update Complete", "bit 43: LE CS Read Remote Supported Capabilities Complete",
      ])
    #expect(off(packet).contains("LE Data Length Change"))
    #expect(off(packet).contains("LE Connection Rate Change"))
  }

  /// The features of zephyrproject-rtos/zephyr 26450, in the words of Core 6.2.
  @Test func featuresHaveNames() {
    let packet = Script().received("04 3e 0c 04 00 010e ff 79 00 f0 01 00 00 80".dense)
    #expect(packet.value(.hci, "features") == "0x80000001f00079ff: 19 features")
    #expect(bits(packet).first == "bit 0: LE Encryption")
    #expect(bits(packet).contains("bit 12: LE Extended Advertising"))
    #expect(
      bits(packet).suffix(2) == [
        "bit 32: Connected Isochronous Stream (Host Support)", "bit 63: LL Extended Feature Set",
      ])
    // Features that are missing are not listed.
    #expect(off(packet).isEmpty)
  }

  /// All pages in one event (bluez/bluez 1624): page 1 begins at bit 64.
  @Test func allFeaturesHaveNames() {
    let features = "01 00 00 00 00 00 00 80 03 01".dense + String(repeating: "00", count: 238)
    let packet = Script().received("04 3e fe 2b 00 4000 01 01".dense + features)
    #expect(
      bits(packet) == [
        "bit 0: LE Encryption", "bit 63: LL Extended Feature Set", "bit 64: Monitoring Advertisers",
        "bit 65: Frame Space Update", "bit 72: Shorter Connection Intervals",
      ])
    #expect(packet.value(.hci, "features") == "5 features")
    let local = Script().received("04 0e fd 01 8720 00 01".dense + features)
    #expect(bits(local) == bits(packet))
  }

  /// The same bit means something else on each page (bluez/bluez 1089 shows page 0).
  @Test func pagesOfFeaturesDiffer() {
    let script = Script()
    let page0 = script.received("04 0b 0b 00 0003 bc 02 04 38 08 00 00 00".dense)
    #expect(
      bits(page0).contains("bit 29: Interlaced page scan") && bits(page0).contains("bit 18: Power control"))
    let page1 = script.received("04 0e 0e 01 0410 00 01 02 0b 00 00 00 00 00 00 00".dense)
    #expect(
      bits(page1) == [
        "bit 0: Secure Simple Pairing (Host Support)", "bit 1: LE Supported (Host)",
        "bit 3: Secure Connections (Host Support)",
      ])
    let page2 = script.received("04 23 0d 00 0003 02 02 00 03 00 00 00 00 00 00".dense)
    #expect(bits(page2) == ["bit 8: Secure Connections (Controller Support)", "bit 9: Ping"])
    let page9 = script.received("04 23 0d 00 0003 09 09 01 00 00 00 00 00 00 00".dense)
    #expect(bits(page9) == ["bit 0: reserved"])
  }

  /// The mask of currantlabs/ble 33, which btmon names by octet and bit.
  @Test func supportedCommandsHaveNames() {
    let mask =
      "fffffb03ccffefffff3ffc9ff30fe8fe3ff78fff1c00040061f7ffff7fb80000fe3f"
      + String(repeating: "00", count: 30)
    let packet = Script().received("04 0e 44 01 0210 00".dense + mask)
    let names = bits(packet)
    #expect(
      names.contains("octet 5, bit 6: Set Event Mask")
        && names.contains("octet 27, bit 5: LE Read Remote Features Page 0"))
    // Older controllers have what the specification has withdrawn.
    #expect(
      names.contains("octet 4, bit 4: Park State") == false
        && names.contains("octet 0, bit 6: Add SCO Connection"))
    #expect(packet.value(.hci, "supported commands") == "\(names.count) commands")
    let octet = packet.fields(of: .hci, namesBits: true).first { $0.name == "octet 27, bit 5" }
    #expect(octet?.range == 7 + 27..<7 + 28)
  }

  @Test func setsOfALinkHaveNames() {
    let script = Script()
    let phy = script.sent("01 3220 07 4000 02 05 00 0100".dense)
    #expect(
      phy.summary
        == "LE Set PHY: connection handle 0x0040, no preference 0x02: no preference for RX, "
        + "TX PHYs 0x05: LE 1M + LE Coded, RX PHYs not used, LE Coded options S=2 preferred")
    let page = script.sent("01 0504 0d efbe41383530 18cc 02 00 0000 01".dense)
    #expect(page.value(.hci, "packet types") == "0xcc18: 6 packet types")
    #expect(page.value(.hci, "clock offset") == "not valid")
    let states = script.received("04 0e 0c 01 1c20 00 21 00 00 00 00 00 00 00".dense)
    #expect(
      states.value(.hci, "states") == "0x0000000000000021: not connectable advertising + active scanning")
    let channels = script.sent("01 1420 05 fc ff ff ff 1f".dense)
    #expect(channels.value(.hci, "channel map") == "35 channels: 2 to 36")
    let voice = script.sent("01 260c 02 6000".dense)
    #expect(voice.value(.hci, "voice setting") == "0x0060: linear, 2's complement, 16 bits; on the air CVSD")
  }
}
