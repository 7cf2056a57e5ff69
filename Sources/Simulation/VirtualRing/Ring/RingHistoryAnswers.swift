import RingLink

/// The stored data, from ``SimulatedHistory``.
extension RingAnswer {
  static var history: [RingAnswer] {
    [
      query(CommandTable.today) { ring, _ in ring.history.totals(on: ring.history.now.day) },
      log(CommandTable.activity) { ring, request in
        // The newest first, as an R11 does it.
        let records = ring.history.day(request.daysAgo).map(ring.history.activity(on:)) ?? []
        return ActivityLog(
          records: records.reversed().filter {
            request.firstSlot <= $0.slot && $0.slot <= request.lastSlot
          })
      },
      log(CommandTable.heartRateLog) { ring, request in ring.history.heartRates(on: request.day) },
      log(CommandTable.stressLog) { ring, request in
        ring.history.day(request.daysAgo).map(ring.history.stress(on:)) ?? .empty
      },
      log(CommandTable.variabilityLog) { ring, request in
        ring.history.day(request.daysAgo).map(ring.history.variability(on:)) ?? .empty
      },
      log(CommandTable.hourlyCounter) { ring, request in
        DaySlots(
          minutesPerSlot: 60,
          values: ring.history.day(request.daysAgo) == nil ? [] : Array(repeating: 0, count: 24))
      },
    ]
  }
}

/// How the simulated ring answers a bulk request of the table.
struct RingBulkAnswer {
  let entry: CommandEntry
  /// Whether a ring has it; nil if that depends on its family alone.
  var isOffered: ((SimulatedRing) -> Bool)?
  /// The frames that answer a payload: their ids and payloads. None if the ring ignores it.
  let frames: (SimulatedRing, [UInt8]) -> [(BulkID, [UInt8])]

  /// The answer to a request; nil if the ring does not support it.
  static func answer(to id: BulkID, of ring: SimulatedRing) -> RingBulkAnswer? {
    all.first {
      $0.entry.subject == .bulk(id)
        && ($0.isOffered?(ring) ?? $0.entry.families.contains(ring.options.family))
    }
  }

  private static func query<Contents>(
    _ query: BulkQuery<Contents>, isOffered: ((SimulatedRing) -> Bool)? = nil,
    _ answer: @escaping (SimulatedRing, Contents.Request) -> Contents
  ) -> RingBulkAnswer {
    RingBulkAnswer(entry: query.entry, isOffered: isOffered) { ring, payload in
      guard let request = Contents.Request(payload: payload) else { return [] }
      return [(query.replyID, answer(ring, request).payload)]
    }
  }

  /// Half a day of values at intervals, which are two packets.
  private static func packet<Quantity>(
    _ request: DayPacket, every minutes: Int, _ values: [Quantity.Number]
  ) -> IntervalLog<Quantity> {
    let half = 720 / minutes
    return IntervalLog {
      ($0.daysAgo, $0.minutesPerSlot, $0.packets, $0.packet) = (
        request.daysAgo, UInt8(minutes), 2, request.packet
      )
      $0.values = Array(values.dropFirst(Int(request.packet) * half).prefix(half))
    }
  }

  /// A day of readings on request.
  private static func manual<Quantity>(
    _ request: DayOrAll, _ ring: SimulatedRing, _ readings: (RingDay) -> [ManualReadings<Quantity>.Reading]
  ) -> ManualReadings<Quantity> {
    let daysAgo: UInt8 = if case .daysAgo(let days) = request { days } else { 0 }
    return ManualReadings(daysAgo: daysAgo, readings: ring.history.day(daysAgo).map(readings) ?? [])
  }

