import TestSupport
import Testing

@testable import RingLink

@Suite struct BulkContentsTests {
  private let today = RingDay(year: 2025, month: 12, day: 13)

  /// What a captured bulk frame carries; the CRC is checked elsewhere.
  private func contents<Contents: BulkContents>(
    _ frame: String, as type: Contents.Type = Contents.self
  ) throws -> Contents {
    try Contents(payload: Array(hex(frame).dropFirst(6)))
  }

  @Test func requestsAsCaptured() {
    #expect(SleepRequest.today.payload == [0, 1] && SleepRequest.empty.payload == [])
    #expect(SleepRequest.all.payload == [0xFF, 1] && SleepRequest.allOfOlder.payload == [0xFF])
    #expect(DayOrAll.all.payload == [0xFF] && DayOrAll.daysAgo(0).payload == [0])
    for request in SleepRequest.allCases { #expect(SleepRequest(payload: request.payload) == request) }
    #expect(SleepRequest(payload: [7]) == nil && DayOrAll(payload: [1, 2]) == nil)
    #expect(DayOrAll(payload: []) == .all && DayCount(payload: []) == nil && DayPacket(payload: [1]) == nil)
  }

  @Test func smallRequestsAsCaptured() throws {
    #expect(NoBulkFields().payload == [])
    #expect(SinceTime(seconds: 1_765_523_380).payload == hex("b4bf3b69"))
    #expect(SinceTime(payload: hex("b4bf3b69"))?.seconds == 1_765_523_380)
    #expect(UserName("Felix").payload == hex("010100fffe460065006c0069007800"))
    #expect(UserName(payload: hex("010100fffe460065006c0069007800"))?.name == "Felix")
    #expect(UserName(payload: hex("010100fffe46")) == nil && SinceTime(payload: [1]) == nil)
    #expect(CommandTable.sportRecords.replyID == 0x42 && CommandTable.beginSync.replyID == 0x30)
    #expect(try contents("bc300100bf4000", as: BulkStatus<NoBulkFields>.self).code == 0)
    #expect(try contents("bc420100bf4000", as: BulkStatus<SinceTime>.self).code == 0)
    #expect(throws: BulkContentsError.status(2)) { try BulkStatus<NoBulkFields>(payload: [2]) }
    #expect(throws: BulkContentsError.truncated(offset: 0)) { try BulkStatus<NoBulkFields>(payload: []) }
  }

  /// Two nights of an RT11CR.
  @Test func nights() throws {
    let today = try #require(today)
    let frame =
      "bc273b00996f02021ecc00a401022704130214040d030d040b031f020e040e030d0412050302080118a500a50102230314021d040b"
      + "022203200412032404110218"
    let log: SleepLog = try contents(frame)
    #expect(log.items.map(\.daysAgo) == [2, 1])
    let nights = log.items.compactMap { $0.session(isNap: false, today: today) }
    #expect(nights.map(\.start.description) == ["2025-12-11T03:24:00", "2025-12-12T02:45:00"])
    #expect(nights.map(\.end.description) == ["2025-12-11T07:00:00", "2025-12-12T07:01:00"])
    #expect(nights.map(\.isConsistent) == [true, true])
    #expect(
      nights[0].stages.prefix(3) == [
        SleepStage(.light, minutes: 39), SleepStage(.rem, minutes: 19), SleepStage(.light, minutes: 20),
      ])
    #expect(nights[0].stages.contains(SleepStage(.awake, minutes: 3)) && nights[1].stages.count == 10)
    #expect(log.payload == Array(hex(frame).dropFirst(6)))
  }

