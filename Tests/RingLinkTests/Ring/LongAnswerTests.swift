import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Answers of several frames, of which some are lost, late, repeated or wrong (ring reference, 2, 3 and 6).
@BluetoothActor
@Suite(.onTheLoop) struct LongAnswerTests {
  private let device = ScriptedRing()
  private static let values = (1...40).map { UInt8($0) }
  /// A header and four frames.
  private static let frames = DaySlotLogAssembler.frames(
    of: SlotLog(minutesPerSlot: 30, values: values), command: 0x37, to: DaysAgo(2))
  private static let complete = SlotLog(minutesPerSlot: 30, values: values + Array(repeating: 0, count: 8))

  /// Requests a log of which each request is answered with some of its frames.
  private func log(
    _ answers: [[RingFrame]]
  ) async throws -> (log: SlotLog?, error: RingError?, time: Duration, progress: [String]) {
    let ring = try await device.open()
    var left = answers
    device.answer = { _ in left.isEmpty ? [] : left.removeFirst() }
    var progress: [String] = []
    var result: SlotLog?
    let (error, time) = await failure { () throws(RingError) in
      result = try await ring.log(CommandTable.stressLog, DaysAgo(2)) {
        progress.append("\($0) of \($1.map { "\($0)" } ?? "?")")
      }
    }
    return (result, error, time, progress)
  }

  /// The next request follows 0.1 s later: repeated frames do not tell the day.
  @Test func aWholeAnswerIsTakenAtOnce() async throws {
    #expect(Self.frames.count == 5)
    let (log, error, time, progress) = try await log([Self.frames])
    #expect(log == Self.complete && error == nil)
    #expect(time >= .milliseconds(101) && time < .milliseconds(110))
    #expect(device.takeAsked() == ["3702"])
    #expect(progress == ["1 of 5", "2 of 5", "3 of 5", "4 of 5"])
  }

  /// A frame is lost: a second after the last one, the request is repeated. After that, frames that were there before count.
  @Test func aLostFrameIsAskedForAgain() async throws {
    var lossy = Self.frames
    lossy.remove(at: 2)
    let (log, error, time, _) = try await log([lossy, [Self.frames[2]]])
    #expect(log == Self.complete && error == nil)
    #expect(device.takeAsked() == ["3702", "3702"])
    // The rest of the second answer is waited for, and must not be taken for the next one.
    #expect(time >= .milliseconds(2101) && time < .milliseconds(2110))
  }

  @Test func aFrameThatIsLostTwiceIsMissing() async throws {
    var lossy = Self.frames
    lossy.remove(at: 2)
    lossy.remove(at: 2)
    let (log, error, time, _) = try await log([lossy, lossy])
    #expect(log == nil && error == .incomplete(.frame(0x37), missing: 2))
    #expect(device.takeAsked() == ["3702", "3702"])
    #expect(time >= .seconds(2) && time < .milliseconds(2010))
  }

  /// Its end is missing: after two seconds, as for any answer.
  @Test func anEndThatIsLostIsMissing() async throws {
    let (_, error, time, progress) = try await log([Array(Self.frames[..<2]), Array(Self.frames[..<2])])
    #expect(error == .incomplete(.frame(0x37), missing: 3))
    #expect(time >= .seconds(4) && time < .milliseconds(4010))
    #expect(progress == ["1 of 5", "2 of 5", "2 of 5", "2 of 5"])
  }

  /// Without its header nobody knows how long it is.
  @Test func aLostHeaderIsMissing() async throws {
    let (_, error, _, progress) = try await log([[Self.frames[1]], [Self.frames[1]]])
    #expect(error == .incomplete(.frame(0x37), missing: 1))
    #expect(progress == ["1 of ?", "1 of ?"])
  }

  @Test func noAnswerIsNotAskedForAgain() async throws {
    let (_, error, time, _) = try await log([])
    #expect(error == .notAnswered(.frame(0x37), seconds: 2))
    #expect(device.takeAsked() == ["3702"] && time >= .seconds(2) && time < .milliseconds(2010))
  }

  /// A ring that repeats one frame for ever does not hold the request.
  @Test func repeatedFramesDoNotHoldIt() async throws {
    let ring = try await device.open()
    for count in 0..<100 { device.send(Self.frames[1], after: .milliseconds(10 + 100 * count)) }
    let (error, time) = await failure { () throws(RingError) in
      _ = try await ring.log(CommandTable.stressLog, DaysAgo(2))
    }
    #expect(error == .incomplete(.frame(0x37), missing: 1))
    #expect(time < .milliseconds(4200))
  }

  /// What follows a frame that can't be read is not taken for the next answer.
  @Test func undecodableResponseFailsAfterOneSecond() async throws {
    let other = DaySlotLogAssembler.frames(
      of: SlotLog(minutesPerSlot: 30, values: [1]), command: 0x37, to: DaysAgo(3))
    let (_, error, time, _) = try await log([other + [Self.frames[2]]])
    #expect(error == .malformed(.frame(0x37), .value("it is about 3 days ago, not 2")))
    #expect(time >= .milliseconds(1001) && time < .milliseconds(1010))
    #expect(device.takeAsked() == ["3702"])
  }

