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

  package var values: [BulkValue] {
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
package struct SleepDay: BulkRecord {
  /// The day on which it ended; 0 is today.
  package var daysAgo: UInt8 = 0
  /// Minutes after midnight of that day, or of the day before: see ``session(isNap:today:)``.
  package var start: UInt16 = 0
  /// Minutes after midnight.
  package var end: UInt16 = 0
  package var stages: [SleepStage] = []
  /// The bytes of a night that does not have this layout; empty otherwise.
  package var unread: [UInt8] = []

  package init(daysAgo: UInt8, start: UInt16, end: UInt16, stages: [SleepStage]) {
    self.daysAgo = daysAgo
    self.start = start
    self.end = end
    self.stages = stages
  }

  package static let fields: Fields = Fields(Self(daysAgo: 0, start: 0, end: 0, stages: [])) {
    BulkField("days-ago", \.daysAgo, .days)
    BulkField.sized(
      [
        BulkField(
          "start", \.start, .minutes, "after midnight; a start after the end is of the evening before"),
        BulkField("end", \.end, .minutes, "after midnight"),
        BulkField("stages", \.stages, .toEnd),
      ], unread: \.unread)
  }

  /// The time span. If it begins later in the day than it ends, it began the evening before; from 18:00 on that may be
  /// meant even if it does not, which the stages show. A time of 1440 minutes or more counts from the midnight before: 1468
  /// is 00:28.
  ///
  /// - Returns: nil if it is the time of no night
  package func session(isNap: Bool, today: RingDay) -> SleepSession? {
    guard unread.isEmpty, let last = Self.minute(end, isEnd: true) else { return nil }
    let slept = stages.reduce(0) { $0 + $1.minutes }
    guard var first = Self.minute(start, isEnd: false) else { return nil }
    // A start on the day itself is not of the evening before.
    if start >= 1440 {
      guard first <= last else { return nil }
    } else if first > last || (first >= 1080 && slept != last - first && slept == last - first + 1440) {
      first -= 1440
    }
    let midnight = today.adding(days: -Int(daysAgo)).midnight
    return SleepSession(
      start: midnight.adding(minutes: first), end: midnight.adding(minutes: last), isNap: isNap,
      stages: stages)
  }

  /// Why ``session(isNap:today:)`` is nil.
  package var oddity: String {
    unread.isEmpty
      ? "a night can't be from minute \(start) to minute \(end)" : "its bytes are not start, end and stages"
  }

  /// The minute of the day; nil if it is beyond the second midnight.
  private static func minute(_ value: UInt16, isEnd: Bool) -> Int? {
    let isSameDay = value < 1440 || (isEnd && value == 1440)
    return isSameDay ? Int(value) : value < 2880 ? Int(value) - 1440 : nil
  }
}

/// The nights, or the naps, that a ring has stored (ring reference, 6.1).
package struct SleepLog: BulkContents, BulkRecord {
  package typealias Request = SleepRequest

  package var days: [SleepDay] = []
  /// What follows the last day that can be read.
  package var unread: [UInt8] = []

  package init(days: [SleepDay]) { self.days = days }

  package static let fields: Fields = Fields(Self(days: [])) {
    BulkField("days", \.days, .counted, unread: \.unread)
  }
}

extension SleepStage: BulkRecord {
  package static let fields: Fields = Fields(Self(.light, minutes: 0)) {
    BulkField("kind", \.kind.rawValue, words: [2: "light", 3: "deep", 4: "REM", 5: "awake"])
    BulkField("minutes", \.clampedMinutes, .minutes)
  }

  private var clampedMinutes: UInt8 {
    get { UInt8(clamping: minutes) }
    set { minutes = Int(newValue) }
  }
}

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
      for day in log.days {
        if let session = day.session(isNap: frame.id == CommandTable.naps.id, today: now.day) {
          sessions.append(session)
        } else {
          leaveOut(.sleep, day.oddity, day.bytes())
        }
      }
      if !log.unread.isEmpty { leaveOut(.sleep, "it is cut off", log.unread) }
    }
    return sessions.filter { $0.end <= now }.inOrderOfStart
  }
}

extension [SleepSession] {
  /// Sorted by their start, each once.
  fileprivate var inOrderOfStart: [SleepSession] {
    Set(self).sorted { ($0.start, $0.end, $0.isNap ? 1 : 0) < ($1.start, $1.end, $1.isNap ? 1 : 0) }
  }
}