  /// Answers of a COLMI R10 (RT03CR_1.00.02_260319), as thebabush/junk publishes them, beside what the vendor's app made of them.
  @Test func aDayOfAnR10() throws {
    let today = try #require(RingDay(year: 2026, month: 7, day: 2))
    let sleep: SleepLog = try contents(
      "bc27310039ec01002ebb00c50202180320021804100225030b02240413021d0312020b041b02160309021e0412022b031b0219040f"
        + "0231")
    let night = try #require(sleep.items.first?.session(isNap: false, today: today))
    #expect(
      night.start.description == "2026-07-02T03:07:00" && night.end.description == "2026-07-02T11:49:00")
    #expect(night.stages.count == 21 && night.isConsistent)
    #expect(
      night.stages.suffix(4) == [
        SleepStage(.deep, minutes: 27), SleepStage(.light, minutes: 25), SleepStage(.rem, minutes: 15),
        SleepStage(.light, minutes: 49),
      ])
    let temperatures: TemperatureLog = try contents(
      "bc2532004e81001ea7a8a8a8a8a8a1a8a7a8a8a7a6a7a7a7a7a7a7a6a6a7a8a7a5a0a6a6a7"
        + String(repeating: "00", count: 19))
    let readings = temperatures.items.flatMap { $0.readings(today: today) }
    #expect(readings.count == 29)
    #expect(readings.prefix(8).map(\.centidegrees) == [3670, 3680, 3680, 3680, 3680, 3680, 3610, 3680])
    let oxygen: OxygenLog = try contents(
      "bc2a31003e9800626260606161636360606060616161616060616160606060616161610000000000000000000000000000000000"
        + "000000")
    #expect(oxygen.items[0].readings(today: today).prefix(5).map(\.minimum) == [98, 96, 97, 99, 96])
    let sports: SportLog = try contents(
      "bc423100e62e013007060180291d6904023d0004030000060400000000040500000406000003073c03083903093e030d0006130000"
        + "0000")
    let numbers = try #require(sports.items.first?.contents?.numbers)
    #expect(numbers[.duration] == 61 && numbers[.averageRate] == 60 && numbers[.steps] == 0)
    #expect(numbers[.minimumRate] == 57 && numbers[.maximumRate] == 62)
  }

  @Test func naps() throws {
    let today = try #require(today)
    let log: SleepLog = try contents("bc3e11007c6001020e06037503021404110321021b020e")
    let nap = try #require(log.items.first?.session(isNap: true, today: today))
    #expect((nap.start.description, nap.end.description) == ("2025-12-11T12:54:00", "2025-12-11T14:45:00"))
    #expect(nap.stages.map(\.minutes) == [20, 17, 33, 27, 14] && nap.isConsistent && nap.isNap)
    for none in ["bc270100bf4000", "bc3e0100bf4000"] {
      #expect(try contents(none, as: SleepLog.self).items.isEmpty)
    }
  }

  @Test(arguments: [
    // Before midnight; after; in the evening, for a nap; from the evening before, longer than a day has hours.
    (1400, 430, 470, "2025-12-12T23:20:00"), (10, 430, 420, "2025-12-13T00:10:00"),
    (1100, 1160, 60, "2025-12-13T18:20:00"), (1100, 1160, 1500, "2025-12-12T18:20:00"),
    // Inconsistent: only the order of the times tells.
    (1100, 1160, 7, "2025-12-13T18:20:00"),
    // The vendor's software counts from the midnight before, too: 1468 is 00:28.
    (1468, 420, 392, "2025-12-13T00:28:00"), (1410, 1860, 450, "2025-12-12T23:30:00"),
  ])
  func nightsBeginTheEveningBefore(start: Int, end: Int, slept: Int, expected: String) throws {
    let today = try #require(today)
    // A stage has at most 255 minutes.
    let stages = stride(from: 0, to: slept, by: 250).map {
      SleepStage(.light, minutes: min(slept - $0, 250))
    }
    let night = SleepDay(daysAgo: 0, start: UInt16(start), end: UInt16(end), stages: stages)
    #expect(night.session(isNap: false, today: today)?.start.description == expected)
  }

  /// Two days of an RT11CR: hours without a value are left out.
  @Test func oxygen() throws {
    let today = try #require(today)
    let frame =
      "bc2a6200d25d0100000000000000006161626262626060636360606262626262626161636360606161616160606060626263636161616100"
      + "626263636262606063636060616100006363636300000000000000000000000000000000000000000000000000000000"
    let log: OxygenLog = try contents(frame)
    let readings = log.items.flatMap { $0.readings(today: today) }
    let hours = readings.filter { $0.time.day == today.adding(days: -1) }
    #expect(hours.map(\.time.hour) == Array(4...23))
    #expect(
      hours.map(\.minimum) == [
        97, 98, 98, 96, 99, 96, 98, 98, 98, 97, 99, 96, 97, 97, 96, 96, 98, 99, 97, 97,
      ])
    #expect(readings.filter { $0.time.day == today }.map(\.time.hour) == [0, 1, 2, 3, 4, 5, 6, 8, 9])
    #expect(readings.allSatisfy { $0.minimum == $0.maximum })
    #expect(log.payload == Array(hex(frame).dropFirst(6)))
    #expect(try OxygenLog(payload: [0]).items.isEmpty && OxygenLog(payload: []).items.isEmpty)
  }

  @Test func theSmallerOfTwoIsTheMinimum() throws {
    let hours = [(99, 95), (0, 97), (255, 96), (0, 0)] + Array(repeating: (0, 0), count: 20)
    let log = OxygenLog([
      OxygenDay(
        daysAgo: 0, hours: hours.map { OxygenDay.Hour(minimum: UInt8($0.0), maximum: UInt8($0.1)) })
    ])
    let readings = try OxygenLog(payload: log.payload).items[0].readings(today: RingDay(number: 0))
    #expect(readings.map(\.minimum) == [95, 97, 96] && readings.map(\.maximum) == [99, 97, 96])
  }

  @Test func manualHeartRates() throws {
    let log: ManualHeartRates = try contents("bc28040022f200960459")
    #expect(log == ManualHeartRates(daysAgo: 0, readings: [.init(minuteOfDay: 1174, value: 89)]))
    #expect(try ManualHeartRates(payload: [0]).readings.isEmpty)
    #expect(try ManualHeartRates(payload: []).readings.isEmpty)
  }

  /// The forms are the vendor's; no ring was heard to send them.
  @Test func temperatures() throws {
    let day = [UInt8](repeating: 0, count: 20) + [145, 0xFF] + [UInt8](repeating: 0, count: 26)
    let log = try TemperatureLog(payload: [2, 30] + day)
    #expect(
      log.items[0].readings(today: RingDay(number: 2)) == [
        TemperatureReading(time: RingTime(seconds: 36000), centidegrees: 3450)
      ])
    #expect(log.payload == [2, 30] + day)
    let packet = try IntervalTemperatures(payload: [1, 60, 2, 0, 0x7A, 0x0D, 0, 0])
    #expect((packet.minutesPerSlot, packet.packets, packet.values) == (60, 2, [3450, 0]))
    #expect(try IntervalTemperatures(payload: [0]).values.isEmpty)
  }

  @Test func rejectsStatusAndTrailingBytes() throws {
    // A lonely status, bytes after the last day.
    #expect(throws: BulkContentsError.status(2)) { try SleepLog(payload: [2]) }
    #expect(throws: BulkContentsError.status(4)) { try OxygenLog(payload: [4]) }
    #expect(throws: BulkContentsError.value("1 bytes too many", offset: 7)) {
      try SleepLog(payload: [1, 0, 4, 0, 0, 0, 0, 9])
    }
  }

  /// What cannot be read is kept as bytes, after the days that can.
  @Test func aLogThatIsCutOffHasItsBeginning() throws {
    let night: [UInt8] = [3, 6, 10, 0, 20, 0, 2, 10]
    let cut: [UInt8] = [0, 255, 0, 0, 0, 0]
    let log = try SleepLog(payload: [2] + night + cut)
    #expect(log.items.map(\.daysAgo) == [3] && log.unread == cut)
    #expect(try SleepLog(payload: [255] + night).items.count == 1)
    let hours = [UInt8](repeating: 97, count: 48)
    let oxygen = try OxygenLog(payload: [1] + hours + [0, 97])
    #expect(oxygen.items.count == 1 && oxygen.unread == [0, 97])
    let rates = try ManualHeartRates(payload: [0, 1, 0, 80, 7])
    #expect(rates.readings.map(\.value) == [80] && rates.unread == [7])
    let temperatures = try TemperatureLog(payload: [0, 0, 1])
    #expect(temperatures.items.isEmpty && temperatures.unread == [0, 0, 1])
  }

  /// A night whose block is not start, end and stages, or whose times are none, does not cost the next one.
  @Test(
    arguments: [
      ([0, 3, 1, 2, 3], "its bytes are not start, end and stages"),
      ([0, 5, 0, 0, 0, 0, 2], "its bytes are not start, end and stages"),
      ([0, 6, 0xE2, 0xFF, 20, 0, 2, 10], "a night can't be from minute 65506 to minute 20"),
      ([0, 6, 10, 0, 0x40, 0x0B, 2, 10], "a night can't be from minute 10 to minute 2880"),
      ([0, 4, 0xBC, 5, 0xBB, 5], "a night can't be from minute 1468 to minute 1467"),
    ] as [([UInt8], String)])
  func keepsNightsAfterInvalidOne(bytes: [UInt8], oddity: String) throws {
    let log = try SleepLog(payload: [2] + bytes + [1, 6, 10, 0, 20, 0, 2, 10])
    let sessions = try log.items.map { $0.session(isNap: false, today: try #require(today)) }
    #expect(sessions.map { $0 == nil } == [true, false])
    #expect(log.items[0].oddity == oddity)
    #expect(log.payload == [2] + bytes + [1, 6, 10, 0, 20, 0, 2, 10])
  }

  @Test func decodesArbitraryPayloadsWithoutCrashing() {
    func decodeAll(_ payload: [UInt8]) {
      _ = try? SleepLog(payload: payload).items.map { $0.session(isNap: false, today: RingDay(number: 0)) }
      _ = try? OxygenLog(payload: payload).items.map { $0.readings(today: RingDay(number: 0)) }
      _ = try? ManualHeartRates(payload: payload)
      _ = try? TemperatureLog(payload: payload).items.map { $0.readings(today: RingDay(number: 0)) }
      _ = try? IntervalTemperatures(payload: payload)
    }
    for vector in RingVector.all.filter({ $0.verdict == .bulk }) {
      checkDecoderIsTotal(Array(hex(vector.hex).dropFirst(6)), decodeAll)
    }
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<2000 { decodeAll(generator.bytes(Int.random(in: 0...200, using: &generator))) }
  }
}
