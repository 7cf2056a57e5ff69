/// The times of sitting that a ring has stored (ring reference, 6.6). Each part has a kind and a duration; what they mean is
/// not known.
package struct SedentaryLog: BulkContents, BulkRecord {
  package typealias Request = DayOrAll

  /// The parts of a day.
  package struct Day: BulkRecord {
    /// 0 is today.
    package var daysAgo: UInt8 = 0
    package var parts: [Part] = []
    /// The bytes of the parts, if they are not pairs.
    package var unread: [UInt8] = []

    package static let fields: Fields = Fields(Self()) {
      BulkField("days-ago", \.daysAgo, .days)
      BulkField.sized([BulkField("parts", \.parts, .toEnd)], unread: \.unread)
    }
  }

  /// A part of a day.
  package struct Part: BulkRecord {
    package var kind: UInt8 = 0
    package var duration: UInt8 = 0

    package static let fields: Fields = Fields(Self()) {
      BulkField("kind", \.kind)
      BulkField("duration", \.duration)
    }
  }

  package var days: [Day] = []
  /// What follows the last day that can be read.
  package var unread: [UInt8] = []

  package static let fields: Fields = Fields(Self()) {
    BulkField("days", \.days, .counted, unread: \.unread)
  }
}

extension RingClient {
  /// The times of sitting of all days that the ring has stored. No bit of 0x3C says which rings have them: others may
  /// not answer.
  ///
  /// - Parameters:
  ///   - now: the ring's wall clock, as known to the host
  ///   - progress: called with the bytes received and expected
  package func sedentaryDays(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [SedentaryDay] {
    let logs = try await bulk(CommandTable.sedentaryLog, .all, progress: progress)
    var days: [RingDay: [UInt8]] = [:]
    for day in logs.flatMap(\.days) {
      if day.unread.isEmpty {
        days[now.day.adding(days: -Int(day.daysAgo))] = day.parts.flatMap { [$0.kind, $0.duration] }
      } else {
        leaveOut(.sedentary, "its bytes are not pairs", day.bytes())
      }
    }
    for log in logs where !log.unread.isEmpty { leaveOut(.sedentary, "it is cut off", log.unread) }
    return days.sorted { $0.key < $1.key }.map { SedentaryDay(day: $0.key, bytes: $0.value) }
  }
}
