import BluetoothCore
import KnownDevices
import RingLink

/// What a session depends on besides its packets. A recording holds it, so that its replay is the same on any machine, in
/// any time zone and state; see `CaptureNote`.
enum SessionNote: Equatable, Sendable {
  /// How far the wall clock is ahead of UTC, in seconds.
  case zone(Int)
  /// The stored record of the ring's clock.
  case clock(ClockRecord)
  /// An automatic measurement that had to be restored: the setting and the numbers of its fields.
  case restore(String, [String: Int])
  /// Known rings are used, and the search for a ring adapts to what is heard; whether rings are stored. Recordings of earlier
  /// versions do not have it.
  case rings(isStored: Bool)
  /// A known ring that was used.
  case known(KnownRing)

  static func all(in texts: [String]) -> [SessionNote] { texts.compactMap { SessionNote($0) } }
}

extension [SessionNote] {
  /// 0 for a recording without this note, on every machine.
  var utcOffset: Int {
    lazy.compactMap { if case .zone(let offset) = $0 { offset } else { nil } }.last ?? 0
  }

  /// The offset from UTC that a note states; nil if it states none.
  static func utcOffset(in note: String) -> Int? {
    if case .zone(let offset)? = SessionNote(note) { offset } else { nil }
  }

  var clockRecord: ClockRecord? {
    lazy.compactMap { if case .clock(let record) = $0 { record } else { nil } }.last
  }

  /// Whether known rings were used, and rings stored; nil in recordings of earlier versions.
  var storesRings: Bool? {
    lazy.compactMap { if case .rings(let isStored) = $0 { isStored } else { nil } }.first
  }

  var knownRings: [KnownRing] {
    compactMap { if case .known(let ring) = $0 { ring } else { nil } }
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
    case .rings(let isStored): "rings stored=\(isStored ? 1 : 0)"
    case .known(let ring): ring.noteText
    }
  }

  init?(_ description: String) {
    let parts = description.split(separator: " ")
    var values: [String: String] = [:]
    for part in parts {
      let pair = part.split(separator: "=", maxSplits: 1)
      if pair.count == 2 { values[String(pair[0])] = String(pair[1]) }
    }
    func offset() -> Int? {
      values["utc-offset"].flatMap { Int($0) }.flatMap { (-86400...86400).contains($0) ? $0 : nil }
    }
    switch parts.first {
    case "zone":
      guard let offset = offset() else { return nil }
      self = .zone(offset)
    case "clock":
      guard let set = values["set"].flatMap({ UInt32($0) }), let offset = offset(),
        let policy = values["policy"].flatMap({ TimePolicy(rawValue: $0) })
      else { return nil }
      self = .clock(ClockRecord(set: Int(set), policy: policy, utcOffset: offset))
    case "known":
      guard let ring = KnownRing(noteValues: values) else { return nil }
      self = .known(ring)
    case "rings":
      guard let number = values["stored"].flatMap({ Int($0) }), (0...1).contains(number) else { return nil }
      self = .rings(isStored: number == 1)
    case "restore" where parts.count > 1:
      self = .restore(String(parts[1]), values.compactMapValues { Int($0) })
    default: return nil
    }
  }
}

/// A ring in a note, which is short: numbers, and texts as hexadecimal digits.
extension KnownRing {
  fileprivate var noteText: String {
    var parts = ["known", "ring=\(address)/\(type)"]
    if let handles {
      let numbers = [
        handles.write, UInt16(handles.writeProperties), handles.notify, UInt16(handles.notifyProperties),
        handles.configuration,
      ]
      parts.append("handles=" + numbers.map(String.init).joined(separator: ","))
    }
    if let databaseHash { parts.append("hash=\(databaseHash)") }
    if let firmware { parts.append("firmware=\(Hex.string(Array(firmware.utf8)))") }
    if let name { parts.append("name=\(Hex.string(Array(name.utf8)))") }
    return parts.joined(separator: " ")
  }

  fileprivate init?(noteValues values: [String: String]) {
    func text(_ key: String) -> String? {
      values[key].flatMap { Hex.bytes($0) }.map { String(decoding: $0, as: UTF8.self) }
    }
    guard let address = values["ring"].flatMap({ BluetoothAddress($0) }) else { return nil }
    self.init(name: text("name"), address: address, layout: nil)
    firmware = text("firmware")
    databaseHash = values["hash"]
    let numbers = (values["handles"] ?? "").split(separator: ",").compactMap { UInt16($0) }
    if numbers.count == 5 {
      handles = Handles(
        write: numbers[0], writeProperties: UInt8(truncatingIfNeeded: numbers[1]), notify: numbers[2],
        notifyProperties: UInt8(truncatingIfNeeded: numbers[3]), configuration: numbers[4])
    }
    guard isPlausible else { return nil }
  }
}
