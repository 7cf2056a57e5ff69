import RingLink
import TestSupport
import Testing

@Suite struct DayLogTests {
  /// A day of an RT11CR (2025-12-15).
  @Test func stressAsCaptured() throws {
    let answer = try frames(
      "3700051e00000000000000000000005a", "370100282a30232b2d1f2122241e22fb",
      "3702251f0000002c2421240000000012", "3703000000000000000000000000003a",
      "3704000000000000000000000000003b")
    let expected: [UInt8] =
      [40, 42, 48, 35, 43, 45, 31, 33, 34, 36, 30, 34, 37, 31, 0, 0, 0, 44, 36, 33, 36]
      + Array(repeating: 0, count: 27)
    let log = SlotLog(minutesPerSlot: 30, values: expected)
    #expect(DaySlotLogAssembler.assemble(answer, for: DaysAgo(0)) == .complete(log))
    #expect(DaySlotLogAssembler.assemble(answer.reversed(), for: DaysAgo(0)) == .complete(log))
    #expect(DaySlotLogAssembler.frames(of: log, command: 0x37, to: DaysAgo(0)) == answer)
    #expect(
      DaySlotLogAssembler.assemble(answer, for: DaysAgo(2))
        == .unreadable(.value("it is about 0 days ago, not 2")))
    #expect(
      DaySlotLogAssembler.assemble(Array(answer.dropLast()), for: DaysAgo(0))
        == .incomplete(received: 4, of: 5))
  }

  /// Three of the five frames of an RT11CR's night (2025-12-11).
  @Test func variabilityAsCaptured() throws {
    let answer = try frames(
      "39010030002e00000000000000000098", "390300000029003100260025002c000d",
      "39042c00260030002b001f0000000009")
    #expect(
      DaySlotLogAssembler.assemble([try frame("3900051e")] + answer, for: DaysAgo(0)) == .gaps([2]))
    guard
      case .complete(let log) = DaySlotLogAssembler.assemble(
        [try frame("3900051e"), try frame("3902")] + answer, for: DaysAgo(0))
    else {
      Issue.record("not complete")
      return
    }
    let readings = SlotLog(minutesPerSlot: 30, values: log.values).readings(of: RingDay(number: 0))
    #expect(readings.map(\.value) == [48, 46, 41, 49, 38, 37, 44, 44, 38, 48, 43, 31])
    #expect(readings.map(\.time.description).prefix(2) == ["1970-01-01T00:00:00", "1970-01-01T01:00:00"])
  }

  @Test func requestsAndNoDataAsCaptured() throws {
    #expect(CommandTable.stressLog.request(DaysAgo(0)).bytes == hex("37000000000000000000000000000037"))
    #expect(CommandTable.stressLog.request(DaysAgo(4)).bytes == hex("3704000000000000000000000000003b"))
    #expect(CommandTable.variabilityLog.request(DaysAgo(5)).bytes == hex("3905000000000000000000000000003e"))
    #expect(
      CommandTable.hourlyCounter.request(ReadDaysAgo(0)).bytes == hex("7a01000000000000000000000000007b"))
    for none in ["37ff0000000000000000000000000036", "39ff0000000000000000000000000038"] {
      #expect(DaySlotLogAssembler.assemble(try frames(none), for: DaysAgo(1)) == .complete(.empty))
    }
  }

  @Test func hourlyCounters() throws {
    let header = try frames("7a00053c0000000000000000000000bb")
    let counter = DaySlots(minutesPerSlot: 60, values: (0..<24).map { UInt16($0 * 300) })
    let answer = HourlyCounterAssembler.frames(of: counter, command: 0x7A, to: ReadDaysAgo(3))
    #expect(answer.count == 5 && answer[0] == header[0])
    // The third value, 600, stands in bytes 7 and 8 of the first piece.
    #expect(answer[1].byte(at: 2) == 3 && answer[1].byte(at: 7) == 0x58 && answer[1].byte(at: 8) == 2)
    #expect(HourlyCounterAssembler.assemble(answer, for: ReadDaysAgo(3)) == .complete(counter))
    // 7A 02 would set it back, and is no form of the request.
    #expect(!CommandTable.hourlyCounter.entry.requests[0].matches(RingFrame(0x7A, 2, 1)))
  }

  /// The form is the vendor's; no ring was heard to send it.
  @Test func dayTotals() throws {
    let answer = [
      try frame("070002251211001234000056013880"), try frame("0701022512110003e80019017c"),
    ]
    let day = try #require(RingDay(year: 2025, month: 12, day: 11))
    #expect(
      answer.map { CommandTable.meaning(of: $0, isFromRing: true).description } == [
        "day totals first: days-ago 2 d, year 25, month 12, day 11, steps 4660 steps, running-steps 86 steps, "
          + "calories 80000 cal",
        "day totals second: days-ago 2 d, year 25, month 12, day 11, distance 1000 m, active 25 min, sleep 380 min",
      ])
    #expect(DayTotalsAssembler.assemble(answer, for: DaysAgo(2)) == .complete(day))
    #expect(DayTotalsAssembler.assemble(answer.reversed(), for: DaysAgo(2)) == .complete(day))
    #expect(DayTotalsAssembler.assemble([answer[1]], for: DaysAgo(2)) == .gaps([0]))
    let none = [try frame("0700"), try frame("0701")]
    #expect(DayTotalsAssembler.assemble(none, for: DaysAgo(2)) == .complete(nil))
    #expect(
      DayTotalsAssembler.assemble([try frame("0705")], for: DaysAgo(2))
        == .unreadable(.value("an answer of two frames can't have frame 5")))
  }

  @Test func assemblesArbitraryFramesWithoutCrashing() throws {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<1000 {
      let noise = try (0..<8).map { index in
        try RingFrame(0x37, payload: [UInt8(index % 5)] + generator.bytes(13))
      }
      _ = DaySlotLogAssembler.assemble(noise, for: DaysAgo(0))
      _ = HourlyCounterAssembler.assemble(noise, for: ReadDaysAgo(0))
      _ = DayTotalsAssembler.assemble(noise, for: DaysAgo(0))
    }
  }
}
