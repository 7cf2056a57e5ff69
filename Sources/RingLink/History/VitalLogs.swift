import HaloBluetoothCore

/// Requests one day or all.
package enum DayOrAll: BulkRequest {
  case all
  /// 0 is today.
  case daysAgo(UInt8)

  package static let form = "`FF`: all days; else how many days ago, 0 is today."

  package var payload: [UInt8] {
    switch self {
    case .all: [0xFF]
    case .daysAgo(let days): [days]
    }
  }

  package var explained: [BulkValue] {
    let text = if case .daysAgo(let days) = self { "\(days) d ago" } else { "all" }
    return [BulkValue(name: "days", text: text, range: 0..<1, depth: 0)]
  }

  /// An empty payload means all days.
  package init?(payload: [UInt8]) {
    guard payload.count <= 1 else { return nil }
    self = payload.first.map { $0 == 0xFF ? .all : .daysAgo($0) } ?? .all
  }
}

/// The oxygen saturation of a day by hours (ring reference, 6.2).
package struct OxygenDay: StoredItem {
  /// The values of an hour.
  package struct Hour: PacketFields, Hashable {
    /// In percent; 0 for none.
    package var minimum: UInt8 = 0
    /// In percent; 0 for none.
    package var maximum: UInt8 = 0

    package init() {}

    package init(minimum: UInt8, maximum: UInt8) { (self.minimum, self.maximum) = (minimum, maximum) }

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("minimum", &minimum, .noted(.unit("%"), "0 for none"))
      try fields.value("maximum", &maximum, .noted(.unit("%"), "0 for none"))
    }
  }

  /// 0 is today.
  package var daysAgo: UInt8 = 0
  /// From midnight on.
  package var hours = Array(repeating: Hour(), count: 24)

  package init() {}

  package init(daysAgo: UInt8, hours: [Hour]) { (self.daysAgo, self.hours) = (daysAgo, hours) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    for index in hours.indices { try fields.group("hours", number: index + 1, &hours[index]) }
  }

  package static func areAll(_ days: [Self], of request: DayOrAll) -> Bool {
    days.contains { request == .daysAgo($0.daysAgo) }
  }

  /// The hours with a value. Some rings report the larger of the two first.
  package func readings(today: RingDay) -> [OxygenReading] {
    hours.enumerated().compactMap { hour, value in
      let known = [value.minimum, value.maximum].filter { $0 > 0 && $0 <= 100 }
      guard let minimum = known.min(), let maximum = known.max() else { return nil }
      return OxygenReading(
        time: today.adding(days: -Int(daysAgo)).midnight.adding(minutes: hour * 60),
        minimum: Int(minimum), maximum: Int(maximum))
    }
  }
}

package typealias OxygenLog = StoredLog<OxygenDay>

/// SpO2, at intervals.
package enum OxygenSaturations: IntervalQuantity {
  package typealias Number = UInt8
  package static let note = "percent, 0 for none"
}

/// A packet of the SpO2 of a day by the minute (ring reference, 6.2).
package typealias MinuteOxygen = IntervalLog<OxygenSaturations>

/// In all of these, `now` is the ring's wall clock as known to the host.
extension RingClient {
  /// The heart rates measured on request.
  package func manualHeartRates(
    _ days: DayOrAll, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [HeartRateReading] {
    try await manual(.heartRate, CommandTable.manualHeartRates, days, now: now, progress: progress).map {
      HeartRateReading(time: $0.time, beatsPerMinute: $0.value, isManual: true)
    }.inOrder(of: \.time)
  }

  /// The oxygen saturation of all days, in the order of time.
  package func oxygen(
    now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [OxygenReading] {
    try await stored(
      .oxygen, CommandTable.oxygenLog, .all, unread: "its bytes are not the 24 hours of a day",
      progress: progress
    ).flatMap { $0.readings(today: now.day) }.inOrder(of: \.time)
  }

  /// The oxygen saturation of a day, as often as the ring has measured it, from rings that report that they store it.
  package func minuteOxygen(on day: RingDay, now: RingTime) async throws(RingError) -> [OxygenValue] {
    try await intervalLog(.oxygenValues, CommandTable.minuteOxygen, on: day, now: now)
      .cutToDay.readings(of: day, until: now).filter { $0.value <= 100 }.map {
        OxygenValue(time: $0.time, percent: Int($0.value), isManual: false)
      }
  }

  /// The oxygen saturations measured on request.
  package func manualOxygen(
    _ days: DayOrAll, now: RingTime, progress: ((Int, Int) -> Void)? = nil
  ) async throws(RingError) -> [OxygenValue] {
    try await manual(.oxygenValues, CommandTable.manualOxygen, days, now: now, progress: progress)
      .filter { $0.value <= 100 }.map { OxygenValue(time: $0.time, percent: $0.value, isManual: true) }
      .inOrder(of: \.time)
  }

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
