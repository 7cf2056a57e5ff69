import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

@Suite struct PacketLoggerTests {
  @Test(arguments: [false, true]) func eachTypeIsRead(big: Bool) {
    func record(_ type: UInt8?, _ bytes: String) -> [UInt8] {
      packetLoggerRecord(type, hex(bytes), big: big, microseconds: 7)
    }
    let reading = Reading(
      record(0x00, "030c00") + record(0x01, "0e0401030c00") + record(0x02, "40000000")
        + record(0x03, "40200000")
        + record(0x08, "4000") + record(0x09, "4000") + record(0x0A, "01") + record(0xFC, "686900")
        + record(0x77, "aa") + record(0xFB, "") + record(nil, ""))
    #expect(reading.format == .packetLogger && reading.error == nil)
    #expect(
      reading.lines == [
        "1 7 - sent 01030c00", "2 7 - received 040e0401030c00", "3 7 - sent 0240000000",
        "4 7 - received 0240200000", "5 7 - sent 034000", "6 7 - received 034000", "7 7 - note 10 01",
        "8 7 - note 252 686900", "9 7 - note 119 aa", "10 7 - note 251 ", "11 7 - note - ",
      ])
    #expect(PacketLogger.RecordType(rawValue: 0xFC).name == "note")
  }

  /// The format has no magic bytes: what does not look like a first record is no such file.
  @Test func rejectsFileWithoutValidFirstRecord() {
    let records = [
      packetLoggerRecord(0x20, [1], big: true),
      packetLoggerRecord(0, [1], big: true, microseconds: 1_000_000),
      packetLoggerRecord(0, [UInt8](repeating: 0, count: 65_536), big: true),
      integer(UInt32(7), big: true) + [UInt8](repeating: 0, count: 16),
    ]
    for record in records { #expect(Reading(record).error?.reason == .unknownFormat) }
  }

  @Test func reportsOffsetOfDamagedRecord() {
    let first = packetLoggerRecord(0, hex("030c00"), big: true)
    for length: UInt32 in [7, 300_000, .max] {
      let reading = Reading(first + integer(length, big: true) + [UInt8](repeating: 0, count: 100))
      #expect(reading.lines == ["1 0 - sent 01030c00"])
      #expect(reading.error?.offset == first.count)
    }
  }
}
