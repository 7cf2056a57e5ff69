import HaloBluetoothCore
import TestSupport
import Testing

@testable import RingLink

/// The payloads of bulk frames (ring reference, 3 and 6): what is said of each, and its bytes at the limits.
struct BulkFormTests {
  private static let forms: [(name: String, request: String?, reply: String)] = [
    (
      "sleep", "`FF 01`: all days; `00 01`: today. Older rings want `FF` for all days, or nothing at all.",
      sleep
    ), ("naps", nil, sleep),
    (
      "manual heart rates", dayOrAll,
      "`days-ago` (d), `readings` up to the end, each: `minute` (u16 LE, of the day), `heart-rate` (bpm)"
    ),
    (
      "SpO2 log", dayOrAll,
      "`days` up to the end, each: `days-ago` (d), 24 `hours`, each: `minimum` (%, 0 for none), `maximum` (%, 0 for none)"
    ),
    (
      "SpO2 by the minute", "`days-ago` (d), `packet` (from 0)",
      "`days-ago` (d), `interval` (min), `packets`, `packet` (from 0), `values` up to the end (percent, 0 for none)"
    ),
    (
      "manual SpO2", dayOrAll,
      "`days-ago` (d), `readings` up to the end, each: `minute` (u16 LE, of the day), `spo2` (%)"
    ),
    (
      "temperature log", "`days` (d)",
      "`days` up to the end, each: `days-ago` (d), `interval` (min), as many `values` as the day has (tenths of a degree "
        + "above 20 °C, 0 for none)"
    ),
    (
      "interval temperatures", "`days-ago` (d), `packet` (from 0)",
      "`days-ago` (d), `interval` (min), `packets`, `packet` (from 0), `values` up to the end (u16 LE, hundredths of a degree "
        + "Celsius, 0 for none)"
    ),
    (
      "temperatures at intervals", "`days-ago` (d), `packet` (from 0)",
      "`days-ago` (d), `interval` (min), `packets`, `packet` (from 0), `values` up to the end (u16 LE, hundredths of a degree "
        + "Celsius, 0 for none)"
    ),
    (
      "sedentary times", dayOrAll,
      "their number, `days`, each: `days-ago` (d), the number of bytes that follow, `parts` up to the end, each: `kind`, "
        + "`duration`"
    ),
    (
      "sport records", "`time` (u32 LE, s, since 1970 of the ring's wall clock; 0 for everything)",
      "their number, `sessions`, each: the number of bytes from here on, `sport` (a kind of sport), `numbers` up to the end, "
        + "each: the number of bytes from here on, `key` (\(keys)), `number` up to the end"
    ),
    (
      "sport course", "`sport` (a kind of sport), `start` (u32 LE, s)",
      "`status`, `packets` (u16 LE), `interval` (s), `columns` up to the end, each: `width`, `key` (\(keys))"
    ), ("sport course packet", nil, "`packet` (u16 LE, from 1), `samples` up to the end"),
    ("begin sync", "", "`status` (0)"),
    (
      "nickname", "`01 01 00`, then the name in UTF-16 LE behind its byte order mark `FF FE`.", "`status` (0)"
    ),
  ]

  private static let keys =
    "1 start, 2 duration, 3 distance, 4 energy, 5 average speed, 6 maximum speed, 7 average rate, 8 minimum rate, "
    + "9 maximum rate, 10 elevation, 11 uphill, 12 downhill, 13 step rate, 14 count, 17 rate, 19 steps"
  private static let dayOrAll = "`FF`: all days; else how many days ago, 0 is today."
  private static let sleep =
    "their number, `days`, each: `days-ago` (d), the number of bytes that follow, `start` (u16 LE, min, after midnight; a "
    + "start after the end is of the evening before), `end` (u16 LE, min, after midnight), `stages` up to the end, each: "
    + "`kind` (2 light, 3 deep, 4 REM, 5 awake), `minutes` (min)"

  @Test func everyBulkFrameIsDescribed() {
    let entries = CommandTable.all.filter { if case .bulk = $0.subject { $0.danger == nil } else { false } }
    #expect(entries.map(\.name) == Self.forms.map(\.name))
    for (entry, form) in zip(entries, Self.forms) {
      #expect(entry.requests.map(\.name) == (form.request.map { [$0] } ?? []), "\(entry.name)")
      #expect(entry.replies.map(\.name) == [form.reply], "\(entry.name)")
    }
    #expect(CommandTable.sleep.replyID == 0x27 && CommandTable.naps.id == .nap && BulkID.nap.rawValue == 0x3E)
    #expect(CommandTable.sportRecords.replyID == 0x42 && CommandTable.nickname.replyID == 0x4A)
  }

  private func error<Contents: BulkContents>(_ type: Contents.Type, _ payload: String) -> BulkContentsError? {
    do throws(BulkContentsError) {
      _ = try Contents(payload: hex(payload))
      return nil
    } catch {
      return error
    }
  }

