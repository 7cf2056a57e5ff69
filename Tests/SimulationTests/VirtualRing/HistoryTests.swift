import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import RingLink
@testable import HaloSimulation

/// The whole way from a ring's store to the one who asks.
@BluetoothActor
@Suite(.onTheLoop) struct HistoryTests {
  private let now: RingTime
  private let week: ClosedRange<RingDay>

  init() throws {
    now = try #require(RingTime("2026-11-21T13:45:00"))
    week = now.day.adding(days: -6)...now.day
  }

  private func options(
    _ firmware: String = "RT02R_3.11.00", _ change: (inout VirtualRingOptions) -> Void = { _ in }
  ) -> VirtualRingOptions {
    var options = VirtualRingOptions()
    options.clock = now
    options.firmware = firmware
    change(&options)
    return options
  }

  /// What the ring holds.
  private func model(_ options: VirtualRingOptions) -> SimulatedHistory {
    SimulatedHistory(seed: options.seed, now: now, heartRateInterval: 5)
  }

  private func withRing<Value>(
    _ options: VirtualRingOptions, _ body: (RingClient) async throws -> Value
  ) async throws -> Value {
    let central = Central(HCIAdapter(VirtualTransport(options, timers: testTimers)))
    try await central.start()
    let ring = try await RingClient.open(try await central.connect(ConnectionRequest(peer: options.address)))
    do {
      let value = try await body(ring)
      await central.stop()
      return value
    } catch {
      await central.stop()
      throw error
    }
  }

  private func read(_ kind: HistoryKind, _ options: VirtualRingOptions) async throws -> HistoryRecords {
    try await withRing(options) { try await $0.history(kind, days: week, now: now) }
  }

  // MARK: Every kind

  @Test(arguments: [23, 60, 247, 517] as [UInt16])
  func everythingThatTheRingHolds(mtu: UInt16) async throws {
    let options = options { $0.mtu = mtu }
    let model = model(options)
    let days = week.lowerBound.number...week.upperBound.number
    let kept = days.map(RingDay.init(number:))
    try await withRing(options) { ring in
      guard case .steps(let steps) = try await ring.history(.steps, days: week, now: now) else { return }
      let records = kept.flatMap { model.activity(on: $0) }
      #expect(steps.map(\.steps) == records.map { Int($0.steps) })
      #expect(steps.map(\.calories) == records.map { Int($0.energy) * 10 })
      #expect(steps.last.map { $0.time <= now } == true)

      guard case .heartRate(let beats) = try await ring.history(.heartRate, days: week, now: now)
      else { return }
      let slots = kept.flatMap { model.heartRates(on: $0).readings(of: $0, until: now) }
      #expect(beats.filter { !$0.isManual }.map(\.beatsPerMinute) == slots.map { Int($0.value) })
      #expect(beats.filter(\.isManual).map(\.time.description) == ["2026-11-21T09:12:00"])
      #expect(beats.map(\.time) == beats.map(\.time).sorted())

      guard case .oxygen(let oxygen) = try await ring.history(.oxygen, days: week, now: now) else { return }
      let hours = kept.flatMap { model.oxygen(on: $0) }
      #expect(oxygen.count == hours.count { $0.minimum > 0 })

      guard case .sleep(let sleep) = try await ring.history(.sleep, days: week, now: now) else { return }
      #expect(sleep.filter { !$0.isNap }.count == 7 && sleep.contains(where: \.isNap))
      #expect(sleep.allSatisfy { $0.isConsistent && $0.end <= now && week.contains($0.day) })

      guard case .stress(let stress) = try await ring.history(.stress, days: week, now: now),
        case .variability(let variability) = try await ring.history(.variability, days: week, now: now)
      else { return }
      let stressSlots = kept.flatMap { model.stress(on: $0).readings(of: $0, until: now) }
      #expect(stress.map(\.value) == stressSlots.map { Int($0.value) })
      let variabilitySlots = kept.flatMap { model.variability(on: $0).readings(of: $0, until: now) }
      #expect(variability.map(\.time) == variabilitySlots.map(\.time))

      guard case .temperature(let warmth) = try await ring.history(.temperature, days: week, now: now)
      else { return }
      let temperatures = kept.flatMap { model.temperatures(on: $0) }.filter { $0 > 0 }
      #expect(warmth.map(\.centidegrees) == temperatures)
      let today = try await ring.today()
      #expect(today == model.totals(on: now.day))
    }
  }

