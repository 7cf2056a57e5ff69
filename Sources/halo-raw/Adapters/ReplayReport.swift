import ATT
import BluetoothCore
import HaloRaw
import Recording

/// What a replay at the level of ATT says at its end.
@BluetoothActor
struct ReplayReport {
  private let peripheral: ReplayedPeripheral
  /// The number of missing answers to show.
  private static let shown = 3

  init(_ peripheral: ReplayedPeripheral) { self.peripheral = peripheral }

  /// `Read Request of 0x0012 (2A19): its value was not read; nearest is packet 81 (and 2 more)`; nil if nothing was missing.
  var missing: String? {
    var different: [MissingAnswer] = []
    for answer in peripheral.missing where !different.contains(answer) { different.append(answer) }
    guard !different.isEmpty else { return nil }
    let rest = different.count - Self.shown
    return different.prefix(Self.shown).map(\.description).joined(separator: "; ")
      + (rest > 0 ? " (and \(rest) more)" : "") + remedy
  }

  /// Discovery that the capture lacks can come from elsewhere.
  private var remedy: String {
    let discovery: [ATTOpcode] = [
      .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest,
    ]
    guard peripheral.missing.contains(where: { discovery.contains($0.request) }) else { return "" }
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
    let all = "at the level of ATT: " + parts.joined(separator: ", ")
    return missing.map { "\(all); the capture has no answer: \($0)" } ?? all
  }
}
