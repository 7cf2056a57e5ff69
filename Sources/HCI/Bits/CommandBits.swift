import HaloBluetoothCore

extension SupportedCommands {
  /// The bits of Supported Commands (Core Specification Vol 4, Part E, 6.27), with the names of the commands.
  static let bits = BitNames(
    Dictionary(
      HCICommandCatalog.standard.infos.compactMap { info in
        info.bit.map { ($0.octet * 8 + $0.bit, info.name) }
      },
      uniquingKeysWith: { first, _ in first }),
    plural: "commands", numbering: .ofOctets)
}
