import HaloBluetoothCore

/// The times of sitting that a ring has stored (ring reference, 6.6). Each part has a kind and a duration; what they mean is
/// not known.
package struct SedentaryLog: BulkContents, PacketFields {
  package typealias Request = DayOrAll

  /// The parts of a day.
  package struct Day: PacketFields, Hashable {
    /// 0 is today.
    package var daysAgo: UInt8 = 0
    /// A kind and a duration for each part; bytes of an odd number are not such pairs.
    package var bytes: [UInt8] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("days-ago", &daysAgo, .unit("d"))
      try fields.block(&bytes, as: Parts.self)
    }
  }

  private struct Parts: PacketFields {
    struct Part: PacketFields {
      var kind: UInt8 = 0
      var duration: UInt8 = 0

      mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
        try fields.value("kind", &kind)
        try fields.value("duration", &duration)
      }
    }

    var parts: [Part] = []

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.items("parts", &parts)
    }
  }

  package var days: [Day] = []
  /// The bytes behind the last day that can be read.
  package var unread: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.items("days", &days, counted: "number of days", unread: &unread)
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
      if day.bytes.count.isMultiple(of: 2) {
        days[now.day.adding(days: -Int(day.daysAgo))] = day.bytes
      } else {
        leaveOut(.sedentary, "its bytes are not pairs", day.encoded())
      }
    }
    for log in logs where !log.unread.isEmpty { leaveOut(.sedentary, "it is cut off", log.unread) }
    return days.sorted { $0.key < $1.key }.map { SedentaryDay(day: $0.key, bytes: $0.value) }
  }
}
