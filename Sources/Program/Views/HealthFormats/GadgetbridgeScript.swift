import RingLink

/// Stored records as SQL for the database of Gadgetbridge, which imports no other file: its tables of COLMI rings, as its
/// GBDaoGenerator makes them. Rows that are there stay; the ring and its user are looked up in the database.
package struct GadgetbridgeScript {
  /// The address of the ring, by which Gadgetbridge knows it.
  private let ring: String

  package init(ring: String) { self.ring = ring }

  /// Whether the tables have the kind.
  package static func has(_ kind: HistoryKind) -> Bool {
    ![.temperature, .sport, .sedentary].contains(kind)
  }

  package static let (beginning, end) = ("BEGIN;", "COMMIT;")

  /// Passes a statement for each row.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - offsets: the offset of the clock of each, in seconds
  ///   - take: gets each statement
  package func statements(_ records: HistoryRecords, offsets: [Int], _ take: (String) -> Void) {
    func row(_ table: String, _ time: Int, _ values: KeyValuePairs<String, Int>) {
      let names = values.map { ", \($0.key)" }.joined()
      let numbers = values.map { ", \($0.value)" }.joined()
      take(
        "INSERT OR IGNORE INTO COLMI_\(table)_SAMPLE (TIMESTAMP, DEVICE_ID, USER_ID\(names)) "
          + "SELECT \(time), DEVICE._id, (SELECT min(_id) FROM USER)\(numbers) FROM DEVICE WHERE IDENTIFIER = '\(ring)';"
      )
    }
    /// Most tables count milliseconds.
    func each<Record>(_ all: [Record], _ time: (Record) -> RingTime, _ body: (Record, Int) -> Void) {
      for (record, offset) in zip(all, offsets) { body(record, (time(record).seconds - offset) * 1000) }
    }
    switch records {
    case .heartRate(let all): each(all, \.time) { row("HEART_RATE", $1, ["HEART_RATE": $0.beatsPerMinute]) }
    case .stress(let all): each(all, \.time) { row("STRESS", $1, ["STRESS": $0.value]) }
    case .variability(let all): each(all, \.time) { row("HRV_VALUE", $1, ["VALUE": $0.value]) }
    case .oxygenValues(let all): each(all, \.time) { row("SPO2", $1, ["SPO2": $0.percent]) }
    case .oxygen(let all):
      // Gadgetbridge stores the mean of the hour.
      each(all, \.time) { row("SPO2", $1, ["SPO2": ($0.minimum + $0.maximum + 1) / 2]) }
    case .steps(let all):
      // This table counts seconds; kind 1 is activity.
      each(all, \.time) {
        row(
          "ACTIVITY", $1 / 1000,
          [
            "RAW_KIND": 1, "STEPS": $0.steps, "HEART_RATE": 0, "DISTANCE": $0.meters,
            "CALORIES": ($0.calories + 500) / 1000,
          ])
      }
    case .sleep(let all):
      each(all, \.start) { session, time in
        row(
          "SLEEP_SESSION", time, ["WAKEUP_TIME": time + (session.end.seconds - session.start.seconds) * 1000])
        var start = time
        for stage in session.stages {
          row("SLEEP_STAGE", start, ["DURATION": stage.minutes, "STAGE": Int(stage.kind.rawValue)])
          start += stage.minutes * 60_000
        }
      }
    case .temperature, .sport, .sedentary: break
    }
  }
}
