/// A day in slots of equal length, each with one byte: how rings keep what they measure at intervals.
public struct SlotDay: Hashable, Sendable {
  public var day: RingDay
  public var minutesPerSlot: Int
  /// From midnight on; 0 stands for no value.
  public var values: [UInt8]

  public init(day: RingDay, minutesPerSlot: Int, values: [UInt8]) {
    self.day = day
    self.minutesPerSlot = minutesPerSlot
    self.values = values
  }

  /// The slots with a value: when they begin, and the value. 255 is taken for no value, too.
  public var readings: [(time: RingTime, value: UInt8)] {
    values.enumerated().compactMap { index, value in
      value == 0 || value == 255 ? nil : (day.midnight.adding(minutes: index * minutesPerSlot), value)
    }
  }
}
