import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Nights, naps and temperatures: which of a ring's forms is asked for, and what counts (ring reference, 6.1 and 6.4).
@BluetoothActor
@Suite(.onTheLoop) struct NightRequestTests: HistoryDay {
  private let device = ScriptedRing()
  let now: RingTime

  init() throws { now = try #require(RingTime("2026-11-21T13:45:00")) }

  // MARK: Sleep

  private static let night: [UInt8] = [1, 0, 6, 0x9F, 0x05, 0x2C, 0x01, 2, 60]

  /// Newer rings, older ones, and those that are older still; five seconds each, and one for the frames that may follow.
  @Test(arguments: [0, 1, 2]) func sleepIsAskedForInThreeWays(_ ignored: Int) async throws {
    let ring = try await device.open()
    var left = ignored
    device.answerBulk = { _, _ in
      left -= 1
      return left < 0 ? [bulkFrame(0x27, Self.night), bulkFrame(0x3E, [0])] : []
    }
    var result: HistoryRecords?
    let (error, time) = await failure { () throws(RingError) in
      result = try await ring.history(.sleep, days: days(-1), now: now)
    }
    #expect(error == nil && result?.count == 1)
    #expect(
      device.takeAsked()
        == [[0xFF, 1], [0xFF], []].prefix(ignored + 1).map { Hex.string(bulkFrame(0x27, $0)) })
    #expect(time >= .seconds(5 * ignored + 1) && time < .milliseconds(5000 * ignored + 1100))
  }

  /// A ring that answers with a status wants another request; the last one's counts.
  @Test func rejectsStatusInsteadOfSleepData() async throws {
    let ring = try await device.open()
    device.answerBulk = { _, _ in [bulkFrame(0x27, [2]), bulkFrame(0x3E, [0])] }
    let (error, _) = await failure { () throws(RingError) in _ = try await ring.sleep(now: now) }
    #expect(error == .malformedBulk(0x27, .status(2)) && device.takeAsked().count == 3)
  }

