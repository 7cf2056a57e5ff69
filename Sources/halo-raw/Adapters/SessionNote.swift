import RingLink

/// What a session knows beforehand and no packet tells. A recording keeps it, so that its replay is the same whatever
/// the machine, its zone and its state are; see `CaptureNote`.
enum SessionNote: Equatable, Sendable {
  /// How far the wall clock is ahead of UTC, in seconds.
  case zone(Int)
  /// What was remembered of the ring's clock.
  case clock(ClockRecord)
  /// What had to be restored of the ring's own measurements: a setting, and the numbers of its fields.
  case restore(String, [String: Int])

  static func all(in texts: [String]) -> [SessionNote] { texts.compactMap { SessionNote($0) } }
}

extension [SessionNote] {
  /// A recording that does not tell is taken as one made in UTC, on every machine alike.
  var utcOffset: Int {
    lazy.compactMap { if case .zone(let offset) = $0 { offset } else { nil } }.last ?? 0
  }

  var clockRecord: ClockRecord? {
    lazy.compactMap { if case .clock(let record) = $0 { record } else { nil } }.last
  }

  var savedMeasurements: SavedMeasurements {
    var saved = SavedMeasurements()
    for case .restore(let name, let numbers) in self { saved.settings[name] = numbers }
    return saved
  }
}

extension SessionNote: LosslessStringConvertible {
  /// `zone utc-offset=3600`, `clock set=1763733600 policy=local utc-offset=3600`, `restore spo2 enabled=1`
  var description: String {
    switch self {
    case .zone(let offset): "zone utc-offset=\(offset)"
    case .clock(let record): "clock set=\(record.set) policy=\(record.policy) utc-offset=\(record.utcOffset)"
    case .restore(let name, let numbers):
      (["restore", name] + numbers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        .joined(separator: " ")
    }
  }

  init?(_ description: String) {
    let words = description.split(separator: " ")
    var values: [String: String] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
    }
    func offset() -> Int? {
      values["utc-offset"].flatMap { Int($0) }.flatMap { (-86400...86400).contains($0) ? $0 : nil }
    }
    switch words.first {
    case "zone":
      guard let offset = offset() else { return nil }
      self = .zone(offset)
    case "clock":
      guard let set = values["set"].flatMap({ UInt32($0) }), let offset = offset(),
        let policy = values["policy"].flatMap({ TimePolicy(rawValue: $0) })
      else { return nil }
      self = .clock(ClockRecord(set: Int(set), policy: policy, utcOffset: offset))
    case "restore" where words.count > 1:
      self = .restore(String(words[1]), values.compactMapValues { Int($0) })
    default: return nil
    }
  }
}
