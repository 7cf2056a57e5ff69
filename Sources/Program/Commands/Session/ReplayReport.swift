import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloRecording

/// The report at the end of a replay at the level of ATT.
@BluetoothActor
struct ReplayReport {
  let peripheral: ReplayedPeripheral
  /// The number of missing answers to show.
  private static let shown = 3

  /// `the capture has no answer: Read Request of 0x0012 (2A19): its value was not read; nearest is packet 81 (and 2 more)`;
  /// nil if nothing was missing.
  var missing: String? {
    var different: [MissingAnswer] = []
    for answer in peripheral.missing where !different.contains(answer) { different.append(answer) }
    var parts: [String] = []
    if !different.isEmpty {
      let rest = different.count - Self.shown
      parts.append(
        "the capture has no answer: "
          + different.prefix(Self.shown).map(\.description).joined(separator: "; ")
          + (rest > 0 ? " (and \(rest) more)" : ""))
    }
    if let unknown { parts.append(unknown) }
    return parts.isEmpty ? nil : parts.joined(separator: "; ") + remedy
  }

  /// `the capture does not show the UUIDs of 0x0010 and 3 more`; nil if it shows those of all.
  private var unknown: String? {
    let all = peripheral.attributes.madeUp
    return all.first.map {
      "the capture does not show the UUID of \($0)" + (all.count > 1 ? " and of \(all.count - 1) more" : "")
    }
  }

  /// Discovery that the capture lacks can come from elsewhere.
  private var remedy: String {
    let discovery: [ATTOpcode] = [
      .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest,
    ]
    guard unknown != nil || peripheral.missing.contains(where: { discovery.contains($0.request) }) else {
      return ""
    }
    return "; if the device was discovered before the capture, give --table FILE (inspect --format jsonl)"
  }

  /// `at the level of ATT: 12 requests answered, 40 notifications`
  var summary: String {
    var parts = [
      "\(Console.counted(peripheral.matched, "request")) answered",
      Console.counted(peripheral.notified, "notification"),
    ]
    let similar = peripheral.adapted.filter { $0.recorded != nil }
    if let first = similar.first, let packet = first.packet {
      parts.append(
        "\(Console.counted(similar.count, "write")) like a recorded one (the first, to \(first.handle), like packet "
          + "\(packet))")
    }
    let empty = peripheral.adapted.count - similar.count
    if empty > 0 { parts.append("\(Console.counted(empty, "request")) for data that the capture lacks") }
    let others = peripheral.richer.prefix(Self.shown).map {
      "connection \($0.number) has \($0.content.values)"
    }
    if !others.isEmpty { parts[1] += " (" + others.joined(separator: ", ") + ")" }
    let all = "at the level of ATT: " + parts.joined(separator: ", ")
    return missing.map { "\(all); \($0)" } ?? all
  }
}
