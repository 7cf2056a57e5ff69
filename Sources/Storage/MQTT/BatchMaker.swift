import HaloBluetoothCore
import HaloStorage

/// Puts the records of one ring into batches: `{"session":…,"batch":0,"ring":{…},"records":[…]}`. `batch` counts from 0 in
/// each session, so that the two together name a batch: one that came before is a repeat, and a number that is missing is
/// a loss.
package struct BatchMaker {
  /// The ring of the records.
  private let ring: String
  /// Random: another one for each maker.
  package let session: String
  private var next = 0
  private var records: [UInt8] = []

  /// In bytes, with the text around the records. A longer record is a batch of its own.
  package static let largestBatch = 1 << 16

  /// - Parameters:
  ///   - ring: its address
  ///   - name: its name, if it is known
  ///   - session: names the batches of this maker; random if it is nil
  package init(ring: BluetoothAddress, name: String?, session: String? = nil) {
    self.session = session ?? Self.randomName()
    let members: JSONValue = .members([
      "address": .string(ring.description), "name": name.map { .string($0) } ?? .null,
    ])
    self.ring = members.line
  }

  /// 16 hexadecimal digits.
  package static func randomName() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  package var isEmpty: Bool { records.isEmpty }

  /// Adds a record.
  ///
  /// - Parameter record: a JSON object, with or without a line break at its end
  /// - Returns: the batch that is full, to which the record does not belong
  package mutating func add(_ record: RawSpan) -> [UInt8]? {
    var length = record.byteCount
    while length > 0, record.unsafeLoad(fromByteOffset: length - 1, as: UInt8.self) == UInt8(ascii: "\n") {
      length -= 1
    }
    guard length > 0 else { return nil }
    let envelope = ring.utf8.count + 100
    let isFull = !records.isEmpty && records.count + length + envelope > Self.largestBatch
    let batch = isFull ? take() : nil
    if !records.isEmpty { records.append(UInt8(ascii: ",")) }
    record.extracting(first: length).withUnsafeBytes { records.append(contentsOf: $0) }
    return batch
  }

  /// The batch of the records so far, which are removed.
  package mutating func take() -> [UInt8] {
    let start = "{\"session\":\"\(session)\",\"batch\":\(next),\"ring\":\(ring),\"records\":["
    var batch: [UInt8] = []
    batch.reserveCapacity(start.utf8.count + records.count + 2)
    batch += start.utf8
    batch += records
    batch += "]}".utf8
    next += 1
    records.removeAll(keepingCapacity: true)
    return batch
  }
}
