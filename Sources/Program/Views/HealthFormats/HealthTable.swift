import HaloCommandLine
import RingLink

/// Stored records as a table for programs that import csv into Apple Health or Health Connect: a start and an end, and a
/// column for each value, with its unit in the name. The user says in these programs what a column is. Times have the form
/// of Apple's exports, which Health CSV Importer reads.
package enum HealthTable {
  /// - Returns: nil for kinds that belong in no health record: what firmware makes up, and what is not known
  package static func columns(of kind: HistoryKind) -> [String]? {
    let names: [String]? =
      switch kind {
      case .heartRate: ["Heart rate (bpm)"]
      case .steps: ["Step count", "Distance (m)", "Calories (kcal)"]
      case .oxygen: ["Lowest oxygen saturation (%)", "Highest oxygen saturation (%)"]
      case .oxygenValues: ["Oxygen saturation (%)"]
      case .temperature: ["Skin temperature (°C)"]
      case .sleep: ["Sleep stage"]
      case .sport:
        [
          "Activity", "Distance (m)", "Calories (kcal)", "Step count", "Average heart rate (bpm)",
          "Min heart rate (bpm)", "Max heart rate (bpm)",
        ]
      case .stress, .variability, .sedentary: nil
      }
    return names.map { ["Start time", "End time"] + $0 }
  }

  /// The rows of records.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - offsets: the offset of the clock of each, in seconds
  package static func rows(_ records: HistoryRecords, offsets: [Int]) -> [[Field]] {
    func each<Record>(
      _ all: [Record], _ time: (Record) -> RingTime, seconds: (Record) -> Int = { _ in 0 },
      _ fields: (Record) -> [Field]
    ) -> [[Field]] {
      zip(all, offsets).map { record, offset in
        let start = ZonedTime(time(record), utcOffset: offset)
        return [.text(start.spaced), .text(start.adding(seconds: seconds(record)).spaced)] + fields(record)
      }
    }
    switch records {
    case .heartRate(let all): return each(all, \.time) { [.number($0.beatsPerMinute)] }
    case .steps(let all):
      return each(all, \.time, seconds: { _ in 3600 }) {
        [.number($0.steps), .number($0.meters), .energy($0.calories)]
      }
    case .oxygen(let all):
      return each(all, \.time, seconds: { _ in 3600 }) { [.number($0.minimum), .number($0.maximum)] }
    case .oxygenValues(let all): return each(all, \.time) { [.number($0.percent)] }
    case .temperature(let all): return each(all, \.time) { [.decimal($0.centidegrees, places: 2)] }
    case .sport(let all):
      return each(all, \.time, seconds: { $0.seconds ?? 0 }) {
        [
          .text($0.sport.description), .number($0.meters), .energy($0.calories), .number($0.steps),
          .number($0.averageRate), .number($0.minimumRate), .number($0.maximumRate),
        ]
      }
    case .sleep(let all):
      return zip(all, offsets).flatMap { session, offset in
        var start = ZonedTime(session.start, utcOffset: offset)
        return session.stages.compactMap { stage -> [Field]? in
          let end = start.adding(seconds: stage.minutes * 60)
          defer { start = end }
          guard let name = Self.stages[stage.kind] else { return nil }
          return [.text(start.spaced), .text(end.spaced), .text(name)]
        }
      }
    case .stress, .variability, .sedentary: return []
    }
  }

  /// The names of Apple Health, in which light sleep is core sleep.
  private static let stages: [SleepStage.Kind: String] = [
    .light: "Core", .deep: "Deep", .rem: "REM", .awake: "Awake",
  ]
}
