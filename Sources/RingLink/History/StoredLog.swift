import HaloBluetoothCore

/// A part of a bulk payload that is a row of such parts: a night, a day, a session.
package protocol StoredItem: PacketFields, Hashable {
  associatedtype Request: BulkRequest

  /// The name of each.
  static var name: StaticString { get }

  /// The name of the byte with their number; nil if they go up to the end.
  static var countName: StaticString? { get }

  /// See ``BulkContents/loneContents``.
  static var loneContents: [String: LoneSource] { get }

  /// Whether these are all that was requested, so that no other frame of the answer follows.
  static func areAll(_ items: [Self], of request: Request) -> Bool
}

extension StoredItem {
  package static var name: StaticString { "days" }
  package static var countName: StaticString? { nil }
  package static var loneContents: [String: LoneSource] { [:] }

  /// Most answers give no sign of it.
  package static func areAll(_ items: [Self], of request: Request) -> Bool { false }
}

/// The items that a ring has stored.
package struct StoredLog<Item: StoredItem>: BulkContents {
  package typealias Request = Item.Request

  package var items: [Item] = []
  /// The bytes behind the last item that can be read.
  package var unread: [UInt8] = []

  package init() {}

  package init(_ items: [Item]) { self.items = items }

  package static var loneContents: [String: LoneSource] { Item.loneContents }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.items(Item.name, &items, counted: Item.countName, unread: &unread)
  }

  package func isAll(of request: Request) -> Bool { Item.areAll(items, of: request) }
}

extension RingClient {
  /// The stored items of all frames of an answer. The bytes that are no items are reported as an odd record.
  ///
  /// - Parameter reason: why these bytes are left out
  func stored<Item>(
    _ kind: HistoryKind, _ query: BulkQuery<StoredLog<Item>>, _ request: Item.Request,
    unread reason: String = "it is cut off", progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> [Item] {
    let logs = try await bulk(query, request, progress: progress)
    for log in logs where !log.unread.isEmpty { leaveOut(kind, reason, log.unread) }
    return logs.flatMap(\.items)
  }

  /// Reads the packets of a day, one after the other.
  ///
  /// - Parameters:
  ///   - kind: that of an answer that is left out, since it is about another day or packet
  ///   - valuesPerSlot: the most that a ring may send
  func intervalLog<Quantity>(
    _ kind: HistoryKind, _ query: BulkQuery<IntervalLog<Quantity>>, on day: RingDay, now: RingTime,
    valuesPerSlot: Int = 1
  ) async throws(RingError) -> DaySlots<Quantity.Number> {
    var log = DaySlots<Quantity.Number>.empty
    guard let daysAgo = now.daysSince(day) else { return log }
    for packet in UInt8(0)...254 {
      let request = DayPacket(daysAgo: daysAgo, packet: packet)
      let packets = try await bulk(query, request).filter { !$0.values.isEmpty }
      guard !packets.isEmpty else { break }
      guard let contents = packets.first(where: { $0.isAll(of: request) }) else {
        for other in packets {
          leaveOut(kind, "it is not packet \(packet) of that day, which was asked for", other.payload)
        }
        break
      }
      log.minutesPerSlot = Int(contents.minutesPerSlot)
      log.values += contents.values
      guard packet + 1 < contents.packets, log.values.count < log.slotsOfDay * valuesPerSlot else { break }
    }
    return log
  }
}

/// A quantity that a ring stores at intervals of a day.
package protocol IntervalQuantity: Hashable, Sendable {
  associatedtype Number: FixedWidthInteger & FieldValue
  /// The unit of a number, and the one that stands for none.
  static var note: String { get }
}

/// Requests one of the packets of a day.
package struct DayPacket: BulkRequest, PacketFields {
  /// 0 is today.
  package var daysAgo: UInt8 = 0
  /// Counted from 0.
  package var packet: UInt8 = 0

  package init() {}

  package init(daysAgo: UInt8, packet: UInt8) { (self.daysAgo, self.packet) = (daysAgo, packet) }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    try fields.value("packet", &packet, .noted(.plain, "from 0"))
  }
}

/// A packet of the values that a ring has stored of a day at intervals (ring reference, 6.4).
package struct IntervalLog<Quantity: IntervalQuantity>: BulkContents {
  package typealias Request = DayPacket

  /// 0 is today.
  package var daysAgo: UInt8 = 0
  /// The length of a slot, in minutes.
  package var minutesPerSlot: UInt8 = 0
  /// The number of packets of the day.
  package var packets: UInt8 = 0
  /// The index of this packet, from 0.
  package var packet: UInt8 = 0
  package var values: [Quantity.Number] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("days-ago", &daysAgo, .unit("d"))
    try fields.value("interval", &minutesPerSlot, .unit("min"))
    try fields.value("packets", &packets)
    try fields.value("packet", &packet, .noted(.plain, "from 0"))
    try fields.values("values", &values, like: 0, count: nil, .noted(.plain, Quantity.note))
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard minutesPerSlot > 0 || values.isEmpty else { throw .value("interval can't be 0", offset: 1) }
  }

  package var payload: [UInt8] { values.isEmpty ? [0] : encoded() }

  package func isAll(of request: Request) -> Bool {
    // Each request is for one packet, and nothing is one, too.
    values.isEmpty || daysAgo == request.daysAgo && packet == request.packet
  }
}
