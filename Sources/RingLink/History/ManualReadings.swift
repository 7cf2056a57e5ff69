/// What is measured on request.
package protocol ManualQuantity: Hashable, Sendable {
  static var name: String { get }
  static var unit: RingUnit { get }
}

package enum ManualHeartRate: ManualQuantity {
  package static let name = "heart-rate"
  package static let unit = RingUnit.beatsPerMinute
}

package enum ManualOxygenSaturation: ManualQuantity {
  package static let name = "spo2"
  package static let unit = RingUnit.percent
}

package typealias ManualHeartRates = ManualReadings<ManualHeartRate>
package typealias ManualOxygen = ManualReadings<ManualOxygenSaturation>

/// The values measured on request, of a day (ring reference, 6.3).
package struct ManualReadings<Quantity: ManualQuantity>: BulkContents, BulkRecord {
  package typealias Request = DayOrAll

  /// One measurement.
  package struct Reading: BulkRecord {
    /// The minutes since midnight.
    package var minuteOfDay: UInt16 = 0
    /// In the unit of the quantity.
    package var value: UInt8 = 0

    package init(minuteOfDay: UInt16, value: UInt8) {
      self.minuteOfDay = minuteOfDay
      self.value = value
    }

    package static var fields: Fields {
      Fields(Self(minuteOfDay: 0, value: 0)) {
        BulkField("minute", \.minuteOfDay, nil, "of the day")
        BulkField(Quantity.name, \.value, Quantity.unit)
      }
    }
  }

  /// 0 is today.
  package var daysAgo: UInt8 = 0
  package var readings: [Reading] = []
  /// What follows the last reading.
  package var unread: [UInt8] = []

  package init(daysAgo: UInt8, readings: [Reading]) {
    self.daysAgo = daysAgo
    self.readings = readings
  }

  /// A payload of one byte is a day without readings.
  package static var isNothingAByte: Bool { false }

  package static var fields: Fields {
    Fields(Self(daysAgo: 0, readings: [])) {
      BulkField("days-ago", \.daysAgo, .days)
      BulkField("readings", \.readings, .toEnd, unread: \.unread)
    }
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
        leaveOut(kind, "a day has no minute \(reading.minuteOfDay)", reading.bytes())
      }
      if !contents.unread.isEmpty { leaveOut(kind, "it is cut off", contents.unread) }
      values += contents.readings.filter { $0.minuteOfDay < 1440 && $0.value != 0 && $0.value != 255 }.map {
        (midnight.adding(minutes: Int($0.minuteOfDay)), Int($0.value))
      }
    }
    return values
  }
}