  static var all: [RingBulkAnswer] {
    [
      RingBulkAnswer(entry: CommandTable.sleep.entry) { ring, payload in
        guard let request = SleepRequest(payload: payload), ring.understands(request) else { return [] }
        let history = ring.history
        let days = history.keptDays.filter { request != .today || $0.daysAgo == 0 }
        let naps = days.compactMap { history.nap(on: $0.day, daysAgo: $0.daysAgo) }
        let nights = days.compactMap { history.night(endingOn: $0.day, daysAgo: $0.daysAgo) }
        return [
          (CommandTable.naps.id, SleepLog(naps).payload),
          (CommandTable.sleep.id, SleepLog(nights).payload),
        ]
      },
      query(CommandTable.beginSync) { _, _ in BulkStatus() },
      query(CommandTable.sportRecords, isOffered: { _ in true }) { ring, request in
        SportLog(ring.sports.filter { $0.start.seconds > Int(request.seconds) }.map(\.record))
      },
      RingBulkAnswer(entry: CommandTable.sportCourse.entry, isOffered: { _ in true }) { ring, payload in
        guard let request = SportCourseRequest(payload: payload) else { return [] }
        let session = ring.sports.first {
          $0.sport == request.sport && $0.start.seconds == Int(request.start)
        }
        return session?.course ?? [(CommandTable.sportCourse.replyID, [0])]
      },
      query(CommandTable.nickname) { _, _ in BulkStatus() },
      query(CommandTable.manualHeartRates) { ring, request in
        manual(request, ring, ring.history.manualHeartRates(on:))
      },
      query(CommandTable.oxygenLog) { ring, request in
        let days = ring.history.keptDays.filter { request == .all || request == .daysAgo($0.daysAgo) }
        return OxygenLog(
          days.map { OxygenDay(daysAgo: $0.daysAgo, hours: ring.history.oxygen(on: $0.day)) })
      },
      RingBulkAnswer(entry: CommandTable.temperatureLog.entry) { ring, payload in
        guard let request = DayCount(payload: payload) else { return [] }
        let isSplit = ring.options.model?.hasTemperatureFrames ?? false
        let days = ring.history.keptDays.filter { $0.daysAgo < request.days && !(isSplit && $0.daysAgo == 0) }
        let blocks = days.map { day -> [UInt8] in
          [day.daysAgo, 30]
            + ring.history.temperatures(on: day.day).map { UInt8(clamping: ($0 - 2000) / 10) }
        }
        let payloads = isSplit ? blocks : [blocks.flatMap { $0 }]
        return (payloads.isEmpty ? [[0]] : payloads).map { (0x25, $0) }
      },
      query(CommandTable.intervalTemperatures) { ring, request in
        packet(request, every: 30, ring.temperatures(daysAgo: request.daysAgo))
      },
    ]
  }
}

extension SimulatedRing {
  /// Hundredths of a degree Celsius in slots of half an hour, 0 for none.
  fileprivate func temperatures(daysAgo: UInt8) -> [UInt16] {
    (history.day(daysAgo).map(history.temperatures(on:)) ?? []).map { UInt16(clamping: $0) }
  }

  /// The sessions of sport that it has stored, the oldest first.
  fileprivate var sports: [SimulatedSession] {
    Array((history.walks + memory.sports).suffix(RingMemory.maximumSports))
  }

  /// Up to the present.
  var history: SimulatedHistory {
    let written = memory.settings[CommandTable.heartRateSchedule.entry.name]
    let schedule = written.flatMap { try? CommandTable.heartRateSchedule.numbers(in: $0) }
    let interval = schedule?["interval"] ?? 5
    return SimulatedHistory(
      seed: options.seed, now: memory.clock.now, heartRateInterval: (5...60).contains(interval) ? interval : 5
    )
  }

  /// Older and newer rings expect different requests for nights (ring reference, 6.1).
  fileprivate func understands(_ request: SleepRequest) -> Bool {
    switch request {
    case .all, .today: options.family != .rf03
    case .allOfOlder: options.family == .rf03 || options.family == .ry
    case .empty: true
    }
  }
}

/// The faults of log frames on a bad link. Counts over all logs, so that a frame lost the first time may arrive the
/// second.
struct LogFaults {
  private var frames = 0

  /// The remaining frames of one answer.
  mutating func apply(_ faults: VirtualRingFaults, to answer: [RingFrame]) -> [RingFrame] {
    var sent: [RingFrame] = []
    var late: RingFrame?
    for frame in answer {
      if let limit = faults.logFramesUntilSilence, frames >= limit { break }
      frames += 1
      if isDue(faults.losesLogFrameEvery) { continue }
      if isDue(faults.delaysLogFrameEvery), late == nil {
        late = frame
        continue
      }
      sent.append(frame)
      if isDue(faults.doublesLogFrameEvery) { sent.append(frame) }
      if let frame = late {
        sent.append(frame)
        late = nil
      }
    }
    return sent + [late].compactMap { $0 }
  }

  private func isDue(_ every: Int?) -> Bool {
    guard let every, every > 0 else { return false }
    return frames.isMultiple(of: every)
  }
}
