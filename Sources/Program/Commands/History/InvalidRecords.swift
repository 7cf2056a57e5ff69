import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// The records that are left out while the data of a ring is read: reported on standard error, and kept as bytes.
@BluetoothActor
final class InvalidRecords {
  private var records: [InvalidRecord] = []
  /// Each is reported once, also if it is read again after a loss of the link.
  private var reported: Set<InvalidRecord> = []

  /// Rings have no more than this many records of a kind.
  private static let capacity = 4096

  func listen(to ring: RingClient) {
    ring.onInvalidRecord = { [weak self] in self?.add($0) }
  }

  private func add(_ record: InvalidRecord) {
    guard reported.count < Self.capacity, reported.insert(record).inserted else { return }
    records.append(record)
  }

  /// The records that were left out since the last call.
  func take() -> [InvalidRecord] {
    defer { records = [] }
    return records
  }

  /// Reports them, and prints them as records if these are JSON.
  func print(_ format: OutputFormat) {
    let records = take()
    Self.tell(records)
    if format == .jsonl { Self.print(records, of: nil) }
  }

  /// Names each on standard error, and their number.
  static func tell(_ records: [InvalidRecord]) {
    for record in records { Console.error("left out \(record)") }
    if records.count > 1 { Console.error("left out \(Console.counted(records.count, "record"))") }
  }

  /// - Parameter ring: its address; nil if all records are of one ring
  nonisolated static func print(_ records: [InvalidRecord], of ring: String?) {
    var printer = RecordPrinter(
      .jsonl, ["left_out", "reason", "bytes"] + (ring == nil ? [] : ["ring"]))
    for record in records {
      printer.print(
        [.text(record.kind.rawValue), .text(record.reason), .text(Hex.string(record.bytes))]
          + (ring == nil ? [] : [.text(ring)]), text: "")
    }
  }
}
