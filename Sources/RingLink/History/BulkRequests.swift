/// Asks for nights. Newer rings ignore what older ones want, and the other way round (ring reference, 6.1).
public enum SleepRequest: BulkRequest, CaseIterable {
  /// In the protocol of newer rings.
  case all
  /// In the protocol of older rings.
  case allOfOlder
  /// Of rings that are older still.
  case empty
  /// In the protocol of newer rings.
  case today

  public static let form =
    "`FF 01`: all days; `00 01`: today. Older rings want `FF` for all days, or nothing at all."

  public var payload: [UInt8] {
    switch self {
    case .all: [0xFF, 1]
    case .allOfOlder: [0xFF]
    case .empty: []
    case .today: [0, 1]
    }
  }

  public init?(payload: [UInt8]) {
    guard let request = Self.allCases.first(where: { $0.payload == payload }) else { return nil }
    self = request
  }
}

/// Asks for one day or for all.
public enum DayOrAll: BulkRequest {
  case all
  /// 0 is today.
  case daysAgo(UInt8)

  public static let form = "`FF`: all days; else how many days ago, 0 is today."

  public var payload: [UInt8] {
    switch self {
    case .all: [0xFF]
    case .daysAgo(let days): [days]
    }
  }

  /// Nothing at all stands for all days.
  public init?(payload: [UInt8]) {
    guard payload.count <= 1 else { return nil }
    self = payload.first.map { $0 == 0xFF ? .all : .daysAgo($0) } ?? .all
  }
}

/// Asks for so many days up to today.
public struct DayCount: BulkRequest {
  public var days: UInt8

  public init(days: UInt8) {
    self.days = days
  }

  public static let form = "The number of days, one byte."

  public var payload: [UInt8] { [days] }

  public init?(payload: [UInt8]) {
    guard payload.count == 1 else { return nil }
    days = payload[0]
  }
}

/// Asks for one of the packets of a day.
public struct DayPacket: BulkRequest {
  /// 0 is today.
  public var daysAgo: UInt8
  /// Counted from 0.
  public var packet: UInt8

  public init(daysAgo: UInt8, packet: UInt8) {
    self.daysAgo = daysAgo
    self.packet = packet
  }

  public static let form = "How many days ago, 0 is today; the number of the packet, from 0."

  public var payload: [UInt8] { [daysAgo, packet] }

  public init?(payload: [UInt8]) {
    guard payload.count == 2 else { return nil }
    self.init(daysAgo: payload[0], packet: payload[1])
  }
}

/// Asks for the only thing that there is.
public struct NoBulkFields: BulkRequest {
  public init() {}

  public static let form = "Empty."

  public var payload: [UInt8] { [] }

  public init?(payload: [UInt8]) {
    guard payload.isEmpty else { return nil }
  }
}
