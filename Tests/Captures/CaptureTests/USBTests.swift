import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@Suite struct USBTests {
  private func read(_ linkType: Int, big: Bool = false, _ records: [[UInt8]]) -> Reading {
    let layout = PCAPBytes(big: big)
    return Reading(
      layout.header(linkType: UInt32(linkType)) + records.flatMap { layout.record($0) })
  }

  @Test(arguments: [189, 220, 249], [false, true])
  func packetsAreFoundInTransfers(linkType: Int, big: Bool) {
    let adapter = USBBytes(linkType: linkType, big: big)
    let keyboard = USBBytes(linkType: linkType, big: big, device: 4)
    let reading = read(
      linkType, big: big,
      [
        keyboard.transfer(1, 0x81, isEnd: true, hex("0200040000000000")),
        adapter.command("030c00"), adapter.transfer(2, 0, isEnd: true, []),
        adapter.transfer(1, 0x81, isEnd: true, hex("0e0401")),
        adapter.transfer(1, 0x81, isEnd: true, hex("030c00")),
        adapter.transfer(3, 0x02, hex("40200100aa")), adapter.transfer(3, 0x82, isEnd: true, hex("4020")),
        adapter.transfer(3, 0x82, isEnd: true, hex("0100")),
        adapter.transfer(3, 0x82, isEnd: true, hex("bb")),
      ])
    #expect(reading.format == .pcap(CaptureLinkType(rawValue: UInt16(linkType))) && reading.error == nil)
    #expect(reading.records.first?.info.content == .foreign(CaptureLinkType(rawValue: UInt16(linkType))))
    #expect(
      reading.lines.dropFirst() == [
        "2 0 - sent 01030c00", "5 0 - received 040e0401030c00", "6 0 - sent 0240200100aa",
        "9 0 - received 0240200100bb",
      ])
  }

  /// The rest of a packet is missing, or the packet has more than it says.
  @Test func doesNotJoinTransfersOfMismatchedLength() {
    let adapter = USBBytes()
    let reading = read(
      189,
      [
        adapter.command("030c00"), adapter.transfer(1, 0x81, isEnd: true, hex("0e0401")),
        adapter.transfer(1, 0x81, isEnd: true, hex("0e0401030c00")),
        adapter.transfer(1, 0x81, isEnd: true, hex("0e0401030c00ff")),
        adapter.transfer(1, 0x81, isEnd: true, hex("0e0401")),
        adapter.transfer(1, 0x81, isEnd: true, hex("3e0a0102")),
        adapter.transfer(1, 0x81, isEnd: true, hex("0304050607080900")),
      ])
    #expect(
      reading.lines == [
        "1 0 - sent 01030c00", "3 0 - received 040e0401030c00", "4 0 - received 040e0401030c00ff",
        "7 0 - received 043e0a01020304050607080900",
      ])
    #expect(reading.records.map(\.info.drops) == [0, 1, 0, 1])
  }

  /// More adapters than are kept apart: the first ones are forgotten, until they are sent a command again.
  @Test func adaptersAreBounded() {
    let all = (0..<40).map { USBBytes(bus: $0, device: 1) }
    let reading = read(
      189, all.map { $0.command("030c00") } + [all[39], all[0]].map { $0.command("030c00") })
    #expect(reading.records.map(\.info.adapter) == [nil] + (1..<40).map { $0 } + [39, 40])
  }
}
