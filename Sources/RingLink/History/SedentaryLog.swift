import HaloBluetoothCore

/// The times of sitting of a day, as a ring stores them (ring reference, 6.6). Each part has a kind and a duration; their
/// meaning is not known.
package struct SittingDay: StoredItem {
  package typealias Request = DayOrAll

  package static let countName: StaticString? = "number of days"

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

extension RingClient {
  /// The times of sitting of all days that the ring has stored. No bit of 0x3C shows which rings have them: others may not
  /// answer.
  ///
  /// - Parameters:
  ///   - now: the ring's wall clock, as known to the host
  ///   - progress: called with the bytes received and expected
  package func sedentaryDays(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [SedentaryDay] {
    var days: [RingDay: [UInt8]] = [:]
    for day in try await stored(.sedentary, CommandTable.sedentaryLog, .all, progress: progress) {
      if day.bytes.count.isMultiple(of: 2) {
        days[now.day.adding(days: -Int(day.daysAgo))] = day.bytes
      } else {
        leaveOut(.sedentary, "its bytes are not pairs", day.encoded())
      }
    }
    return days.sorted { $0.key < $1.key }.map { SedentaryDay(day: $0.key, bytes: $0.value) }
  }
}
