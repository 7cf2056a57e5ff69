/// A command's number: six bits of group, ten bits of command (Core Specification Vol 4, Part E, 5.4.1).
public struct HCIOpcode: HCICode {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// - Parameters:
  ///   - group: the opcode group field (OGF)
  ///   - command: the opcode command field (OCF)
  public init(group: UInt8, command: UInt16) {
    rawValue = UInt16(group & 0x3F) << 10 | command & 0x3FF
  }

  public var group: UInt8 { UInt8(rawValue >> 10) }
  public var command: UInt16 { rawValue & 0x3FF }
}
