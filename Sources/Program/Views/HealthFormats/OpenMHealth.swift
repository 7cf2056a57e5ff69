import HaloStorage
import RingLink

/// Stored records as data points of Open mHealth: a header and a body, each by a schema of IEEE 1752.1, or of Open mHealth
/// where the IEEE has none. A record always has the same UUID, so that one that is imported twice is there once.
package struct OpenMHealth {
  /// The address of the ring, which is a part of the UUIDs.
  private let ring: String
  /// The time of the export: when the data points were created is not known better.
  private let created: ZonedTime

  package init(ring: String, created: ZonedTime) {
    (self.ring, self.created) = (ring, created)
  }

  /// Whether there is a schema for what a kind means. HRV and stress are estimates of unknown meaning.
  package static func has(_ kind: HistoryKind) -> Bool {
    ![.stress, .variability, .sedentary].contains(kind)
  }

  /// Passes the data points of records, a line of JSON each.
  ///
  /// - Parameters:
  ///   - records: of one kind
  ///   - offsets: the offset of the clock of each, in seconds
  ///   - take: gets each data point
  package func points(_ records: HistoryRecords, offsets: [Int], _ take: (JSONValue) -> Void) {
    func each<Record>(_ all: [Record], _ body: (Record, Int) -> [JSONValue]) {
      for (record, offset) in zip(all, offsets) { body(record, offset).forEach(take) }
    }
    switch records {
    case .heartRate(let all):
      each(all) {
        [heartRate($0.beatsPerMinute, at: ZonedTime($0.time, utcOffset: $1), isManual: $0.isManual)]
      }
    case .steps(let all):
      each(all) { reading, offset in
        let start = ZonedTime(reading.time, utcOffset: offset)
        return [
          activity(
            "walking", start, seconds: 3600, steps: reading.steps, meters: reading.meters,
            calories: reading.calories)
        ]
      }
    case .oxygen(let all):
      each(all) { reading, offset in
        let start = ZonedTime(reading.time, utcOffset: offset)
        return [("minimum", reading.minimum), ("maximum", reading.maximum)].map { statistic, percent in
          oxygen(percent, Self.interval(start, seconds: 3600), start, statistic: statistic)
        }
      }
    case .oxygenValues(let all):
      each(all) { value, offset in
        let time = ZonedTime(value.time, utcOffset: offset)
        return [oxygen(value.percent, Self.moment(time), time, statistic: value.isManual ? "manual" : nil)]
      }
    case .temperature(let all):
      each(all) { reading, offset in
        let time = ZonedTime(reading.time, utcOffset: offset)
        return [
          point(
            "omh", "body-temperature", "4.0", time,
            [
              "body_temperature": Self.quantity(.number(reading.degreesCelsius), "C"),
              "measurement_location": .string("finger"), "effective_time_frame": Self.moment(time),
            ])
        ]
      }
    case .sleep(let all): each(all) { [sleep($0, offset: $1)] }
    case .sport(let all):
      each(all) { sport, offset in
        let start = ZonedTime(sport.time, utcOffset: offset)
        let interval = sport.sampleSeconds ?? 0
        let course = interval == 0 ? [] : sport.heartRates.enumerated().filter { $0.element > 0 }
        return [
          activity(
            sport.sport.description, start, seconds: sport.seconds ?? sport.heartRates.count * interval,
            steps: sport.steps, meters: sport.meters, calories: sport.calories)
        ]
          + course.map { index, rate in
            heartRate(rate, at: start.adding(seconds: index * interval), during: "during exercise")
          }
      }
    case .stress, .variability, .sedentary: break
    }
  }

  // MARK: Bodies

  private func heartRate(_ rate: Int, at time: ZonedTime, isManual: Bool = false, during: String? = nil)
    -> JSONValue
  {
    point(
      "omh", "heart-rate", "2.0", time, variant: during ?? (isManual ? "manual" : ""),
      [
        "heart_rate": Self.quantity(.integer(rate), "beats/min"), "effective_time_frame": Self.moment(time),
        "temporal_relationship_to_physical_activity": during.map { .string($0) },
      ])
  }

  private func oxygen(
    _ percent: Int, _ frame: JSONValue, _ time: ZonedTime, statistic: String?
  ) -> JSONValue {
    point(
      "omh", "oxygen-saturation", "2.0", time, variant: statistic ?? "",
      [
        "oxygen_saturation": Self.quantity(.integer(percent), "%"), "system": .string("peripheral capillary"),
        "measurement_method": .string("pulse oximetry"), "effective_time_frame": frame,
        "descriptive_statistic": statistic.flatMap { $0 == "manual" ? nil : .string($0) },
      ])
  }

  private func activity(
    _ name: String, _ start: ZonedTime, seconds: Int, steps: Int?, meters: Int?, calories: Int?
  ) -> JSONValue {
    point(
      "ieee", "physical-activity", "1.0", start, variant: name,
      [
        "activity_name": .string(name), "effective_time_frame": Self.interval(start, seconds: seconds),
        "base_movement_quantity": steps.map { Self.quantity(.integer($0), "steps") },
        "distance": meters.map { Self.quantity(.integer($0), "m") },
        "kcal_burned": calories.map { Self.quantity(.number(Double($0) / 1000), "kcal") },
      ])
  }

  /// Light, deep and REM sleep make the total; the time awake is not a part of it.
  private func sleep(_ session: SleepSession, offset: Int) -> JSONValue {
    let night = DaysReport.Night(session)
    func minutes(_ kind: SleepStage.Kind) -> JSONValue? {
      night.minutes[kind].map { Self.quantity(.integer($0), "min") }
    }
    let start = ZonedTime(session.start, utcOffset: offset)
    return point(
      "ieee", "sleep-episode", "1.0", start, variant: session.isNap ? "nap" : "",
      [
        "effective_time_frame": Self.interval(start, seconds: session.end.seconds - session.start.seconds),
        "total_sleep_time": Self.quantity(.integer(night.asleep), "min"),
        "light_sleep_duration": minutes(.light),
        "deep_sleep_duration": minutes(.deep), "rem_sleep_duration": minutes(.rem),
        "wake_after_sleep_onset": minutes(.awake), "is_main_sleep": .bool(!session.isNap),
        "number_of_awakenings": .integer(session.stages.count { $0.kind == .awake }),
      ])
  }

  // MARK: Parts

  private func point(
    _ namespace: String, _ name: String, _ version: String, _ time: ZonedTime, variant: String = "",
    _ body: [String: JSONValue?]
  ) -> JSONValue {
    let url = "halo-raw:\(ring)/\(namespace):\(name):\(version)/\(time.utc)/\(variant)"
    return .object([
      "header": .object([
        "uuid": .string(NameUUID.text(url: url)),
        "schema_id": .object([
          "namespace": .string(namespace), "name": .string(name), "version": .string(version),
        ]), "source_creation_date_time": .string(created.rfc3339), "modality": .string("sensed"),
      ]), "body": .members(body),
    ])
  }

  private static func quantity(_ value: JSONValue, _ unit: String) -> JSONValue {
    .object(["value": value, "unit": .string(unit)])
  }

  private static func moment(_ time: ZonedTime) -> JSONValue { .object(["date_time": .string(time.rfc3339)]) }

  private static func interval(_ start: ZonedTime, seconds: Int) -> JSONValue {
    .object([
      "time_interval": .object([
        "start_date_time": .string(start.rfc3339),
        "end_date_time": .string(start.adding(seconds: seconds).rfc3339),
      ])
    ])
  }
}
