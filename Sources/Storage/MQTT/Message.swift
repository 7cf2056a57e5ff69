import HaloBluetoothCore
import HaloStorage

/// A message to publish.
package struct Message: Hashable, Sendable {
  /// The kind of a message, which decides how long it is useful.
  package enum Kind: Hashable, Sendable {
    /// Each is wanted, once and in order: it is kept on disk until the broker has it.
    case record
    /// The newest of its topic is wanted: the broker retains it, and gets it again with each connection.
    case state
    /// A state that is true only as long as the program publishes it. It is not kept on disk.
    case announcement
    /// It is sent once if there is a connection, and otherwise dropped.
    case momentary
  }

  package var topic: String
  package var payload: [UInt8]
  package var kind: Kind

  package init(topic: String, payload: [UInt8], kind: Kind = .record) {
    self.topic = topic
    self.payload = payload
    self.kind = kind
  }

  package init(topic: String, text: String, kind: Kind = .record) {
    self.init(topic: topic, payload: Array(text.utf8), kind: kind)
  }

  /// Whether the broker keeps it for later subscribers.
  package var isRetained: Bool { kind == .state || kind == .announcement }
  package var isMomentary: Bool { kind == .momentary }
}

/// The topics of this package below a prefix.
package struct Topics: Hashable, Sendable {
  package let prefix: String

  package init(_ prefix: String) {
    self.prefix = prefix
  }

  /// Retained: `online`, or `offline`.
  package var status: String { "\(prefix)/status" }
  package static let online = "online"
  package static let offline = "offline"

  /// The address without colons, in lower case: `30353841beef`.
  package static func name(of ring: BluetoothAddress) -> String {
    let digits = String(ring.value, radix: 16)
    return String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
  }

  /// The batches of a command's records.
  package func batches(of ring: BluetoothAddress, _ command: String) -> String {
    "\(prefix)/\(Self.name(of: ring))/\(command)"
  }

  /// Retained: the state of the ring.
  package func state(of ring: BluetoothAddress) -> String { batches(of: ring, "state") }

  /// Retained: the newest of one value of the ring.
  package func value(_ value: RingValue, of ring: BluetoothAddress) -> String {
    "\(state(of: ring))/\(value.rawValue)"
  }

  /// Retained: `online` while this program has the ring, `offline` after a stream of it has ended.
  package func availability(of ring: BluetoothAddress) -> String { batches(of: ring, "availability") }

  /// The actions of a finger.
  package func button(of ring: BluetoothAddress) -> String { batches(of: ring, "button") }

  /// The heart rate has left its limits.
  package func alarm(of ring: BluetoothAddress) -> String { batches(of: ring, "alarm") }
}

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