  /// Naps come before or after the nights, or not at all: frames are waited for until there has been none for a second. Each
  /// session counts once, for the day on which one awoke; one that has not ended yet does not.
  @Test(arguments: [0, 1, 2]) func napsComeWithTheNights(_ order: Int) async throws {
    let ring = try await device.open()
    // 23:00 to 05:00, twice; 13:00 to 14:00 of today is not over.
    let nights: [UInt8] = [
      3, 0, 6, 0x64, 0x05, 0x2C, 0x01, 3, 60, 0, 6, 0x64, 0x05, 0x2C, 0x01, 3, 60, 0, 6, 0x0C, 0x03, 0x48,
      0x03, 2, 60,
    ]
    // 12:00 to 12:30 of yesterday.
    let naps: [UInt8] = [1, 1, 6, 0xD0, 0x02, 0xEE, 0x02, 4, 30]
    let answers = [bulkFrame(0x27, nights), bulkFrame(0x3E, naps)]
    device.answerBulk = { _, _ in order == 0 ? answers : order == 1 ? answers.reversed() : [answers[0]] }
    var sessions: [SleepSession] = []
    let (_, time) = await failure { () throws(RingError) in sessions = try await ring.sleep(now: now) }
    let night = SleepSession(
      start: at(-1, "23:00"), end: at(0, "05:00"), isNap: false, stages: [SleepStage(.deep, minutes: 60)])
    let nap = SleepSession(
      start: at(-1, "12:00"), end: at(-1, "12:30"), isNap: true, stages: [SleepStage(.rem, minutes: 30)])
    #expect(sessions == (order == 2 ? [night] : [nap, night]))
    #expect(
      !night.isConsistent && nap.isConsistent && night.day == today && nap.day == today.adding(days: -1))
    #expect(time >= .seconds(1) && time < .milliseconds(1100))
  }

  /// Three nights in three frames, and naps among them.
  @Test func nightsMayComeInSeveralFrames() async throws {
    let ring = try await device.open()
    func night(_ daysAgo: UInt8) -> [UInt8] { [1, daysAgo, 6, 0x64, 0x05, 0x2C, 0x01, 3, 60] }
    let nap: [UInt8] = [1, 1, 6, 0xD0, 0x02, 0xEE, 0x02, 4, 30]
    device.answerBulk = { _, _ in
      [
        bulkFrame(0x27, night(2)), bulkFrame(0x3E, nap), bulkFrame(0x27, night(1)), bulkFrame(0x27, night(0)),
        // The same once more is not another one.
        bulkFrame(0x27, night(1)),
      ]
    }
    let sessions = try await ring.sleep(now: now)
    #expect(sessions.filter { !$0.isNap }.map(\.end) == [at(-2, "05:00"), at(-1, "05:00"), at(0, "05:00")])
    #expect(sessions.filter(\.isNap).count == 1)
  }

  // MARK: Temperatures

  @Test func olderRingsSendTemperaturesOfDays() async throws {
    let ring = try await device.open()
    device.answer = { RingFrame.refusal(of: $0.command).map { [$0] } ?? [] }
    var values = [UInt8](repeating: 0, count: 48)
    (values[0], values[27], values[28]) = (1, 165, 166)
    device.answerBulk = { [values] _, _ in [bulkFrame(0x25, [1, 30] + values + [0, 30] + values)] }
    let records = try await ring.history(.temperature, days: days(-1), now: now)
    let expected = [
      (-1, "00:00", 2010), (-1, "13:30", 3650), (-1, "14:00", 3660), (0, "00:00", 2010), (0, "13:30", 3650),
    ]
    #expect(
      records == .temperature(expected.map { TemperatureReading(time: at($0.0, $0.1), centidegrees: $0.2) }))
    #expect(device.takeAsked() == ["3c", Hex.string(bulkFrame(0x25, [2]))])
    _ = try await ring.history(.temperature, days: days(-20), now: now)
    #expect(device.takeAsked().last == Hex.string(bulkFrame(0x25, [7])))
    #expect(TemperatureReading(time: now, centidegrees: 3655).degreesCelsius == 36.55)
  }

  /// An R09 (RT09_3.10.21_251107) answers with a frame a day, the oldest first, and has none of today (stansz/smart-ring,
  /// docs/RING_BEHAVIOR.md). The last ones come as late as a link that the ring has made slow allows.
  @Test func eachDayMayHaveAFrame() async throws {
    let ring = try await device.open()
    device.answer = { RingFrame.refusal(of: $0.command).map { [$0] } ?? [] }
    device.answerBulk = { [device] _, _ in
      for (index, day) in ([5, 4, 3, 2, 1] as [UInt8]).enumerated() {
        let values = (0..<48).map { $0 <= 14 ? 150 + day : 0 } as [UInt8]
        device.sendBulk(bulkFrame(0x25, [day, 30] + values), after: .milliseconds(1 + 625 * index))
      }
      return []
    }
    var readings: [TemperatureReading] = []
    let (error, time) = await failure { () throws(RingError) in
      readings = try await ring.temperatures(days: 7, now: now)
    }
    #expect(error == nil && readings.count == 75)
    #expect((1...5).allSatisfy { day in readings.contains { $0.time == at(-day, "07:00") } })
    #expect(readings.first?.centidegrees == 3550 && readings.last?.centidegrees == 3510)
    // A second after the last one.
    #expect(time >= .milliseconds(3500) && time < .milliseconds(3510))
  }

  /// An R10 answers in one frame (thebabush/junk, fixtures/colmi-r10): when all days are there, nothing is waited for.
  @Test func allDaysInAFrameAreTheEnd() async throws {
    let ring = try await device.open()
    let day = [30] + [UInt8](repeating: 0xA6, count: 48)
    device.answerBulk = { _, _ in [bulkFrame(0x25, [1] + day + [0] + day)] }
    let (error, time) = await failure { () throws(RingError) in
      _ = try await ring.temperatures(days: 2, now: now)
    }
    #expect(error == nil && time < .milliseconds(100))
  }

  /// Packets of a day until the last one, an empty one, or the end of the day.
  @Test func newerRingsSendTemperaturesInPackets() async throws {
    let ring = try await device.open()
    device.answer = { $0.command == 0x3C ? [RingFrame(0x3C, DeviceSupport.interval)] : [] }
    var packets = 2
    device.answerBulk = { _, request in
      let (day, packet) = (request[0], request[1])
      return [bulkFrame(0x77, [day, 60, UInt8(packets), packet, 0x10 + packet, 0x0E, 0, 0])]
    }
    let records = try await ring.history(.temperature, days: days(0), now: now)
    let expected = [("00:00", 0x0E10), ("02:00", 0x0E11)]
    #expect(
      records == .temperature(expected.map { TemperatureReading(time: at(0, $0.0), centidegrees: $0.1) }))
    #expect(
      device.takeAsked() == [
        "3c", Hex.string(bulkFrame(0x77, [0, 0])), Hex.string(bulkFrame(0x77, [0, 1])),
      ])
    // Twelve packets of two values are a day, whatever is said of their number. What is to come is not there yet.
    packets = 200
    #expect(try await ring.intervalTemperatures(on: today, now: now).count == 7)
    #expect(device.takeAsked().count == 12)
    #expect(try await ring.intervalTemperatures(on: today.adding(days: -2), now: now).count == 12)
    #expect(device.takeAsked().first == Hex.string(bulkFrame(0x77, [2, 0])))
    device.answerBulk = { _, _ in [bulkFrame(0x77, [0])] }
    #expect(try await ring.intervalTemperatures(on: today, now: now) == [])
    #expect(device.takeAsked().count == 1)
    #expect(try await ring.intervalTemperatures(on: today.adding(days: 1), now: now) == [])
  }
}

extension DeviceSupport {
  /// What a ring with temperatures in packets supports.
  fileprivate static var interval: Self {
    var support = DeviceSupport()
    support.hasIntervalTemperature = true
    return support
  }
}
