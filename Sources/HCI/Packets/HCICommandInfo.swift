/// The specification of a command, except its parameters.
public struct HCICommandInfo: Hashable, Sendable {
  public let opcode: HCIOpcode
  /// The name in the specification.
  public let name: String
  /// The section of the Core Specification: `Vol 4, Part E, 7.8.10`.
  public var reference: String { "Vol 4, Part E, \(section)" }
  /// The command's bit in ``SupportedCommands``; nil if none is known.
  public let bit: SupportedCommands.Bit?

  private let section: String

  /// - Parameters:
  ///   - opcode: OGF and OCF
  ///   - name: the name in the specification
  ///   - section: in Vol 4, Part E
  ///   - octet: of ``bit``
  ///   - bit: in Supported Commands, with `octet`
  public init(_ opcode: UInt16, _ name: String, _ section: String, octet: Int? = nil, bit: Int = 0) {
    self.opcode = HCIOpcode(rawValue: opcode)
    self.name = name
    self.section = section
    self.bit = octet.map { SupportedCommands.Bit(octet: $0, bit: bit) }
  }
}
