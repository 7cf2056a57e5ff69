import HaloBluetoothCore

/// The sport sessions that a ring has stored, without their courses (ring reference, 6.7).
package struct SportLog: BulkContents, BulkRecord {
  package typealias Request = SinceTime

  /// A session: its sport, and numbers of which each has a key.
  package struct Session: BulkRecord {
    package var sport = Sport.other
    package var numbers: [Number] = []
    /// All that follows the length, if it does not have these parts.
    package var unread: [UInt8] = []

    package init(_ sport: Sport, _ numbers: [Number]) {
      self.sport = sport
      self.numbers = numbers
    }

    package static let fields: Fields = Fields(Self(.other, [])) {
      BulkField.sized(
        [.sport(\.sport), explained(BulkField("numbers", \.numbers, .toEnd))], unread: \.unread,
        countsItself: true)
    }

    /// Shows each number on a line of its own.
    private static func explained(_ field: BulkField<Self>) -> BulkField<Self> {
      BulkField(
        text: field.text, read: field.read, write: field.write,
        explain: { session, explanation in
          for number in session.numbers {
            explanation.add(number.key.name, number.text, bytes: number.length)
          }
        })
    }

    /// The number with a key; nil if it is missing, or has a width that no source describes.
    package subscript(_ key: SportKey) -> Int? { numbers.first { $0.key == key }?.value }
  }

  /// A number with its key.
  package struct Number: BulkRecord {
    package var key = SportKey.start
    package var bytes: [UInt8] = []
    /// The bytes from the key on, if there is no key.
    package var unread: [UInt8] = []

    package init(_ key: SportKey, _ value: Int, bytes count: Int) {
      self.key = key
      bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    package static let fields: Fields = Fields(Self(.start, 0, bytes: 0)) {
      BulkField.sized(
        [
          BulkField("key", \.key.rawValue, nil, words: SportKey.words, loneWords: SportKey.loneWords),
          BulkField(bytes: "number", \.bytes),
        ],
        unread: \.unread, countsItself: true)
    }

    fileprivate var length: Int { 1 + (unread.isEmpty ? 1 + bytes.count : unread.count) }

    fileprivate var text: String {
      value.map { "\(FrameFieldValue.number($0, key.unit, nil))" }
        ?? Hex.string(unread.isEmpty ? bytes : unread, separator: " ")
    }

    /// A number of 1, 2 or 4 bytes, little-endian.
    package var value: Int? {
      guard [1, 2, 4].contains(bytes.count) else { return nil }
      return bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  package var sessions: [Session] = []
  /// What follows the last session that can be read.
  package var unread: [UInt8] = []

  package init(sessions: [Session]) { self.sessions = sessions }

  package static let loneContents: [String: LoneSource] = [
    "`key` "
      + SportKey.loneWords.keys.sorted().map { "\($0) \(SportKey.words[$0] ?? "?")" }.joined(separator: ", "):
      .app
  ]

  package static let fields: Fields = Fields(Self(sessions: [])) {
    BulkField("sessions", \.sessions, .counted, unread: \.unread)
  }
}

/// What a number of a stored session is.
package struct SportKey: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

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
}

extension BulkField {
  /// A kind of sport.
  static func sport(_ property: any WritableKeyPath<Record, Sport> & Sendable) -> BulkField {
    BulkField(
      text: "`sport` (a kind of sport)",
      read: { reader, record throws(DecodeError) in
        record[keyPath: property] = Sport(rawValue: try reader.readUInt8())
      },
      write: { $1.write($0[keyPath: property].rawValue) },
      explain: { record, explanation in
        let sport = record[keyPath: property]
        explanation.add("sport", "\(sport) (\(sport.rawValue))", bytes: 1)
      })
  }
}

/// Requests the course of a stored session.
package struct SportCourseRequest: BulkRequest, BulkRecord {
  package var sport = Sport.other
  /// When it began, as the ring reports it.
  package var start: UInt32 = 0

  package static let fields: Fields = Fields(Self()) {
    BulkField.sport(\.sport)
    BulkField("start", \.start, .seconds)
  }
}

/// What precedes the course of a session: how many packets follow, and what a sample has.
package struct SportCourseHeader: BulkContents, BulkRecord {
  package typealias Request = SportCourseRequest

  /// A value of each sample.
  package struct Column: BulkRecord {
    /// In bytes.
    package var width: UInt8 = 1
    package var key = SportKey.rate

    package init(_ key: SportKey, width: UInt8) {
      self.key = key
      self.width = width
    }

    package static let fields: Fields = Fields(Self(.rate, width: 1)) {
      BulkField("width", \.width)
      BulkField("key", \.key.rawValue, nil, words: SportKey.words, loneWords: SportKey.loneWords)
    }
  }

  /// 0 is all right.
  package var status: UInt8 = 0
  package var packets: UInt16 = 0
  /// From one sample to the next, in seconds.
  package var interval: UInt8 = 0
  package var columns: [Column] = []

  package init(packets: UInt16, interval: UInt8, columns: [Column]) {
    self.packets = packets
    self.interval = interval
    self.columns = columns
  }

  package static let fields: Fields = Fields(Self(packets: 0, interval: 0, columns: [])) {
    BulkField("status", \.status)
    BulkField("packets", \.packets)
    BulkField("interval", \.interval, .seconds)
    BulkField("columns", \.columns, .toEnd)
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard status == 0 else { throw .status(status) }
  }

  /// In the order of their keys, as the vendor's software has them.
  var order: [Column] { columns.sorted { $0.key.rawValue < $1.key.rawValue } }
}

/// A packet of the course of a session.
package struct SportCoursePacket: BulkContents, BulkRecord {
  package typealias Request = NoBulkFields

  /// Counted from 1.
  package var packet: UInt16 = 1
  /// One after the other; the header has their form.
  package var samples: [UInt8] = []

  package init(packet: UInt16, samples: [UInt8]) {
    self.packet = packet
    self.samples = samples
  }

  package static let fields: Fields = Fields(Self(packet: 1, samples: [])) {
    BulkField("packet", \.packet, nil, "from 1")
    BulkField(bytes: "samples", \.samples)
  }
}