  // MARK: Bulk frames

  private func bulk(
    _ answers: [[[UInt8]]]
  ) async throws -> (reply: ManualHeartRates?, error: RingError?, time: Duration, progress: [String]) {
    let ring = try await device.open()
    var left = answers
    device.answerBulk = { _, _ in left.isEmpty ? [] : left.removeFirst() }
    var progress: [String] = []
    var reply: ManualHeartRates?
    let (error, time) = await failure { () throws(RingError) in
      reply = try await ring.bulk(CommandTable.manualHeartRates, .daysAgo(1)) {
        progress.append("\($0) of \($1)")
      }.first
    }
    return (reply, error, time, progress)
  }

  private static let answer = bulkFrame(0x28, [1, 0x10, 0x00, 70, 0x9F, 0x05, 71])

  @Test func piecesArePutTogether() async throws {
    let pieces = [Array(Self.answer[..<6]), Array(Self.answer[6..<9]), Array(Self.answer[9...])]
    let (reply, error, _, progress) = try await bulk([pieces])
    #expect(error == nil && reply?.daysAgo == 1)
    #expect(
      reply?.readings.map(\.minuteOfDay) == [16, 1439] && reply?.readings.map(\.value) == [70, 71])
    #expect(progress == ["0 of 7", "3 of 7"])
    #expect(device.takeAsked() == [Hex.string(bulkFrame(0x28, [1]))])
  }

  /// A day that was asked for is the whole answer; of all days nobody knows how many frames they take: a second is waited for.
  @Test(arguments: [(UInt8(1), 0), (2, 1)]) func allDaysResponseEndsAfterSilence(_ day: UInt8, _ seconds: Int)
    async throws
  {
    let ring = try await device.open()
    device.answerBulk = { _, _ in [Self.answer, bulkFrame(0x28, [0, 0x10, 0x00, 72])] }
    var replies: [ManualHeartRates] = []
    let (_, time) = await failure { () throws(RingError) in
      replies = try await ring.bulk(CommandTable.manualHeartRates, .daysAgo(day))
    }
    #expect(replies.map(\.daysAgo) == (seconds == 0 ? [1] : [1, 0]))
    #expect(time >= .seconds(seconds) && time < .milliseconds(1000 * seconds + 10))
  }

  /// A ring that sends without end is not listened to without end.
  @Test func theFramesOfAnAnswerAreBounded() async throws {
    let ring = try await device.open()
    device.answerBulk = { _, _ in (0..<200).map { bulkFrame(0x28, [0, $0, 0x00, 72]) } }
    #expect(try await ring.bulk(CommandTable.manualHeartRates, .all).count == 128)
  }

  private static var damaged: [UInt8] { answer.dropLast() + [72] }

  @Test func aDamagedAnswerIsAskedForAgain() async throws {
    let (reply, error, _, _) = try await bulk([[Self.damaged], [Self.answer]])
    #expect(error == nil && reply?.readings.count == 2 && device.takeAsked().count == 2)
  }

  @Test func anAnswerThatIsDamagedTwiceIsGivenUp() async throws {
    let (_, error, _, _) = try await bulk([[Self.damaged], [Self.damaged], [Self.answer]])
    #expect(error == .damaged(.bulk(0x28)) && device.takeAsked().count == 2)
  }

  /// Five seconds after the last piece the rest is not waited for any more.
  @Test func anAnswerThatIsCutOffIsDamaged() async throws {
    let (_, error, time, _) = try await bulk([[Array(Self.answer[..<8])], [Array(Self.answer[..<8])]])
    #expect(error == .damaged(.bulk(0x28)))
    #expect(time >= .seconds(10) && time < .milliseconds(10_100))
  }

  @Test func noBulkAnswerIsAskedForOnce() async throws {
    // An answer to something else is none.
    let (_, error, time, _) = try await bulk([[bulkFrame(0x2A, [0])]])
    #expect(error == .notAnswered(.bulk(0x28), seconds: 5))
    #expect(time >= .seconds(5) && time < .milliseconds(5100) && device.takeAsked().count == 1)
  }

  @Test func reportsUndecodableBulkContents() async throws {
    let ring = try await device.open()
    device.answerBulk = { _, _ in [bulkFrame(0x2A, [4])] }
    let (error, _) = await failure { () throws(RingError) in
      _ = try await ring.bulk(CommandTable.oxygenLog, .all)
    }
    #expect(error == .malformedBulk(0x2A, .status(4)))
  }

  /// A ring has one service, which is found once.
  @Test func theServiceIsFoundOnce() async throws {
    let ring = try await device.open()
    device.answerBulk = { _, _ in [Self.answer] }
    _ = try await ring.bulk(CommandTable.manualHeartRates, .all)
    _ = device.link.takeSent()
    _ = try await ring.bulk(CommandTable.manualHeartRates, .all)
    #expect(device.link.takeSent().count == 1)
  }
}
