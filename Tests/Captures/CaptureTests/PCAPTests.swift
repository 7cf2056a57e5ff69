import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@Suite struct PCAPTests {
  static let layouts = [
    PCAPBytes(), PCAPBytes(big: true), PCAPBytes(nanoseconds: true), PCAPBytes(big: true, nanoseconds: true),
  ]

  @Test(arguments: layouts) func eachByteOrderAndUnitOfTimeIsRead(_ layout: PCAPBytes) {
    let reading = Reading(
      layout.header(linkType: 201)
        + layout.record(hex("00000000 01030c00"), fraction: layout.nanoseconds ? 7_999 : 7)
        + layout.record(hex("00000001 040e0401030c00"), fraction: 0, original: 20)
        + layout.record(hex("00000001"), seconds: 0))
    #expect(reading.format == .pcap(.h4WithDirection) && reading.error == nil)
    #expect(
      reading.lines == [
        "1 7 - sent 01030c00", "2 0 - received 040e0401030c00 of 16", "3 \(-newYear) - received ",
      ])
  }

  /// The types of commands and events tell their direction; data's do not.
  @Test func h4WithoutDirection() {
    let layout = PCAPBytes()
    let reading = Reading(
      layout.header(linkType: 187) + layout.record(hex("01030c00")) + layout.record(hex("040e00"))
        + layout.record(hex("0240000000")) + layout.record([]))
    #expect(
      reading.lines == [
        "1 0 - sent 01030c00", "2 0 - received 040e00", "3 0 - either 0240000000", "4 0 - either ",
      ])
  }

  /// The pseudo header is big-endian in files of both orders.
  @Test(arguments: [false, true]) func linuxMonitor(big: Bool) {
    let layout = PCAPBytes(big: big)
    let reading = Reading(
      layout.header(linkType: 254) + layout.record(hex("0001 0002 030c00"))
        + layout.record(hex("0000 0005 4020"), original: 12) + layout.record(hex("ffff 000c 4c00")))
    #expect(
      reading.lines == ["1 0 hci1 sent 01030c00", "2 0 hci0 received 024020 of 9", "3 0 - monitor 12 4c00"])
  }

  /// The upper half of the link type is about check sequences.
  @Test func onlyBluetoothIsTaken() {
    let layout = PCAPBytes()
    #expect(Reading(layout.header(linkType: 0x1400_00C9)).format == .pcap(.h4WithDirection))
    let ethernet = Reading(layout.header(linkType: 1) + layout.record([0]))
    #expect(ethernet.error?.reason == .unsupportedLinkType(CaptureLinkType(rawValue: 1)))
  }

  @Test func aPacketWithoutRoomForItsPseudoHeaderIsDamage() {
    let layout = PCAPBytes()
    for type: UInt32 in [201, 254] {
      let reading = Reading(
        layout.header(linkType: type) + layout.record(hex("00000001 04")) + layout.record([0, 0, 0]))
      #expect(reading.records.count == 1)
      #expect(reading.error?.offset == 45)
    }
  }
}
