import HaloBluetoothCore

/// Requests nights. Newer rings ignore the request of older ones, and vice versa (ring reference, 6.1).
package enum SleepRequest: BulkRequest, CaseIterable {
  /// In the protocol of newer rings.
  case all
  /// In the protocol of older rings.
  case allOfOlder
  /// Rings that are older still.
  case empty
  /// In the protocol of newer rings.
  case today

  package static let form =
    "`FF 01`: all days; `00 01`: today. Older rings want `FF` for all days, or nothing at all."

  package var payload: [UInt8] {
    switch self {
    case .all: [0xFF, 1]
    case .allOfOlder: [0xFF]
    case .empty: []
    case .today: [0, 1]
    }
  }

  package var explained: [BulkValue] {
    let payload = self.payload
    return payload.enumerated().map { index, byte in
      index == 0
        ? BulkValue(name: "days", text: byte == 0xFF ? "all" : "today", range: 0..<1, depth: 0)
        : BulkValue(name: "version", text: "\(byte)", range: 1..<2, depth: 0)
    }
  }

  package init?(payload: [UInt8]) {
    guard let request = Self.allCases.first(where: { $0.payload == payload }) else { return nil }
    self = request
  }
}

/// A night or a nap in the layout of a bulk frame.
package struct SleepDay: StoredItem {
  package typealias Request = SleepRequest

  package static let countName: StaticString? = "number of days"

  /// The times of a night, and how one slept.
  package struct Night: PacketFields, Hashable {
    /// Minutes after midnight of the day on which it ended, or of the day before: see ``SleepDay/session(isNap:today:)``.
    package var start: UInt16 = 0
    /// Minutes after midnight.
    package var end: UInt16 = 0
    package var stages: [SleepStage] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value(
        "start", &start,
        .noted(.unit("min"), "after midnight; a start after the end is of the evening before"))
      try fields.value("end", &end, .noted(.unit("min"), "after midnight"))
      var parts = stages.map(Stage.init)
      try fields.items("stages", &parts)
      stages = parts.map(\.stage)
    }
  }

  private struct Stage: PacketFields {
    var stage = SleepStage(.light, minutes: 0)

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      var minutes = UInt8(clamping: stage.minutes)
      try fields.value(
        "kind", &stage.kind.rawValue, .names([2: "light", 3: "deep", 4: "REM", 5: "awake"]))
      try fields.value("minutes", &minutes, .unit("min"))
      stage.minutes = Int(minutes)
    }
  }

  /// The day on which it ended; 0 is today.
  package var daysAgo: UInt8 = 0
  private var bytes: [UInt8] = []

  package init() {}

  package init(daysAgo: UInt8, start: UInt16, end: UInt16, stages: [SleepStage]) {
    self.daysAgo = daysAgo
    bytes = Night { ($0.start, $0.end, $0.stages) = (start, end, stages) }.encoded()
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    try fields.block(&bytes, as: Night.self)
  }

  /// Its contents; nil if its bytes do not have this layout.
  package var night: Night? { try? Night(whole: bytes) }

  /// The time span. If it begins later in the day than it ends, it began the evening before; from 18:00 on that may be
  /// meant even if it does not, which the stages show. A time of 1440 minutes or more counts from the midnight before: 1468
  /// is 00:28.
  ///
  /// - Returns: nil if it is the time of no night
  package func session(isNap: Bool, today: RingDay) -> SleepSession? {
    guard let night, let last = Self.minute(night.end, isEnd: true),
      var first = Self.minute(night.start, isEnd: false)
    else { return nil }
    let slept = night.stages.reduce(0) { $0 + $1.minutes }
    // A start on the day itself is not of the evening before.
    if night.start >= 1440 {
      guard first <= last else { return nil }
    } else if first > last || (first >= 1080 && slept != last - first && slept == last - first + 1440) {
      first -= 1440
    }
    let midnight = today.adding(days: -Int(daysAgo)).midnight
    return SleepSession(
      start: midnight.adding(minutes: first), end: midnight.adding(minutes: last), isNap: isNap,
      stages: night.stages)
  }

  /// Why ``session(isNap:today:)`` is nil.
  package var oddity: String {
    night.map { "a night can't be from minute \($0.start) to minute \($0.end)" }
      ?? "its bytes are not start, end and stages"
  }

  /// The minute of the day; nil if it is beyond the second midnight.
  private static func minute(_ value: UInt16, isEnd: Bool) -> Int? {
    let isSameDay = value < 1440 || (isEnd && value == 1440)
    return isSameDay ? Int(value) : value < 2880 ? Int(value) - 1440 : nil
  }
}

/// The nights, or the naps, that a ring has stored (ring reference, 6.1).
package typealias SleepLog = StoredLog<SleepDay>

/// Nights and naps (ring reference, 6.1).
extension RingClient {
  /// All nights and naps that the ring has stored, in the order of time. Older and newer rings expect different
  /// requests, and ignore the others: up to three are tried, five seconds each.
  ///
  /// - Parameters:
  ///   - now: the ring's wall clock, as known to the host
  ///   - progress: called with the bytes that are there and those that the answer has
  package func sleep(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [SleepSession] {
    for request in [SleepRequest.all, .allOfOlder] {
      do throws(RingError) {
        return try await sleep(request, now: now, progress: progress)
      } catch .notAnswered {
        continue
      } catch .malformedBulk(_, .status) {
        continue
      }
    }
    return try await sleep(.empty, now: now, progress: progress)
  }

  private func sleep(
    _ request: SleepRequest, now: RingTime, progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> [SleepSession] {
    let frames = try await bulkFrames(
      .bulk(CommandTable.sleep.id, payload: request.payload), answeredBy: CommandTable.sleep.id,
      with: CommandTable.naps.id, progress: progress)
    var sessions: [SleepSession] = []
    for frame in frames {
      let log: SleepLog = try readable(frame)
      for day in log.items {
        if let session = day.session(isNap: frame.id == CommandTable.naps.id, today: now.day) {
          sessions.append(session)
        } else {
          leaveOut(.sleep, day.oddity, day.encoded())
        }
      }
      if !log.unread.isEmpty { leaveOut(.sleep, "it is cut off", log.unread) }
    }
    // Each once.
    return Set(sessions.filter { $0.end <= now }).sorted {
      ($0.start, $0.end, $0.isNap ? 1 : 0) < ($1.start, $1.end, $1.isNap ? 1 : 0)
    }
  }
}
