/// The H4 packet type indicator: the byte before each packet on a UART, and in all captures and streams of this package
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

extension HCIPacketType: FieldCode {
  public var description: String {
    switch self {
    case .command: "command (1)"
    case .acl: "ACL data (2)"
    case .synchronous: "synchronous data (3)"
    case .event: "event (4)"
    case .isochronous: "isochronous data (5)"
    default: "\(rawValue)"
    }
  }
}
