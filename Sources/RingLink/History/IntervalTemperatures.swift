/// A packet of the skin temperatures of a day, as newer rings keep them (ring reference, 6.4).
public struct IntervalTemperatures: BulkContents {
  public typealias Request = DayPacket

  /// 0 is today.
  public var daysAgo: UInt8
  public var minutesPerSlot: UInt8
  /// How many packets the day has.
  public var packets: UInt8
  /// Which of them this is, from 0.
  public var packet: UInt8
  /// Hundredths of a degree Celsius; 0 for none.
  public var values: [UInt16]

  public init(daysAgo: UInt8, minutesPerSlot: UInt8, packets: UInt8, packet: UInt8, values: [UInt16]) {
    self.daysAgo = daysAgo
    self.minutesPerSlot = minutesPerSlot
    self.packets = packets
    self.packet = packet
    self.values = values
  }

  public static let replyForm =
    "Days ago, minutes a value, the number of packets, which of them this is; then hundredths of a degree Celsius (u16 "
    + "LE), 0 for none."

  public init(payload: [UInt8]) throws(BulkContentsError) {
    self.init(daysAgo: 0, minutesPerSlot: 0, packets: 0, packet: 0, values: [])
    var reader = BulkReader(payload)
    guard try !reader.isNothing() else { return }
    daysAgo = try reader.uint8()
    minutesPerSlot = try reader.uint8()
    packets = try reader.uint8()
    packet = try reader.uint8()
    while !reader.isAtEnd { values.append(try reader.uint16()) }
    guard minutesPerSlot > 0 || values.isEmpty else {
      throw .value("a value can't stand for 0 minutes", offset: 1)
    }
  }

  /// One byte 0 if there is nothing.
  public var payload: [UInt8] {
    values.isEmpty
      ? [0] : [daysAgo, minutesPerSlot, packets, packet] + values.flatMap(BulkReader.bytes)
  }
}
