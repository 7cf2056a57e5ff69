import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloStorage

/// A ring whose records are described.
struct RingDescription {
  var name: String?
  var address: BluetoothAddress
  var firmware: String?
  /// The settings of its automatic measurements, by the names of settings and fields; nil if they were not read.
  var settings: JSONValue?
  /// At the end; nil before.
  var interval: ConnectionInterval?
  /// The results of measurements, by name.
  var results: [String: JSONValue] = [:]

  /// For people.
  var line: String {
    "ring: \(name.map { "\($0.printable) " } ?? "")\(address) (\(address.kind))"
      + (firmware.map { ", firmware \($0.printable)" } ?? "")
  }

  fileprivate var members: [String: JSONValue] {
    let all: [String: JSONValue?] = [
      "Name": name.map { .string($0) }, "Address": .string(address.description),
      "AddressType": .string(address.kind.description), "Firmware": firmware.map { .string($0) },
      "AutomaticMeasurements": settings,
    ]
    return all.compactMapValues(\.self)
  }
}

/// The description of records: the rings, the clocks, the columns, and at the end the results. The names in its JSON follow
/// those of BIDS (Brain Imaging Data Structure) where it has them.
struct DataDescription {
  var command = ""
  var rings: [RingDescription] = []
  /// Whether there is a list of rings, each with its results.
  var isOfSeveral = false
  var columns: [String] = []
  /// The start, as time of day and on the clock of `t`.
  var start = (time: "", clock: Instant.zero)
  var end: String?
  var intervalAsked = ConnectionParameters.fast

  private static let clockText =
    "t counts from the first record, on a clock that is never set; time is the same receive time as time of day"

  /// For people.
  var lines: [String] {
    ["halo-raw \(HelpPage.version): \(command.printable)"] + rings.map(\.line) + [
      "start: \(start.time), \(seconds(start.clock)) s on the clock of t",
      Self.clockText,
    ]
  }

  private func seconds(_ time: Instant) -> String { DecimalText.string(time.nanoseconds / 1000, places: 6) }

  /// The first record of jsonl.
  var record: JSONValue {
    .object(["kind": .string("header"), "header": json])
  }

  var json: JSONValue {
    var members: [String: JSONValue] = [
      "GeneratedBy": .object([
        "Name": .string("halo-raw"), "Version": .string(HelpPage.version), "Command": .string(command),
      ]),
      "Start": .string(start.time), "End": end.map { .string($0) } ?? .null,
      "Clock": .object([
        "Description": .string(Self.clockText), "StartTime_s": .number(Double(start.clock.nanoseconds) / 1e9),
        "Start": .string(start.time),
      ]),
      "Columns": .array(columns.map { .string($0) }),
    ]
    for column in columns {
      guard let meaning = ColumnMeaning.all[column] else { continue }
      members[column] = .members([
        "Description": .string(meaning.text), "Units": meaning.unit.map { .string($0) },
      ])
    }
    guard isOfSeveral else {
      for ring in rings {
        members["Ring"] = .object(ring.members)
        members["ConnectionInterval_ms"] = intervals(of: ring)
        members.merge(ring.results) { own, _ in own }
      }
      return .object(members)
    }
    let all = rings.map { ring in
      var members = ring.members
      members["ConnectionInterval_ms"] = intervals(of: ring)
      return JSONValue.object(members.merging(ring.results) { own, _ in own })
    }
    members["Rings"] = .array(all)
    return .object(members)
  }

  private func intervals(of ring: RingDescription) -> JSONValue {
    .members([
      "AskedMin": .number(milliseconds(intervalAsked.intervalMin)),
      "AskedMax": .number(milliseconds(intervalAsked.intervalMax)),
      "AtEnd": ring.interval.map { .number(milliseconds($0)) },
    ])
  }

  private func milliseconds(_ interval: ConnectionInterval) -> Double {
    Double(interval.duration.wholeNanoseconds) / 1e6
  }
}

/// The contents of a column of a live command.
private struct ColumnMeaning {
  var text: String
  var unit: String?

  static let all: [String: ColumnMeaning] = [
    "t": .init(text: "time since the first record, on a clock that is never set", unit: "s"),
    "time": .init(text: "the same receive time as time of day, ISO 8601 with the offset from UTC"),
    "ring": .init(text: "the address of the device"),
    "seq": .init(text: "counts the records of each kind from 0, also over a new connection"),
    "kind": .init(text: "what the record is; gap, rejected, dropped, lost and clock are marks, no samples"),
    "raw": .init(text: "the light at the sensor; empty where the sensor gave none", unit: "counts"),
    "max": .init(text: "the largest value in the ring's own window", unit: "counts"),
    "min": .init(text: "the smallest value in the ring's own window", unit: "counts"),
    "diff": .init(text: "the difference of max and min", unit: "counts"),
    "x_g": .init(text: "acceleration along x", unit: "g"),
    "y_g": .init(text: "acceleration along y", unit: "g"),
    "z_g": .init(text: "acceleration along z", unit: "g"),
    "raw_x": .init(text: "acceleration along x, as the sensor gives it", unit: "counts"),
    "raw_y": .init(text: "acceleration along y, as the sensor gives it", unit: "counts"),
    "raw_z": .init(text: "acceleration along z, as the sensor gives it", unit: "counts"),
    "infrared": .init(text: "infrared light at the sensor", unit: "counts"),
    "packet": .init(text: "the number of the packet of the counted stream, which goes on beyond 255"),
    "sent": .init(text: "the bytes of the values as the ring sent them; their order is not proved"),
    "beat_s": .init(
      text: "the time of a beat on the clock of t: the middle of the rise of the wave", unit: "s"),
    "interval_s": .init(
      text: "the time since the beat before; empty if one of the two is not accepted", unit: "s"),
    "bpm": .init(text: "the rate of the pulse in the last ten seconds", unit: "beats per minute"),
    "quality": .init(text: "how good a beat is, 0 to 1; it is accepted from 0.5 on"),
    "note": .init(text: "of a mark: why, how many, or the bytes; of an event: what happened"),
    "battery_percent": .init(text: "the charge of the battery", unit: "%"),
    "charging": .init(text: "whether the ring is on its charger"),
    "heart_rate_bpm": .init(text: "the heart rate", unit: "beats per minute"),
    "spo2_percent": .init(text: "the oxygen saturation of the blood", unit: "%"),
    "hrv_ms": .init(text: "the heart rate variability", unit: "ms"),
    "stress": .init(text: "stress, 1 to 99 on the vendor's scale"),
    "systolic_mmhg": .init(text: "the systolic blood pressure", unit: "mmHg"),
    "diastolic_mmhg": .init(text: "the diastolic blood pressure", unit: "mmHg"),
    "blood_sugar": .init(text: "a number of unknown unit"),
    "fatigue": .init(text: "a number of unknown meaning"),
    "interval_ms": .init(text: "the time between two heart beats", unit: "ms"),
    "steps": .init(text: "the steps since midnight, or of the session"),
    "distance_m": .init(text: "the distance since midnight, or of the session", unit: "m"),
    "duration_s": .init(text: "the duration of the session", unit: "s"),
    "energy_kcal": .init(text: "the energy since midnight, or of the session", unit: "kcal"),
    "estimate": .init(text: "whether the firmware may have made up the value"),
  ]
}
