import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

private let reset = hex("01030c00")

@Suite struct BTSnoopTests {
  /// A Reset as `btmon -w` writes it.
  @Test func aRecordHasItsValues() {
    let reading = Reading(
      hex(
        "6274736e6f6f7000 00000001 000003ea 00000004 00000004 00000002 00000000 00e2eb8a1f50a000 01030c00"))
    #expect(reading.format == .btsnoop(.h4))
    #expect(
      reading.records == [
        CaptureRecord(
          info: CaptureRecordInfo(
            number: 1, fileOffset: 16, microseconds: newYear, content: .hci(.hostToController),
            originalLength: 4),
          bytes: reset)
      ])
    #expect(reading.truncated == 0 && reading.error == nil)
  }

  @Test func aHeaderAloneIsAnEmptyCapture() {
    for datalink: UInt32 in [1001, 1002, 2001] {
      let reading = Reading(btsnoop(datalink))
      #expect(reading.records == [] && reading.error == nil && reading.truncated == 0)
    }
  }

  /// What is an H4 packet is the file's affair: a type that nobody knows, no bytes at all.
  @Test func keepsH4PacketsUnchanged() {
    let reading = Reading(
      btsnoop(
        1002, btsnoopRecord(hex("0401"), flags: 3, time: newYear + 1), btsnoopRecord(hex("ff0102"), flags: 0),
        btsnoopRecord([], flags: 1, time: newYear - 5)))
    #expect(reading.lines == ["1 1 - received 0401", "2 0 - sent ff0102", "3 -5 - received "])
    #expect(reading.records.map(\.info.fileOffset) == [16, 42, 69])
  }

  /// Without type bytes: the flags tell.
  @Test func h1PacketsGetTheirTypes() {
    let reading = Reading(
      btsnoop(
        1001, btsnoopRecord(hex("030c00"), flags: 2), btsnoopRecord(hex("0e0401030c00"), flags: 3),
        btsnoopRecord(hex("40000000"), flags: 0), btsnoopRecord(hex("40200000"), flags: 1, original: 9),
        btsnoopRecord([], flags: 1)))
    #expect(reading.format == .btsnoop(.h1))
    #expect(
      reading.lines == [
        "1 0 - sent 01030c00", "2 0 - received 040e0401030c00", "3 0 - sent 0240000000",
        "4 0 - received 0240200000 of 10", "5 0 - received 02",
      ])
  }

  /// Adapter and opcode are in the flags; two adapters in one file.
  @Test func decodesMonitorRecords() {
    let opcodes: [UInt32] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    let records = opcodes.flatMap {
      btsnoopRecord([0xAA], flags: ($0 % 2) << 16 | $0)
    }
    let reading = Reading(btsnoop(2001, records + btsnoopRecord(hex("4c00"), flags: 0xFFFF_000C)))
    let contents = [
      "monitor 0 aa", "monitor 1 aa", "sent 01aa", "received 04aa", "sent 02aa", "received 02aa", "sent 03aa",
      "received 03aa", "monitor 8 aa", "monitor 9 aa", "monitor 10 aa", "monitor 11 aa", "monitor 12 aa",
      "monitor 13 aa", "monitor 14 aa", "monitor 15 aa", "monitor 16 aa", "monitor 17 aa", "sent 05aa",
      "received 05aa", "monitor 20 aa",
    ]
    #expect(
      reading.lines == contents.enumerated().map { "\($0 + 1) 0 hci\($0 % 2) \($1)" }
        + ["22 0 - monitor 12 4c00"])
  }

  /// Backward, before 1970, and none at all.
  @Test func keepsTimestampsUnchanged() {
    let none = hex("00000000 00000000 00000001 00000000 0000000000000000")
    let last = hex("00000000 00000000 00000001 00000000 7fffffffffffffff")
    let first = hex("00000000 00000000 00000001 00000000 8000000000000000")
    let reading = Reading(
      btsnoop(
        1002, btsnoopRecord(reset, flags: 0, time: 10), btsnoopRecord(reset, flags: 0, time: 9),
        btsnoopRecord(reset, flags: 0, time: 0), btsnoopRecord(reset, flags: 0, time: -1), none, last, first))
    #expect(reading.records.prefix(5).map(\.info.microseconds) == [10, 9, 0, -1, nil])
    #expect(reading.records.count == 7)
  }
}
