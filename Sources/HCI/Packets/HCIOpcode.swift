import BluetoothCore

/// A command opcode: six bits of group, ten bits of command (Core Specification Vol 4, Part E, 5.4.1).
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

  /// OGF, the upper 6 bits.
  public var group: UInt8 { UInt8(rawValue >> 10) }
  /// OCF, the lower 10 bits.
  public var command: UInt16 { rawValue & 0x3FF }
}

extension HCIOpcode {
  /// No command: an event uses it to return command credits without answering a command (Core Specification Vol 4, Part
  /// E, 4.4).
  public static let noOperation = HCIOpcode(rawValue: 0)

  /// Whether it is a vendor-specific command.
  public var isVendorSpecific: Bool { group == 0x3F }

  /// The command's name in the specification; nil if unknown.
  public var name: String? {
    isVendorSpecific ? "Vendor Specific" : HCICommandCatalog.standard[self]?.info.name
  }
}

extension HCIOpcode {
  /// Name and number: `LE Set Scan Enable (0x200c)`.
  public var description: String {
    let number = Hex.string(rawValue)
    return name.map { "\($0) (\(number))" } ?? "command \(number)"
  }
}
