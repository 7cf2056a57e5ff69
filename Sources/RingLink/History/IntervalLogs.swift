/// What a ring stores at intervals of a day.
package protocol IntervalQuantity: Hashable, Sendable {
  associatedtype Number: FixedWidthInteger & UnsignedInteger & BitwiseCopyable & Hashable & Sendable
  /// The unit of a number, and the one that stands for none.
  static var note: String { get }
}

/// Requests one of the packets of a day.
package struct DayPacket: BulkRequest, BulkRecord {
  /// 0 is today.
  package var daysAgo: UInt8 = 0
  /// Counted from 0.
  package var packet: UInt8 = 0

  package static let fields: Fields = Fields(Self()) {
    BulkField("days-ago", \.daysAgo, .days)
    BulkField("packet", \.packet, nil, "from 0")
  }
}

/// A packet of the values that a ring has stored of a day at intervals (ring reference, 6.4).
package struct IntervalLog<Quantity: IntervalQuantity>: BulkContents, BulkRecord {
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

  package init(
    daysAgo: UInt8, minutesPerSlot: UInt8, packets: UInt8, packet: UInt8, values: [Quantity.Number]
  ) {
    self.daysAgo = daysAgo
    self.minutesPerSlot = minutesPerSlot
    self.packets = packets
    self.packet = packet
    self.values = values
  }

  package static var fields: Fields {
    Fields(Self(daysAgo: 0, minutesPerSlot: 0, packets: 0, packet: 0, values: [])) {
      BulkField("days-ago", \.daysAgo, .days)
      BulkField("interval", \.minutesPerSlot, .minutes)
      BulkField("packets", \.packets)
      BulkField("packet", \.packet, nil, "from 0")
      BulkField("values", \.values, Quantity.note)
    }
  }

  package init(payload: [UInt8]) throws(BulkContentsError) {
    try self.init(contents: payload)
    guard minutesPerSlot > 0 || values.isEmpty else { throw .value("interval can't be 0", offset: 1) }
  }

  package var payload: [UInt8] { values.isEmpty ? [0] : bytes() }

  package func isAll(of request: Request) -> Bool {
    // Each request is for one packet, and nothing is one, too.
    values.isEmpty || daysAgo == request.daysAgo && packet == request.packet
  }
}

extension RingClient {
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
