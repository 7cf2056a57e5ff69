import RingLink

/// Behaviour and frames of a ring that are known from one source alone (ring-commands.md, "Known from one source"), with the
/// bytes as the reference states them. Nothing here uses the decoder's description of these frames: an error in it is not
/// repeated here.
extension SimulatedRing {
  /// The frames that answer a request of the app alone; nil for any other.
  func answerOfOneSource(to request: RingFrame) -> [RingFrame]? {
    let byte = request.byte(at: 1)
    let isOld = options.family == .rf03 || options.family == .unknown
    switch (request.command.rawValue, byte) {
    case (0x1E, 1...3) where isOld:
      takeSensor()
      measurement.controlLive(action: byte)
      return []
    case (0x46, 0) where !isOld: return [Self.frame(0x46, Self.big(1 << SimulatedHistory.days - 1, 4))]
    case (0x07, _) where isOld: return logFaults.apply(options.faults, to: dayTotals(byte))
    case (0x02, 5): return []
    case (0x02, 6):
      events.leaveCamera()
      return [Self.frame(0x02, [3])]
    case (0x54, 1) where !isOld:
      if !options.isCharging { switchOff() }
      return []
    default: return nil
    }
  }

  /// A day in two frames: index, days ago and date in BCD; steps, running steps and small calories; meters, minutes of sport and
  /// of sleep, BE.
  private func dayTotals(_ daysAgo: UInt8) -> [RingFrame] {
    func bcd(_ number: Int) -> UInt8 { UInt8((number / 10 % 10) << 4 | number % 10) }
    let start = bcd(Int(daysAgo))
    guard let day = history.day(daysAgo) else {
      return (0...1).map { Self.frame(0x07, [$0, start, 0, 0, 0]) }
    }
    let totals = history.totals(on: day)
    let (year, month, dayOfMonth) = day.civil
    let date = [bcd(year), bcd(month), bcd(dayOfMonth)]
    let sleep = history.night(endingOn: day, daysAgo: 0)?.night?.stages.reduce(0) { $0 + $1.minutes } ?? 0
    let first =
      Self.big(Int(totals.steps), 3) + Self.big(Int(totals.runningSteps), 3)
      + Self.big(Int(totals.calories), 3)
    let second = Self.big(Int(totals.meters), 3) + Self.big(Int(totals.activeMinutes), 2) + Self.big(sleep, 2)
    return [Self.frame(0x07, [0, start] + date + first), Self.frame(0x07, [1, start] + date + second)]
  }

  /// The payload that answers a bulk request of the SDK alone; nil for any other, and for one that this ring does not have.
  func bulkAnswerOfOneSource(to id: BulkID, _ request: [UInt8]) -> [UInt8]? {
    let support = deviceSupport
    switch id.rawValue {
    case 0x5F where support.minuteOxygen && request.count == 2:
      let values = history.day(request[0]).map(history.oxygenMinutes(on:)) ?? []
      return Self.half(request, of: values.map { [$0] }, every: 5)
    case 0x74 where support.hasTemperatures74 && request.count == 2:
      let values = history.day(request[0]).map(history.temperatures(on:)) ?? []
      return Self.half(request, of: values.map { Self.big($0, 2).reversed() }, every: 30)
    case 0x49 where support.minuteOxygen && request.count == 1:
      let daysAgo = request[0] == 0xFF ? 0 : request[0]
      return [daysAgo] + (history.day(daysAgo).map(history.manualOxygen(on:)) ?? [])
    case 0x5B where support.minuteOxygen && request.count == 1:
      let days = history.keptDays.filter { request[0] == 0xFF || request[0] == $0.daysAgo }
      let blocks = days.flatMap { day -> [UInt8] in
        let pairs = history.sedentary(on: day.day)
        return [day.daysAgo, UInt8(clamping: pairs.count)] + pairs
      }
      return [UInt8(days.count)] + blocks
    default: return nil
    }
  }

  /// Half a day of values: days ago, minutes of a slot, 2 packets, the number of the packet, and the values.
  private static func half(_ request: [UInt8], of values: [[UInt8]], every minutes: Int) -> [UInt8] {
    let count = 720 / minutes
    let part = values.dropFirst(Int(request[1]) * count).prefix(count)
    return part.isEmpty ? [0] : [request[0], UInt8(minutes), 2, request[1]] + part.flatMap { $0 }
  }

  /// A number in so many bytes, BE.
  static func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// - Parameter payload: up to 14 bytes
  static func frame(_ command: UInt8, _ payload: [UInt8]) -> RingFrame {
    (try? RingFrame(RingCommand(rawValue: command), payload: payload.prefix(14)))
      ?? RingFrame(RingCommand(rawValue: command))
  }
}
