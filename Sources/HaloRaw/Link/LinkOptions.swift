import HaloBluetoothCore

/// A physical layer of LE (Core Specification Vol 6, Part B, 1.1).
public enum PHY: Hashable, Sendable {
  /// One megabit in a second, which all devices have.
  case le1M
  /// Two megabits in a second.
  case le2M
  /// The long range.
  case leCoded
}

/// The properties that a program wants of a link. Those that are nil are left to this stack and to the device.
///
/// ```swift
/// let options = LinkOptions(interval: .milliseconds(15) ... .milliseconds(30), mtu: 185, isRequired: true)
/// let sensor = try await radio.connect(to: .service("180D"), options: options)
/// ```
public struct LinkOptions: Hashable, Sendable {
  /// The time from one connection event to the next: 7.5 ms to 4 s. By default, 7.5 ms to 15 ms.
  public var interval: ClosedRange<Duration>?
  /// How many connection events in a row the peripheral may leave out: 0 to 499. By default, none.
  public var latency: Int?
  /// The time without a packet after which the link is lost: 100 ms to 32 s, and more than twice the longest time between two
  /// events of the peripheral. By default, 4 s, or three times that time.
  public var supervisionTimeout: Duration?
  /// By default, LE 2M where both sides have it.
  public var phy: PHY?
  /// The longest packets to send on the air, 27 to 251 bytes. By default, 251.
  public var dataLength: Int?
  /// The largest ATT PDU, 23 to 517 bytes: the other side may take less. By default, 517. It is agreed on once for a link.
  public var mtu: Int?
  /// Whether a link that has not got all of this within two seconds is an error.
  public var isRequired: Bool
  /// Whether the link to a device with a bond is used as it is, and not encrypted first: for
  /// ``Connection/writeSigned(_:to:)``, which then needs no time for that. Anybody can read it, and pretend to be the device:
  /// read nothing that has to be true.
  public var isLeftInClear: Bool

  public init(
    interval: ClosedRange<Duration>? = nil, latency: Int? = nil, supervisionTimeout: Duration? = nil,
    phy: PHY? = nil, dataLength: Int? = nil, mtu: Int? = nil, isRequired: Bool = false,
    isLeftInClear: Bool = false
  ) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.phy = phy
    self.dataLength = dataLength
    self.mtu = mtu
    self.isRequired = isRequired
    self.isLeftInClear = isLeftInClear
  }

  /// Parameters that Apple's devices accept from a peripheral (Accessory Design Guidelines, "Connection Parameters"): the
  /// interval is a multiple of 15 ms, its range is 15 ms wide, and 30 events at most are left out, for two seconds at most.
  ///
  /// - Parameters:
  ///   - interval: about how long; at least 15 ms, and at most 2 s
  ///   - latency: how many events in a row the peripheral wants to leave out
  public static func forApple(interval: Duration, latency: Int = 0) -> LinkOptions {
    let step = Duration.milliseconds(15)
    let count = max(1, min(132, interval.wholeNanoseconds / step.wholeNanoseconds))
    let (shortest, longest) = (step * Int(count), step * Int(count + 1))
    let most = Int(Duration.seconds(2).wholeNanoseconds / longest.wholeNanoseconds) - 1
    return LinkOptions(
      interval: shortest...longest, latency: max(0, min(latency, 30, most)), supervisionTimeout: .seconds(6))
  }
}

/// The choice whether a lost link is made again.
public struct Reconnection: Hashable, Sendable {
  /// How long it is tried; nil for not at all.
  let time: Duration?

  /// The end of the link is the end of the connection.
  public static let never = Reconnection(time: nil)

  /// It is tried for as long as the connection is used.
  public static let forever = Reconnection(time: .forever)

  /// It is tried for a time. After a link that has brought data, or has lasted for ten seconds, it is the whole time again.
  public static func within(_ time: Duration) -> Self { Self(time: time) }
}
