import RingLink
import TestSupport
import Testing

@Suite struct HeartRateLogTests {
  private typealias Assembler = HeartRateLogAssembler
  private let day = RingDay(year: 2024, month: 8, day: 10)
  /// A day in the past.
  private let request: DayByTime

  init() throws {
    let day = try #require(day)
    request = DayByTime(day, now: day.adding(days: 3).midnight)
  }

  /// The whole answer of an R02 (2024-08-10): 24 frames, six values.
  private func captured() throws -> [RingFrame] {
    let values = [
      15: "150f000059000000000000000000007d", 16: "1510006b000000000000000000000090",
      17: "15116000000000000000000000006bf1", 19: "15130000000000000000000050000078",
      20: "1514000000000000000000460000006f",
    ]
    return try frames("15001805000000000000000000000032", "150180adb6660000000000000000005f")
      + (2...23).map { try values[$0].map { try frames($0)[0] } ?? RingFrame(0x15, UInt8($0)) }
  }

  @Test func theCapturedDay() throws {
    guard case .complete(let log) = Assembler.assemble(try captured(), for: request) else {
      Issue.record("not complete")
      return
    }
    #expect(log.minutesPerSlot == 5 && log.values.count == 288)
    let found = log.values.enumerated().filter { $0.element != 0 }
    #expect(found.map(\.offset) == [180, 192, 204, 216, 240, 252])
    #expect(found.map(\.element) == [89, 107, 96, 107, 80, 70])
    let readings = SlotLog(minutesPerSlot: 5, values: log.values).readings(of: request.day)
    #expect(readings.first?.time.description == "2024-08-10T15:00:00")
  }

  @Test func theRequestIsAsCaptured() throws {
    // 2025-12-15 10:16:34 as the ring's wall clock.
    var request = DayByTime()
    request.seconds = 1_765_793_794
    #expect(CommandTable.heartRateLog.request(request).bytes == hex("1502e03f69000000000000000000009f"))
    #expect(request.day.description == "2025-12-15")
    #expect(
      Assembler.assemble(try frames("15ff0000000000000000000000000014"), for: request) == .complete(.empty))
  }

  /// Pieces of the answer of an RT11CR: nine values in the first, thirteen in the others.
  @Test func valuesStandWhereTheyBelong() throws {
    var request = DayByTime()
    request.seconds = 1_765_793_794
    var answer = try frames(
      "15001805000000000000000000000032", "150102e03f6949000000000050000039",
      "15020000004c00000000004f000000b2")
    answer += (3...9).map { RingFrame(0x15, UInt8($0)) }
    answer += try frames("150a3e495351524d4d444d6752000080")
    answer += (11...23).map { RingFrame(0x15, UInt8($0)) }
    guard case .complete(let log) = Assembler.assemble(answer, for: request) else {
      Issue.record("not complete")
      return
    }
    #expect(
      Array(log.values[0..<22]) == [73, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 76, 0, 0, 0, 0, 0, 79, 0, 0, 0])
    // 10:15, a minute before the capture, is the last: slot 9 + 13 * 8 + 10.
    #expect(log.values[123] == 82 && log.values[124...].allSatisfy { $0 == 0 })
  }

  @Test func orderAndRepetitionDoNotMatter() throws {
    let answer = try captured()
    let expected = Assembler.assemble(answer, for: request)
    #expect(Assembler.assemble(answer.reversed(), for: request) == expected)
    #expect(Assembler.assemble(answer.flatMap { [$0, $0] }, for: request) == expected)
    var generator = SeededGenerator(seed: 15)
    for _ in 0..<50 {
      #expect(Assembler.assemble(answer.shuffled(using: &generator), for: request) == expected)
    }
  }

  @Test func detectsLostFramesAndCompletesOnRetry() throws {
    let answer = try captured()
    for lost in answer.indices {
      var assembler = Assembler(request)
      var rest = answer
      rest.remove(at: lost)
      let outcome = assembler.take(rest)
      switch lost {
      case 0: #expect(outcome == .incomplete(received: 23, of: nil))
      case 23: #expect(outcome == .incomplete(received: 23, of: 24))
      default: #expect(outcome == .gaps([lost]))
      }
      #expect(assembler.take(answer) == Assembler.assemble(answer, for: request))
    }
  }

  @Test func todayEndsWithFrame23() throws {
    let day = try #require(day)
    let today = DayByTime(day, now: day.midnight.adding(minutes: 600))
    var answer = try captured()
    answer[0] = RingFrame(0x15, 0, 40, 5)
    #expect(Assembler.assemble(answer, for: today) == Assembler.assemble(try captured(), for: today))
    #expect(Assembler.assemble(answer, for: request) == .incomplete(received: 24, of: 40))
  }

  @Test func aDayIsNotTakenForAnother() throws {
    let other = DayByTime(request.day.adding(days: 1), now: request.day.adding(days: 4).midnight)
    #expect(
      Assembler.assemble(try captured(), for: other)
        == .unreadable(.value("it is about 2024-08-10, not 2024-08-11")))
  }

  /// Old firmware tells the interval of its schedule, and keeps slots of five minutes all the same.
  @Test func slotsAreOfFiveMinutesIfValuesGoBeyondTheDay() throws {
    var answer = try captured()
    answer[0] = RingFrame(0x15, 0, 24, 30)
    #expect(Assembler.assemble(answer, for: request) == Assembler.assemble(try captured(), for: request))
    let log = SlotLog(minutesPerSlot: 30, values: (0..<48).map { UInt8($0 + 50) })
    let short = Assembler.frames(of: log, command: 0x15, to: request)
    #expect(short.count == 5 && Assembler.assemble(short, for: request) == .complete(log))
  }

  @Test func handlesInvalidHeaders() throws {
    for (header, expected): (String, LogOutcome<SlotLog>) in [
      ("15000005", .unreadable(.value("frames can't be 0"))),
      ("15001800", .unreadable(.value("interval can't be 0"))),
      ("15000105", .complete(.empty)),
      ("1500ff05", .incomplete(received: 1, of: 255)),
    ] {
      #expect(Assembler.assemble([try frame(header)], for: request) == expected, "\(header)")
    }
  }

  @Test func assemblesArbitraryFramesWithoutCrashing() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<300 {
      var assembler = Assembler(request)
      for _ in 0..<60 {
        _ = assembler.take([try RingFrame(0x15, payload: generator.bytes(14))])
        _ = assembler.take([
          try RingFrame(0x15, payload: [UInt8.random(in: 0...30, using: &generator), 24, 1])
        ])
      }
    }
  }
}
