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
  public var description: String { TextBuffer.string { writeField(to: &$0) } }

  public func writeField(to text: inout TextBuffer) {
    switch self {
    case .command: text.write("command (1)")
    case .acl: text.write("ACL data (2)")
    case .synchronous: text.write("synchronous data (3)")
    case .event: text.write("event (4)")
    case .isochronous: text.write("isochronous data (5)")
    default: text.write(Int(rawValue))
    }
  }
}
