import HaloBluetoothCore
import HaloCapture
import HaloStorage
import RingLink

/// The conditions of a session besides its packets. A recording holds them, so that its replay is the same on any machine, in
/// any time zone and state; see `CaptureNote`.
package enum SessionNote: Equatable, Sendable, LosslessStringConvertible {
  /// How far the wall clock is ahead of UTC, in seconds.
  case zone(Int)
  /// The stored record of the ring's clock.
  case clock(ClockRecord)
  /// An automatic measurement that had to be restored: the setting and the numbers of its fields.
  case restore(String, [String: Int])
  /// The ring that the command knew before: it is connected to without a scan, and its handles are not discovered.
  case ring(KnownRing)
  /// The ring may not change the parameters of the link. Without this note it may.
  case keepsParameters
  /// The firmware and the settings of the ring are read for the description of the data. Without this note they are not.
  case describesRing
  /// There is no other ring than the first one that is heard: none is awaited. Without this note others are.
  case oneRing
  /// Whether the ring's firmware was known to have the counted stream; nil if the ring was asked. Without this note it
  /// was neither known nor asked.
  case countedStream(Bool?)

  /// Whether a recording holds all of it.
  package var fits: Bool { description.utf8.count <= CaptureNote.maximumLength }

  package static func all(in texts: [String]) -> [SessionNote] { texts.compactMap { SessionNote($0) } }

  /// `zone utc-offset=3600`, `clock set=1763733600 policy=local utc-offset=3600`, `restore spo2 enabled=1`, `ring [...]` with
  /// address, type, name, firmware, handles and Database Hash, `keep-parameters`, `describe-ring`, `one-ring`,
  /// `counted-stream asked`
  package var description: String {
    switch self {
    case .zone(let offset): "zone utc-offset=\(offset)"
    case .clock(let record): "clock set=\(record.set) policy=\(record.policy) utc-offset=\(record.utcOffset)"
    case .restore(let name, let numbers):
      (["restore", name] + numbers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        .joined(separator: " ")
    case .ring(let ring): "ring \(ring.list.line)"
    case .keepsParameters: "keep-parameters"
    case .describesRing: "describe-ring"
    case .oneRing: "one-ring"
    case .countedStream(let known): "counted-stream \(known.map { $0 ? "yes" : "no" } ?? "asked")"
    }
  }

  package init?(_ description: String) {
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
    case "restore" where parts.count > 1:
      self = .restore(String(parts[1]), values.compactMapValues { Int($0) })
    case "ring":
      guard let list = try? JSONValue(parsing: Array(description.utf8.dropFirst("ring ".utf8.count))),
        let ring = KnownRing(list: list)
      else { return nil }
      self = .ring(ring)
    case "keep-parameters": self = .keepsParameters
    case "describe-ring": self = .describesRing
    case "one-ring": self = .oneRing
    case "counted-stream" where parts.count == 2:
      switch parts[1] {
      case "yes": self = .countedStream(true)
      case "no": self = .countedStream(false)
      case "asked": self = .countedStream(nil)
      default: return nil
      }
    default: return nil
    }
  }
}

extension [SessionNote] {
  /// 0 for a recording without this note, on every machine.
  package var utcOffset: Int {
    lazy.compactMap { if case .zone(let offset) = $0 { offset } else { nil } }.last ?? 0
  }

  /// The offset from UTC that a note states; nil if it states none.
  package static func utcOffset(in note: String) -> Int? {
    if case .zone(let offset)? = SessionNote(note) { offset } else { nil }
  }

  package var clockRecord: ClockRecord? {
    lazy.compactMap { if case .clock(let record) = $0 { record } else { nil } }.last
  }

  package var knownRings: [KnownRing] {
    compactMap { if case .ring(let ring) = $0 { ring } else { nil } }
  }

  package var keepParameters: Bool { contains(.keepsParameters) }

  package var describesRing: Bool { contains(.describesRing) }

  package var hasOneRing: Bool { contains(.oneRing) }

  /// The known answer about the counted stream; nil without a note of it.
  package var countedStream: Bool?? {
    lazy.compactMap { if case .countedStream(let known) = $0 { .some(known) } else { nil } }.last
  }

  package var savedMeasurements: SavedMeasurements {
    var saved = SavedMeasurements()
    for case .restore(let name, let numbers) in self { saved.settings[name] = numbers }
    return saved
  }
}

/// A ring as a list without names, which is short enough for a note. Its clock has a note of its own.
extension KnownRing {
  fileprivate var list: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    let handles = self.handles.map {
      [
        Int($0.write), Int($0.writeProperties), Int($0.notify), Int($0.notifyProperties),
        Int($0.configuration),
      ]
    }
    return .array([
      .string(address), .string(type), text(name), text(firmware),
      .array((handles ?? []).map { .integer($0) }), text(databaseHash),
    ])
  }

  fileprivate init?(list: JSONValue) {
    guard case .array(let items) = list, items.count == 6, let address = try? String(items[0]),
      let type = try? String(items[1]), let ring = BluetoothAddress("\(address)/\(type)"),
      let numbers = try? [UInt16](items[4])
    else { return nil }
    self.init(name: try? String(items[2]), peer: PeerIdentity(ring), layout: nil)
    firmware = try? String(items[3])
    databaseHash = try? String(items[5])
    if numbers.count == 5, let write = UInt8(exactly: numbers[1]), let notify = UInt8(exactly: numbers[3]) {
      handles = Handles(
        write: numbers[0], writeProperties: write, notify: numbers[2], notifyProperties: notify,
        configuration: numbers[4])
    }
    guard isPlausible else { return nil }
  }
}
