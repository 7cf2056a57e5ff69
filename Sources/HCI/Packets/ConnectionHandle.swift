import BluetoothCore

/// The controller's number for a link: 12 bits, 0x0000 to 0x0EFF (Core Specification Vol 4, Part E, 5.3.1).
/// A handle may name another link as soon as its own is disconnected.
public struct ConnectionHandle: HCICode {
  /// The twelve bits; what stands above them in a packet is reserved, and dropped.
  public let rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue & 0x0FFF
  }

  /// The greatest number that a link may have.
  public static let highest = ConnectionHandle(rawValue: 0x0EFF)

  /// Under this handle the controllers of some phones and chip makers send debug output as ACL data. Their
  /// logs are full of it. It is no link, and bytes under it that look like L2CAP mean nothing.
  public static let controllerDebug = ConnectionHandle(rawValue: 0x0EDC)
}

extension ConnectionHandle {
  public var description: String { Hex.string(rawValue) }
}