  @Test func packetsOfTemperaturesAreTheSameTemperatures() async throws {
    let blocks = try await read(.temperature, options())
    #expect(try await read(.temperature, options("RT11CR_1.00.08")) == blocks)
    #expect(blocks.count == 6 * 48 + 28)
  }

  /// Each packet of a day, and what is measured on request.
  @Test func oxygenByTheMinuteIsThatOfTheModel() async throws {
    let options = options { $0.support = ["minute-spo2", "temperatures-74"] }
    let model = model(options)
    guard case .oxygenValues(let values) = try await read(.oxygenValues, options) else { return }
    let kept = model.keptDays.map(\.day)
    let automatic = values.filter { !$0.isManual }.map(\.percent)
    #expect(automatic.count == kept.count * 84)
    let expected = kept.flatMap { model.oxygenMinutes(on: $0) }.filter { $0 > 0 }
    #expect(automatic == expected.map { Int($0) })
    // The answer to "all days" is that of today, on which there was none yet.
    #expect(values.filter(\.isManual).isEmpty)
    #expect(try await read(.temperature, options) == read(.temperature, self.options()))
    await #expect(throws: RingError.notOffered(.oxygenValues)) {
      try await read(.oxygenValues, self.options())
    }
  }

  /// A session that is run is stored, with its course, and a ring keeps ten.
  @Test func aSessionThatWasRunIsStored() async throws {
    try await withRing(options()) { ring in
      let before = try await ring.storedSports()
      #expect(before.count == 3 && before.allSatisfy { $0.sport == .walk && $0.heartRates.count > 100 })
      let task = spawn { try await ring.exercise(.yoga) { _, _ in } }
      await testTimers.sleep(for: .milliseconds(95_500))
      task.cancel()
      await #expect(throws: RingError.cancelled) { try await task.value }
      let session = try #require(try await ring.storedSports().last)
      #expect((session.sport, session.seconds, session.sampleSeconds) == (.yoga, 95, 10))
      #expect(session.heartRates.count == 10 && session.steps == 190 && session.calories == 8550)
      #expect(session.time >= now && session.time < now.adding(minutes: 1))
      for _ in 0..<12 {
        let task = spawn { try await ring.exercise(.run) { _, _ in } }
        await testTimers.sleep(for: .milliseconds(2500))
        task.cancel()
        _ = try? await task.value
      }
      let all = try await ring.storedSports()
      #expect(all.count == 10 && all.allSatisfy { $0.sport == .run })
    }
  }

  @Test func daysThatAreNotKeptAreEmpty() async throws {
    try await withRing(options { $0.support = ["minute-spo2"] }) { ring in
      for kind in HistoryKind.allCases {
        let future = now.day.adding(days: 1)...now.day.adding(days: 400)
        #expect(try await ring.history(kind, days: future, now: now).count == 0)
        let past = RingDay(number: 0)...now.day.adding(days: -7)
        #expect(try await ring.history(kind, days: past, now: now).count == 0, "\(kind)")
        let yesterday = now.day.adding(days: -1)...now.day.adding(days: -1)
        let ever = RingDay(number: 0)...future.upperBound
        let all = try await ring.history(kind, days: week, now: now)
        #expect(try await ring.history(kind, days: ever, now: now) == all, "\(kind)")
        if kind == .sport { continue }
        #expect(try await ring.history(kind, days: yesterday, now: now).count > 0, "\(kind)")
      }
    }
  }

  @Test func reportsProgress() async throws {
    var seen: [HistoryProgress] = []
    try await withRing(options()) { ring in
      _ = try await ring.history(.stress, days: week, now: now) { seen.append($0) }
      #expect(Set(seen.compactMap(\.day)).count == 7 && seen.allSatisfy { $0.total == 7 })
      #expect(
        seen.last
          == HistoryProgress(kind: .stress, day: now.day, completed: 6, total: 7, received: 4, expected: 5))
      seen = []
      _ = try await ring.history(.oxygen, days: week, now: now) { seen.append($0) }
      // 7 days of 49 bytes come in two notifications.
      #expect(seen.map(\.expected) == [343] && seen.allSatisfy { $0.day == nil && $0.received < 343 })
    }
  }

  /// A ring that measures every half hour sends fewer frames.
  @Test func theScheduleDecidesHowOftenTheHeartIsMeasured() async throws {
    try await withRing(options()) { ring in
      try await ring.write(["enabled": 1, "interval": 30], to: CommandTable.heartRateSchedule)
      let day = now.day.adding(days: -1)
      let readings = try await ring.heartRates(on: day, now: now)
      #expect(readings.allSatisfy { $0.time.minute % 30 == 0 } && (30...48).contains(readings.count))
    }
  }

  @Test func bulkRequestsThatAreOnlyAcknowledged() async throws {
    try await withRing(options()) { ring in
      let codes = [
        try await ring.bulk(CommandTable.beginSync, NoBulkFields()).map(\.code),
        try await ring.bulk(CommandTable.nickname, UserName("Felix")).map(\.code),
      ]
      #expect(codes == [[0], [0]])
    }
  }

  @Test func reportsDaysWithData() async throws {
    let days = try await withRing(options()) { try await $0.request(CommandTable.storedDays) }
    #expect(days == 0b111_1111)
  }

  @Test func theRingsClockRuns() async throws {
    try await withRing(options()) { ring in
      let before = try await ring.today()
      _ = try await ring.request(
        CommandTable.setTime, try #require(RingTime("2026-11-21T23:59:50").flatMap(ClockSetting.init)))
      #expect(try await ring.today().steps > before.steps)
      await testTimers.sleep(for: .seconds(11))
      #expect(try await ring.today().steps == 0)
    }
  }

  // MARK: Rings of all families

  @Test(arguments: ["R02_3.00.06", "RY02_3.00.38", "RT11CR_1.00.08"])
  func readsSleepFromEveryFamily(firmware: String) async throws {
    let expected = try await read(.sleep, options())
    #expect(try await read(.sleep, options(firmware)) == expected)
  }

  @Test func reportsUnsupportedHistoryRequests() async throws {
    try await withRing(options("R02_3.00.06")) { ring in
      await #expect(throws: RingError.refused(.frame(0x39), .notSupported)) {
        try await ring.history(.variability, days: week, now: now)
      }
      // A bulk request that it does not know is not answered.
      await #expect(throws: RingError.notAnswered(.bulk(0x25), seconds: 5)) {
        try await ring.history(.temperature, days: week, now: now)
      }
      let battery = try await ring.battery()
      #expect(battery.percent == 87)
    }
  }

  @Test func readsHeartRateWithoutBulkService() async throws {
    try await withRing(options { $0.hasBulkService = false }) { ring in
      for kind in [HistoryKind.sleep, .oxygen, .temperature] {
        await #expect(throws: RingError.noBulkService) {
          try await ring.history(kind, days: week, now: now)
        }
      }
      guard case .heartRate(let beats) = try await ring.history(.heartRate, days: week, now: now)
      else { return }
      #expect(beats.count > 1000 && !beats.contains(where: \.isManual))
    }
  }

  // MARK: Bad links

  @Test(arguments: [HistoryKind.steps, .heartRate, .stress, .variability])
  func framesMayBeLostDoubledAndLate(kind: HistoryKind) async throws {
    let whole = try await read(kind, options())
    #expect(try await read(kind, options { $0.faults.losesLogFrameEvery = 7 }) == whole)
    #expect(try await read(kind, options { $0.faults.doublesLogFrameEvery = 2 }) == whole)
    #expect(try await read(kind, options { $0.faults.delaysLogFrameEvery = 2 }) == whole)
    let all = options {
      $0.faults.losesLogFrameEvery = 31
      $0.faults.doublesLogFrameEvery = 3
      $0.faults.delaysLogFrameEvery = 5
    }
    #expect(try await read(kind, all) == whole)
  }

  @Test func failsWhenRingFallsSilent() async throws {
    try await withRing(options { $0.faults.logFramesUntilSilence = 9 }) { ring in
      await #expect(throws: RingError.incomplete(.frame(0x15), missing: 15)) {
        try await ring.history(.heartRate, days: week, now: now)
      }
      await #expect(throws: RingError.notAnswered(.frame(0x43), seconds: 2)) {
        try await ring.history(.steps, days: week, now: now)
      }
      let oxygen = try await ring.history(.oxygen, days: week, now: now)
      #expect(oxygen.count > 0)
    }
  }

  @Test func damagedBulkFramesComeAgain() async throws {
    let whole = try await read(.sleep, options())
    #expect(try await read(.sleep, options { $0.faults.badBulkCRCs = 1 }) == whole)
    await #expect(throws: RingError.damaged(.bulk(0x2A))) {
      try await read(.oxygen, options { $0.faults.badBulkCRCs = 2 })
    }
  }

  // MARK: Hostile rings

  /// Asks a ring that stays silent, and gives it what `answers` has for an answer.
  private func injected<Assembler: LogAssembler>(
    _ log: RingLog<Assembler>, _ request: Assembler.Request, _ answers: [RingFrame]
  ) async throws -> Result<Assembler.Contents, any Error> {
    try await withRing(options { $0.faults.logFramesUntilSilence = 0 }) { ring in
      let asked = spawn { try await ring.log(log, request) }
      await testTimers.sleep(for: .milliseconds(300))
      for answer in answers {
        ring.dispatcher.receive(answer.bytes.span.bytes, at: testTimers.now)
        await testTimers.sleep(for: .milliseconds(100))
      }
      let result = await asked.result
      // Whatever came, the next question is answered.
      let battery = try await ring.battery()
      #expect(battery.percent == 87)
      return result
    }
  }

  @Test func separatesInvalidRecordsFromLog() async throws {
    let lie = try RingFrame(0x43, payload: hex("251211000808"))
    let good = ActivityLogAssembler.frames(
      of: ActivityLog(records: [ActivityRecord()]), command: 0x43, to: .init())
    let result = try await injected(CommandTable.activity, .init(), [lie] + good)
    let log = try result.get()
    #expect(log.records.count == 1)
    #expect(log.odd.map(\.reason) == ["record 8 can't be one of 8, which are counted from 0"])
  }

  /// The same frame for ever: the time to wait runs on, and the exchange ends.
  @Test func aRingThatRepeatsItselfIsGivenUp() async throws {
    let header = RingFrame(0x37, 0, 5, 30)
    let result = try await injected(
      CommandTable.stressLog, DaysAgo(0), Array(repeating: header, count: 60))
    #expect(throws: RingError.incomplete(.frame(0x37), missing: 4)) { try result.get() }
  }

  @Test func foreignFramesAreNotTaken() async throws {
    let log = SlotLog(minutesPerSlot: 30, values: Array(repeating: 33, count: 48))
    let answer = DaySlotLogAssembler.frames(of: log, command: 0x37, to: DaysAgo(0))
    let foreign =
      DaySlotLogAssembler.frames(of: log, command: 0x39, to: DaysAgo(0)) + [RingFrame(0x73, 0x0C, 50)]
    let mixed = zip(answer, foreign).flatMap { [$1, $0] }
    #expect(try await injected(CommandTable.stressLog, DaysAgo(0), mixed).get() == log)
  }

  /// Naps come before the answer from the virtual ring; others send them afterwards, late, twice, or never.
  @Test func napsMayComeAtAnyTime() async throws {
    let night = SleepLog([
      SleepDay(daysAgo: 0, start: 10, end: 20, stages: [SleepStage(.light, minutes: 10)])
    ])
    let nap = SleepLog([
      SleepDay(daysAgo: 1, start: 780, end: 800, stages: [SleepStage(.deep, minutes: 20)])
    ])
    func bytes(_ id: BulkID, _ log: SleepLog) throws -> [UInt8] {
      var writer = ByteWriter(capacity: 64)
      try BulkFrame.write(id, payload: log.payload, into: &writer)
      return writer.bytes
    }
    let answer = try bytes(0x27, night)
    let naps = try bytes(0x3E, nap)
    for (values, count) in [
      ([answer, naps], 2), ([naps, answer], 2), ([naps, naps, answer, answer], 2), ([answer], 1),
    ] {
      // This family is not known to answer: the frames are ours.
      try await withRing(options("R02_3.00.06")) { ring in
        let asked = spawn { try await ring.sleep(now: now) }
        await testTimers.sleep(for: .milliseconds(900))
        for value in values {
          ring.dispatcher.receiveBulk(value.span.bytes, at: testTimers.now)
          await testTimers.sleep(for: .milliseconds(300))
        }
        let sessions = try await asked.value
        #expect(sessions.count == count && sessions.last.map { !$0.isNap } == true)
        let oxygen = try await ring.history(.oxygen, days: week, now: now)
        #expect(oxygen.count > 0)
      }
    }
  }
}
