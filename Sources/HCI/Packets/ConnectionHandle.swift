import BluetoothCore

/// A connection handle: 12 bits, 0x0000 to 0x0EFF (Core Specification Vol 4, Part E, 5.3.1). It may be reused as soon
/// as its link is disconnected.
public struct ConnectionHandle: HCICode {
  /// The twelve bits; the higher bits in a packet are reserved, and dropped.
  public let rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue & 0x0FFF
  }

  /// The highest handle of a link.
  public static let highest = ConnectionHandle(rawValue: 0x0EFF)

  /// The controllers of some phones and chip manufacturers send debug output as ACL data with this handle, which is
  /// frequent in their logs. It is not a link, and data that looks like L2CAP is meaningless.
  public static let controllerDebug = ConnectionHandle(rawValue: 0x0EDC)
}

extension ConnectionHandle {
  public var description: String { Hex.string(rawValue) }
}
