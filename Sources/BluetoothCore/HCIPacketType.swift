/// The byte in front of each packet on a UART, and in every capture and stream of this package
/// (Core Specification Vol 4, Part A, 2).
public struct HCIPacketType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let command = HCIPacketType(rawValue: 1)
  public static let acl = HCIPacketType(rawValue: 2)
  public static let synchronous = HCIPacketType(rawValue: 3)
  public static let event = HCIPacketType(rawValue: 4)
  public static let isochronous = HCIPacketType(rawValue: 5)
}
