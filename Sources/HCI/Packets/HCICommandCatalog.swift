/// Looks up commands by opcode.
public struct HCICommandCatalog: Sendable {
  public struct Entry: Sendable {
    public var info: HCICommandInfo
    /// The type that declares the command; nil if its parameters are not declared.
    public var type: (any HCICommand.Type)?
  }

  /// All known commands.
  public static let standard = HCICommandCatalog(HCICommandInfo.declared, others: HCICommandInfo.others)

  private var entries: [HCIOpcode: Entry] = [:]

  /// - Parameters:
  ///   - types: commands with declared parameters
  ///   - others: commands of which only the name is known
  public init(_ types: [any HCICommand.Type], others: [HCICommandInfo] = []) {
    for info in others { entries[info.opcode] = Entry(info: info) }
    for type in types { entries[type.opcode] = Entry(info: type.info, type: type) }
  }

  public subscript(_ opcode: HCIOpcode) -> Entry? { entries[opcode] }

  /// The name of a command, or its number.
  public func name(of opcode: HCIOpcode) -> String {
    entries[opcode]?.info.name ?? opcode.description
  }
}
