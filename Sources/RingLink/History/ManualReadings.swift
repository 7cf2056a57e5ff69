import HaloBluetoothCore

/// A quantity that is measured on request.
package protocol ManualQuantity: Hashable, Sendable {
  static var name: StaticString { get }
  static var unit: StaticString { get }
}

package enum ManualHeartRate: ManualQuantity {
  package static let name: StaticString = "heart-rate"
  package static let unit: StaticString = "bpm"
}

package enum ManualOxygenSaturation: ManualQuantity {
  package static let name: StaticString = "spo2"
  package static let unit: StaticString = "%"
}

package typealias ManualHeartRates = ManualReadings<ManualHeartRate>
package typealias ManualOxygen = ManualReadings<ManualOxygenSaturation>

/// The values measured on request, of a day (ring reference, 6.3).
package struct ManualReadings<Quantity: ManualQuantity>: BulkContents {
  package typealias Request = DayOrAll

  /// One measurement.
  package struct Reading: PacketFields, Hashable {
    /// The minutes since midnight.
    package var minuteOfDay: UInt16 = 0
    /// In the unit of the quantity.
    package var value: UInt8 = 0

    package init() {}

    package init(minuteOfDay: UInt16, value: UInt8) {
      (self.minuteOfDay, self.value) = (minuteOfDay, value)
    }

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("minute", &minuteOfDay, .noted(.plain, "of the day"))
      try fields.value(Quantity.name, &value, .unit(Quantity.unit))
    }
  }

  /// 0 is today.
  package var daysAgo: UInt8 = 0
  package var readings: [Reading] = []
  /// The bytes behind the last reading.
  package var unread: [UInt8] = []

  package init() {}

  package init(daysAgo: UInt8, readings: [Reading]) { (self.daysAgo, self.readings) = (daysAgo, readings) }

  /// A payload of one byte is a day without readings.
  package static var isNothingAByte: Bool { false }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    try fields.items("readings", &readings, counted: nil, unread: &unread)
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload.isEmpty ? [0] : payload)
  }

  package func isAll(of request: DayOrAll) -> Bool { request == .daysAgo(daysAgo) }
}

extension RingClient {
  /// The readings with a value.
  func manual<Quantity>(
    _ kind: HistoryKind, _ query: BulkQuery<ManualReadings<Quantity>>, _ days: DayOrAll, now: RingTime,
    progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> [(time: RingTime, value: Int)] {
    var values: [(time: RingTime, value: Int)] = []
    for contents in try await bulk(query, days, progress: progress) {
      let midnight = now.day.adding(days: -Int(contents.daysAgo)).midnight
      for reading in contents.readings where reading.minuteOfDay >= 1440 {
        leaveOut(kind, "a day has no minute \(reading.minuteOfDay)", reading.encoded())
      }
      if !contents.unread.isEmpty { leaveOut(kind, "it is cut off", contents.unread) }
      values += contents.readings.filter { $0.minuteOfDay < 1440 && $0.value != 0 && $0.value != 255 }.map {
        (midnight.adding(minutes: Int($0.minuteOfDay)), Int($0.value))
      }
    }
    return values
  }
}