  /// The number of bytes is that of the fields. A limit of a field costs no more than its record.
  @Test func aNightHasItsLimits() {
    for fits in ["01 00 04 9f05 a005", "01 ff 06 0000 0000 02ff", "00", "02", "", "01 00 04 ffff ffff"] {
      #expect(error(SleepLog.self, fits) == (fits == "02" ? .status(2) : nil))
    }
    #expect(error(SleepLog.self, "01 00 04 0000 0000 ffff") == .value("2 bytes too many", offset: 7))
  }

  @Test func otherContentsHaveTheirLimits() {
    for fits in ["00 9f05 46", "00 a005 46"] { #expect(error(ManualHeartRates.self, fits) == nil) }
    for fits in ["00ff 0101010101", "00ff 01010101", "0000"] {
      #expect(error(TemperatureLog.self, fits) == nil)
    }
    #expect(error(IntervalTemperatures.self, "00000100 100e") == .value("interval can't be 0", offset: 1))
    #expect(error(IntervalTemperatures.self, "00000000") == nil)
    #expect(error(IntervalTemperatures.self, "001e0100 10") == .truncated(offset: 4))
    for hours in [47, 48] {
      #expect(error(OxygenLog.self, "00" + String(repeating: "60", count: hours)) == nil)
    }
    #expect(
      error(BulkStatus<SinceTime>.self, "01") == .status(1) && error(BulkStatus<SinceTime>.self, "00") == nil)
    #expect(error(BulkStatus<SinceTime>.self, "0000") == .value("1 bytes too many", offset: 1))
  }

  /// What a ring sends is what is read: with numbers that fill their bytes.
  @Test func bulkContentsRoundTrip() throws {
    let stages = [SleepStage(.awake, minutes: 255), SleepStage(.light, minutes: 0)]
    let sleep = SleepLog([SleepDay(daysAgo: 9, start: 1439, end: 1440, stages: stages)])
    #expect(sleep.payload == hex("01 09 08 9f05 a005 05ff 0200"))
    #expect(try SleepLog(payload: sleep.payload) == sleep && SleepLog().payload == [0])
    // What does not fit into a byte is cut.
    let long = SleepLog([
      SleepDay(
        daysAgo: 0, start: 0, end: 1, stages: Array(repeating: SleepStage(.deep, minutes: 300), count: 200))
    ])
    #expect(long.payload.count == 258 && long.payload[2] == 255 && long.payload[8] == 255)
    #expect(SleepLog(Array(repeating: SleepDay(), count: 300)).payload.first == 255)
    let packet = IntervalTemperatures {
      ($0.daysAgo, $0.minutesPerSlot, $0.packets, $0.packet, $0.values) = (1, 2, 3, 4, [0x0E10, 1])
    }
    #expect(packet.payload == hex("01020304 100e 0100"))
    #expect(
      try IntervalTemperatures(payload: packet.payload) == packet && IntervalTemperatures().payload == [0]
    )
    #expect(
      SinceTime(seconds: 0x0102_0304).payload == hex("04030201") && SinceTime().payload == hex("00000000"))
    #expect(DayPacket(daysAgo: 1, packet: 2).payload == [1, 2] && DayCount().payload == [1])
    #expect(DayPacket().payload == [0, 0] && TemperatureDay().minutesPerSlot == 30)
    let rates = ManualHeartRates(daysAgo: 1, readings: [.init(minuteOfDay: 1439, value: 70)])
    #expect(rates.payload == hex("01 9f05 46") && ManualHeartRates().payload == [0])
    #expect(try ManualHeartRates(payload: []) == ManualHeartRates())
    #expect(
      UserName(payload: hex("010100fffe4600"))?.name == "F"
        && UserName(payload: hex("010100fffe460000")) == nil)
    #expect(
      UserName(payload: hex("010000fffe4600")) == nil && UserName(payload: hex("010100fffe"))?.name == "")
  }

  /// 4096 bytes are the most.
  @Test func aFrameHasItsLimit() throws {
    var writer = ByteWriter()
    try BulkFrame.write(0x27, payload: [UInt8](repeating: 1, count: 4096), into: &writer)
    var assembler = BulkAssembler()
    guard case .frame(let frame) = assembler.receive(writer.bytes.span.bytes, at: .zero) else {
      Issue.record("no frame")
      return
    }
    #expect(frame.payload.count == 4096 && writer.bytes[2...3] == [0x00, 0x10])
    #expect(BulkID(rawValue: 0).isFirmwareUpdate == false && BulkID(rawValue: 6).isFirmwareUpdate == false)
    // An open frame tells how much is there.
    _ = assembler.receive(Array(writer.bytes[..<10]).span.bytes, at: .zero)
    #expect(
      assembler.openFrame?.received == 4 && assembler.openFrame?.length == 4096
        && assembler.openFrame?.id == 0x27)
    #expect(assembler.deadline == .zero + .seconds(3))
  }
}
