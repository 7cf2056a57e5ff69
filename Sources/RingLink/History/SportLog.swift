import HaloBluetoothCore

/// A sport session that a ring has stored, without its course (ring reference, 6.7).
package struct SportRecord: StoredItem {
  package typealias Request = SinceTime

  package static let name: StaticString = "sessions"
  package static let countName: StaticString? = "number of sessions"

  package static let loneContents: [String: LoneSource] = [
    "`key` "
      + SportKey.loneWords.keys.sorted().map { "\($0) \(SportKey.words[$0] ?? "?")" }.joined(separator: ", "):
      .app
  ]

  /// Its sport, and numbers of which each has a key.
  package struct Contents: PacketFields, Hashable {
    package var sport = Sport.other
    package var numbers: [SportNumber] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("sport", &sport, .noted(.plain, "a kind of sport"))
      try fields.values(
        "numbers", &numbers, like: SportNumber(.start, 0, bytes: 0), count: nil,
        .described(
          "`numbers` up to the end, each: the number of bytes from here on, `key` (\(SportKey.list)), "
            + "`number` up to the end"))
    }
  }

  private var bytes: [UInt8] = []

  package init() {}

  package init(_ sport: Sport, _ numbers: [SportNumber]) {
    bytes = Contents { ($0.sport, $0.numbers) = (sport, numbers) }.encoded()
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.block(&bytes, as: Contents.self, countsItself: true)
  }

  /// Nil if its bytes do not have these parts.
  package var contents: Contents? { try? Contents(whole: bytes) }
}

package typealias SportLog = StoredLog<SportRecord>

extension [SportNumber] {
  /// The number with a key; nil if it is missing, or has a width that no source describes.
  package subscript(_ key: SportKey) -> Int? { first { $0.key == key }?.value }
}

/// A number of a session with its key: a byte with the length of all, the key, and the number.
package struct SportNumber: KeyedValue, Hashable {
  package var key: SportKey
  package var bytes: [UInt8]

  package init(_ key: SportKey, _ value: Int, bytes count: Int) {
    self.key = key
    bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    let length = try reader.readUInt8()
    guard length > 1 else { throw reader.invalid("a number can't have \(length) bytes") }
    key = try SportKey(parsing: &reader)
    bytes = try reader.readBytes(Int(length) - 2)
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(UInt8(clamping: bytes.count + 2))
    writer.write(key.rawValue)
    writer.write(bytes.prefix(253))
  }

  /// A number of 1, 2 or 4 bytes, little-endian.
  package var value: Int? {
    guard [1, 2, 4].contains(bytes.count) else { return nil }
    return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  var name: String { key.name }

  package var fieldNumber: UInt64? { value.map { UInt64($0) } }

  package var description: String {
    value.map { "\(FrameFieldValue.number($0, key.unit, nil))" } ?? Hex.string(bytes, separator: " ")
  }
}

/// The meaning of a number of a stored session.
package struct SportKey: FieldCode, Hashable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `rate (17)`; `18` if it is not known.
  package var description: String {
    let number = Int(rawValue)
    return
      "\(FrameFieldValue.number(number, nil, Self.words[number]))\(LoneSource.suffix(Self.loneWords[number]))"
  }

  /// When it began: seconds since 1970 of the ring's wall clock.
  package static let start = SportKey(rawValue: 1)
  /// In seconds.
  package static let duration = SportKey(rawValue: 2)
  /// In meters.
  package static let distance = SportKey(rawValue: 3)
  /// Small calories.
  package static let energy = SportKey(rawValue: 4)
  /// In beats per minute.
  package static let averageRate = SportKey(rawValue: 7)
  package static let minimumRate = SportKey(rawValue: 8)
  package static let maximumRate = SportKey(rawValue: 9)
  package static let steps = SportKey(rawValue: 19)
  /// In the course of a session: in beats per minute.
  package static let rate = SportKey(rawValue: 17)

  /// The numbers that a COLMI R10 has not sent (ring reference, 6.7).
  static let loneWords: [Int: LoneSource] = [10: .app, 11: .app, 12: .app, 14: .app]

  private static let known: [UInt8: (name: String, unit: RingUnit?)] = [
    1: ("start", .seconds), 2: ("duration", .seconds), 3: ("distance", .meters), 4: ("energy", .calories),
    5: ("average speed", .centimetersPerSecond), 6: ("maximum speed", .centimetersPerSecond),
    7: ("average rate", .beatsPerMinute), 8: ("minimum rate", .beatsPerMinute),
    9: ("maximum rate", .beatsPerMinute), 10: ("elevation", .centimeters), 11: ("uphill", .centimeters),
    12: ("downhill", .centimeters), 13: ("step rate", nil), 14: ("count", nil),
    17: ("rate", .beatsPerMinute), 19: ("steps", nil),
  ]

  /// `duration`; `key 99` if it is not known.
  package var name: String { Self.known[rawValue]?.name ?? "key \(rawValue)" }
  package var unit: RingUnit? { Self.known[rawValue]?.unit }

  /// The names, by their numbers.
  static let words = known.reduce(into: [:]) { $0[Int($1.key)] = $1.value.name }

  /// `1 start, 2 duration`: all of them.
  static let list = words.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
}

/// A byte of a payload: `walk (4)`.
extension Sport: FieldCode {
  @usableFromInline package var fieldText: String { "\(self) (\(rawValue))" }
}

/// Requests the course of a stored session.
package struct SportCourseRequest: BulkRequest, PacketFields {
  package var sport = Sport.other
  /// When it began, as the ring reports it.
  package var start: UInt32 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("sport", &sport, .noted(.plain, "a kind of sport"))
    try fields.value("start", &start, .unit("s"))
  }
}

/// The header before the course of a session: how many packets follow, and the fields of a sample.
package struct SportCourseHeader: BulkContents {
  package typealias Request = SportCourseRequest

  /// A value of each sample.
  package struct Column: PacketFields, Hashable {
    /// In bytes.
    package var width: UInt8 = 1
    package var key = SportKey.rate

    package init() {}

    package init(_ key: SportKey, width: UInt8) { (self.key, self.width) = (key, width) }

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("width", &width)
      try fields.value("key", &key, .noted(.plain, SportKey.list))
    }
  }

  /// 0 is all right.
  package var status: UInt8 = 0
  package var packets: UInt16 = 0
  /// From one sample to the next, in seconds.
  package var interval: UInt8 = 0
  package var columns: [Column] = []

  package init() {}

  package init(packets: UInt16, interval: UInt8, columns: [Column]) {
    (self.packets, self.interval, self.columns) = (packets, interval, columns)
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("status", &status)
    try fields.value("packets", &packets)
    try fields.value("interval", &interval, .unit("s"))
    try fields.items("columns", &columns)
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard status == 0 else { throw .status(status) }
  }

  /// In the order of their keys, as the vendor's software has them.
  var order: [Column] { columns.sorted { $0.key.rawValue < $1.key.rawValue } }
}

/// A packet of the course of a session.
package struct SportCoursePacket: BulkContents {
  package typealias Request = NoBulkFields

  /// Counted from 1.
  package var packet: UInt16 = 1
  /// One after the other; the header has their form.
  package var samples: [UInt8] = []

  package init() {}

  package init(packet: UInt16, samples: [UInt8]) { (self.packet, self.samples) = (packet, samples) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("packet", &packet, .noted(.plain, "from 1"))
    try fields.rest("samples", &samples)
  }
}
