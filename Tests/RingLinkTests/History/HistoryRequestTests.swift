import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// What is asked for a history, and what becomes of the answers (ring reference, 4.10 to 4.14 and 6).
@BluetoothActor
@Suite(.onTheLoop) struct HistoryRequestTests: HistoryDay {
  private let device = ScriptedRing()
  let now: RingTime

  init() throws { now = try #require(RingTime("2026-11-21T13:45:00")) }

  /// No data of any day.
  private func hasNothing() {
    device.answer = { frame in frame.answerWithoutData.map { [$0] } ?? [] }
    device.answerBulk = { id, _ in [bulkFrame(id == 0x41 ? 0x42 : id, [0])] }
  }

  /// From the oldest day on, the first that rings keep at most: 30 days of steps, 7 of stress.
  @Test func eachDayIsAskedFor() async throws {
    let ring = try await device.open()
    hasNothing()
    #expect(try await ring.history(.stress, days: days(-20), now: now) == .stress([]))
    #expect(device.takeAsked() == ["3706", "3705", "3704", "3703", "3702", "3701", "37"])
    #expect(try await ring.history(.variability, days: days(-1, 3), now: now) == .variability([]))
    #expect(device.takeAsked() == ["3901", "39"])
    _ = try await ring.history(.steps, days: days(-40, -28), now: now)
    #expect(device.takeAsked() == ["431d0f005f01", "431c0f005f01"])
    for days in [days(1, 2), days(-60, -30)] {
      #expect(try await ring.history(.steps, days: days, now: now).count == 0)
      #expect(try await ring.history(.oxygen, days: days, now: now).count == 0)
    }
    #expect(device.takeAsked() == [])
    #expect(HistoryKind.allCases.map(\.daysKept) == [30, 30, 30, 7, 30, 7, 7, 7, 366, 7])
  }

  /// Values of the future are those of an earlier day. The time of a request is the midnight of the day.
  @Test func heartRatesOfBothKindsAreMerged() async throws {
    let ring = try await device.open()
    var values = [UInt8](repeating: 0, count: 288)
    // 13:45 is now; 0 and 255 are none.
    for (slot, value) in [(0, 60), (1, 255), (165, 61), (166, 62), (287, 63)] { values[slot] = UInt8(value) }
    device.answer = { frame in
      guard let request = try? DayByTime(parsing: frame) else { return [] }
      let log = SlotLog(minutesPerSlot: 5, values: request.day.number == 20_778 ? values : [])
      return HeartRateLogAssembler.frames(of: log, command: 0x15, to: request)
    }
    device.answerBulk = { _, _ in
      [bulkFrame(0x28, [0, 0, 0, 66, 0x39, 0x03, 67, 0x39, 0x03, 68, 1, 0, 0, 2, 0, 255])]
    }
    #expect(today.number == 20_778)
    let records = try await ring.history(.heartRate, days: days(-1), now: now)
    func reading(_ clock: String, _ rate: Int, _ isManual: Bool) -> HeartRateReading {
      HeartRateReading(time: at(0, clock), beatsPerMinute: rate, isManual: isManual)
    }
    // At one moment there may be one of each kind; of several on request, the last.
    #expect(
      records
        == .heartRate([
          reading("00:00", 60, false), reading("00:00", 66, true), reading("13:45", 61, false),
          reading("13:45", 68, true),
        ]))
    #expect(
      device.takeAsked() == [
        RingFrame(0x15, DayByTime(today.adding(days: -1), now: now)).digits,
        RingFrame(0x15, DayByTime(today, now: now)).digits, Hex.string(bulkFrame(0x28, [0xFF])),
      ])
    // Only today's are asked for, if only today is wanted; old rings have none.
    _ = try await ring.history(.heartRate, days: days(0), now: now)
    #expect(device.takeAsked().last == Hex.string(bulkFrame(0x28, [0])))
  }

  @Test func oldRingsHaveNoMeasurementsOnRequest() async throws {
    let device = ScriptedRing(hasBulk: false)
    device.answer = { $0.answerWithoutData.map { [$0] } ?? [] }
    let ring = try await device.open()
    #expect(try await ring.history(.heartRate, days: days(0), now: now) == .heartRate([]))
    let (error, _) = await failure { () throws(RingError) in
      _ = try await ring.history(.oxygen, days: days(0), now: now)
    }
    #expect(error == .noBulkService)
  }

  /// In tens of calories or in single ones; days that were not asked for are left out.
  @Test(arguments: [true, false]) func activityIsReadByQuarters(_ isInTens: Bool) async throws {
    let ring = try await device.open()
    let day = today
    device.answer = { frame in
      var records: [ActivityRecord] = []
      for (slot, days) in [(95, 0), (0, 0), (4, -1)] {
        var record = ActivityRecord()
        let civil = day.adding(days: days).civil
        (record.yearOfCentury, record.month, record.day) = (26, UInt8(civil.month), UInt8(civil.day))
        (record.slot, record.energy, record.steps, record.meters) = (UInt8(slot), 12, 300, 200)
        records.append(record)
      }
      return ActivityLogAssembler.frames(
        of: ActivityLog(isInTens: isInTens, records: records), command: 0x43, to: ActivityRequest())
    }
    let records = try await ring.history(.steps, days: days(0), now: now)
    let calories = isInTens ? 120 : 12
    #expect(
      records
        == .steps(
          ["00:00", "23:45"].map {
            ActivityReading(time: at(0, $0), steps: 300, meters: 200, calories: calories)
          }))
  }

  @Test func aDayThatDoesNotExistIsLeftOut() async throws {
    let ring = try await device.open()
    var odd: [InvalidRecord] = []
    ring.onInvalidRecord = { odd.append($0) }
    device.answer = { _ in [RingFrame(0x43, 0xF0, 1, 1), (try? frame("4326023104 0001")) ?? RingFrame(0x43)] }
    #expect(try await ring.activity(on: today, now: now) == [])
    let bytes = try #require(try? frame("4326023104 0001")).bytes
    #expect(odd == [InvalidRecord(kind: .steps, reason: "there is no day 31 of month 2", bytes: bytes)])
    #expect(try await ring.activity(on: today.adding(days: 1), now: now) == [])
  }

  /// The smaller number is the minimum; numbers that are no percentage are none.
  @Test func oxygenIsReadByHours() async throws {
    let ring = try await device.open()
    var hours = [UInt8](repeating: 0, count: 48)
    hours.replaceSubrange(0..<8, with: [95, 99, 98, 94, 101, 97, 0, 100])
    device.answerBulk = { [hours] _, _ in [bulkFrame(0x2A, [1] + hours + [2] + hours)] }
    let records = try await ring.history(.oxygen, days: days(-1), now: now)
    let expected = [("00:00", 95, 99), ("01:00", 94, 98), ("02:00", 97, 97), ("03:00", 100, 100)]
    #expect(
      records == .oxygen(expected.map { OxygenReading(time: at(-1, $0.0), minimum: $0.1, maximum: $0.2) }))
    #expect(device.takeAsked() == [Hex.string(bulkFrame(0x2A, [0xFF]))])
  }

  // MARK: Progress

  @Test func progressIsOfDaysOrOfBytes() async throws {
    let ring = try await device.open()
    let log = SlotLog(minutesPerSlot: 30, values: (1...20).map { UInt8($0) })
    device.answer = { frame in
      (try? DaysAgo(parsing: frame)).map { DaySlotLogAssembler.frames(of: log, command: 0x37, to: $0) } ?? []
    }
    var seen: [HistoryProgress] = []
    _ = try await ring.history(.stress, days: days(-1), now: now) { seen.append($0) }
    func progress(_ days: Int, _ completed: Int, _ received: Int, _ expected: Int?) -> HistoryProgress {
      HistoryProgress(
        kind: .stress, day: today.adding(days: days), completed: completed, total: 2, received: received,
        expected: expected)
    }
    #expect(
      seen == [
        progress(-1, 0, 0, nil), progress(-1, 0, 1, 3), progress(-1, 0, 2, 3), progress(0, 1, 0, nil),
        progress(0, 1, 1, 3), progress(0, 1, 2, 3),
      ])
    seen = []
    let answer = bulkFrame(0x2A, [0] + [UInt8](repeating: 96, count: 48))
    device.answerBulk = { _, _ in [Array(answer[..<20]), Array(answer[20...])] }
    _ = try await ring.history(.oxygen, days: days(0), now: now) { seen.append($0) }
    #expect(
      seen == [HistoryProgress(kind: .oxygen, day: nil, completed: 0, total: 1, received: 14, expected: 49)])
  }
}
