import TestSupport
import Testing

@testable import RingLink

@Suite struct ActivityLogTests {
  private typealias Assembler = ActivityLogAssembler

  /// A day of an RT11CR (2025-12-11): a header and eight hours.
  private func captured() throws -> [RingFrame] {
    try frames(
      "43f0080100000000000000000000003c", "432512110000081300080004000000b2",
      "4325121104010850002000130000001b", "43251211340208d8004c00320000001f",
      "43251211380308ed0052003700000044", "43251211440408b0003e0029000000f2",
      "4325121148050832000e000b0000002b", "432512114c0608470170004b000000e8",
      "43251211500708c70046002e00000025")
  }

  @Test func theCapturedDay() throws {
    let answer = try captured()
    guard case .complete(let log) = Assembler.assemble(answer, for: ActivityRequest()) else {
      Issue.record("not complete")
      return
    }
    #expect(log.isInTens)
    #expect(log.records.map(\.slot) == [0, 4, 52, 56, 68, 72, 76, 80])
    #expect(log.records.map(\.steps) == [8, 32, 76, 82, 62, 14, 112, 70])
    #expect(log.records.map(\.meters) == [4, 19, 50, 55, 41, 11, 75, 46])
    #expect(log.records.map(\.energy) == [19, 80, 216, 237, 176, 50, 327, 199])
    // The same as what the ring told for the day in sum, 13046 small calories, but for rounding.
    var (steps, meters, energy) = (0, 0, 0)
    for record in log.records {
      steps += Int(record.steps)
      meters += Int(record.meters)
      energy += Int(record.energy) * 10
    }
    #expect((steps, meters, energy) == (456, 301, 13040))
    let day = try #require(RingDay(year: 2025, month: 12, day: 11))
    #expect(log.records.allSatisfy { $0.day(near: day.adding(days: 90)) == day })
    #expect(Assembler.frames(of: log, command: 0x43, to: ActivityRequest()) == answer)
  }

  @Test func otherRings() throws {
    let one = try frames("43f00101000000000000000000000035", "432410155c0001790015001000000087")
    guard case .complete(let log) = Assembler.assemble(one, for: ActivityRequest()) else {
      Issue.record("not complete")
      return
    }
    #expect(log.records.map(\.energy) == [121] && log.records.map(\.slot) == [92])
    #expect(
      Assembler.assemble(try frames("43ff0000000000000000000000000042"), for: ActivityRequest())
        == .complete(ActivityLog()))
    #expect(CommandTable.activity.request(ActivityRequest()).bytes == hex("43000f005f01000000000000000000b2"))
    // Three of the seven records of an R11 (2026-06-17), which sends the newest first.
    let newest = try frames(
      "432606174c06072d05e800a9000000a2", "43260617480507a32a8406670500009d",
      "432606172c010757000f000b0000002b")
    #expect(
      Assembler.assemble([try frame("43f00701")] + newest, for: ActivityRequest()) == .gaps([0, 2, 3, 4]))
    let record = try ActivityRecord(parsing: newest[1])
    #expect((record.slot, record.energy, record.steps, record.meters) == (72, 10915, 1668, 1383))
  }

  @Test func orderAndRepetitionDoNotMatter() throws {
    let answer = try captured()
    let expected = Assembler.assemble(answer, for: ActivityRequest())
    var generator = SeededGenerator(seed: 43)
    for _ in 0..<50 {
      let shuffled = (answer + answer).shuffled(using: &generator)
      #expect(Assembler.assemble(shuffled, for: ActivityRequest()) == expected)
    }
  }

  @Test func detectsLostFramesAndCompletesOnRetry() throws {
    let answer = try captured()
    for lost in answer.indices {
      var assembler = Assembler(ActivityRequest())
      var rest = answer
      rest.remove(at: lost)
      switch lost {
      case 0: #expect(assembler.take(rest) == .incomplete(received: 8, of: 9))
      case 8: #expect(assembler.take(rest) == .incomplete(received: 8, of: 9))
      default: #expect(assembler.take(rest) == .gaps([lost - 1]))
      }
      #expect(assembler.take(answer) == Assembler.assemble(answer, for: ActivityRequest()))
    }
  }

  @Test func toleratesWrongRecordCount() throws {
    // No record at all; more records than the header says; fewer.
    #expect(
      Assembler.assemble([try frame("43f00001")], for: ActivityRequest()) == .complete(ActivityLog()))
    let answer = try captured()
    for header in ["43f00101", "43f0ff01"] {
      #expect(
        Assembler.assemble([try frame(header)] + answer.dropFirst(), for: ActivityRequest())
          == Assembler.assemble(answer, for: ActivityRequest()), "\(header)")
    }
  }

  /// One odd record does not cost the others: it has its place among them.
  @Test(arguments: [
    ("432512110008081300", "record 8 can't be one of 8, which are counted from 0"),
    ("432512116002081300", "a day has no quarter of an hour 96"),
    ("432513110002081300", "there is no day 11 of month 13"),
    ("432500110002081300", "there is no day 11 of month 0"),
    ("4325121a0002081300", "there is no day 0 of month 12"),
    ("432512110002001300", "record 2 can't be one of 0, which are counted from 0"),
  ])
  func separatesInvalidRecord(record: String, why: String) throws {
    var answer = try captured()
    let odd = try frame(record)
    answer[3] = odd
    guard case .complete(let log) = Assembler.assemble(answer, for: ActivityRequest()) else {
      Issue.record("it is not complete")
      return
    }
    #expect(log.records.count == 7)
    #expect(log.odd == [ActivityLog.Odd(frame: odd, reason: why)])
  }

  /// An R03 of Realtek's chip sends no year.
  @Test func aMissingYearIsThatOfTheDayAskedFor() throws {
    let record = try ActivityRecord(parsing: try frame("43001231000001"))
    let silvester = try #require(RingDay(year: 2025, month: 12, day: 31))
    #expect(record.day(near: silvester) == silvester)
    #expect(record.day(near: silvester.adding(days: 1)) == silvester)
    let leap = try ActivityRecord(parsing: try frame("43000229000001"))
    #expect(leap.day(near: silvester.adding(days: 100)) == nil)
  }

  @Test func assemblesArbitraryFramesWithoutCrashing() throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      var assembler = Assembler(ActivityRequest())
      for _ in 0..<40 {
        _ = assembler.take([try RingFrame(0x43, payload: generator.bytes(14))])
        _ = assembler.take([
          try RingFrame(
            0x43,
            payload: [
              0x25, 0x12, 0x11, 0, UInt8.random(in: 0...255, using: &generator),
              UInt8.random(in: 1...255, using: &generator),
            ])
        ])
      }
    }
  }
}
