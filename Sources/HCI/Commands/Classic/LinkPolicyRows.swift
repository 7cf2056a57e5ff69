/// Link Policy commands (Core Specification Vol 4, Part E, 7.2).
extension HCICommandInfo {
  static let linkPolicyRows: [Row] = [
    .init(
      0x0801, "Hold Mode", "7.2.1", octet: 4, bit: 1, ends: [.modeChange],
      [.handle, .slots("maximum interval"), .slots("minimum interval")]),
    .init(
      0x0803, "Sniff Mode", "7.2.2", octet: 4, bit: 2, ends: [.modeChange],
      [
        .handle, .slots("maximum interval"), .slots("minimum interval"), .uint16("sniff attempt"),
        .uint16("sniff timeout"),
      ]),
    .init(0x0804, "Exit Sniff Mode", "7.2.3", octet: 4, bit: 3, ends: [.modeChange], [.handle]),
    .init(0x0807, "QoS Setup", "7.2.6", octet: 4, bit: 6, ends: [.qosSetupComplete]),
    .init(0x0809, "Role Discovery", "7.2.7", octet: 4, bit: 7, [.handle], returns: [.handle, .role]),
    .init(0x080B, "Switch Role", "7.2.8", octet: 5, bit: 0, ends: [.roleChange], [.peer, .role]),
    .init(
      0x080C, "Read Link Policy Settings", "7.2.9", octet: 5, bit: 1, [.handle],
      returns: [.handle, .linkPolicy]),
    .init(
      0x080D, "Write Link Policy Settings", "7.2.10", octet: 5, bit: 2, [.handle, .linkPolicy],
      returns: [.handle]),
    .init(0x080E, "Read Default Link Policy Settings", "7.2.11", octet: 5, bit: 3, returns: [.linkPolicy]),
    .init(0x080F, "Write Default Link Policy Settings", "7.2.12", octet: 5, bit: 4, [.linkPolicy]),
    .init(0x0810, "Flow Specification", "7.2.13", octet: 5, bit: 5, ends: [.flowSpecificationComplete]),
    .init(
      0x0811, "Sniff Subrating", "7.2.14", octet: 17, bit: 4,
      [
        .handle, .slots("maximum latency"), .slots("minimum remote timeout"), .slots("minimum local timeout"),
      ], returns: [.handle]),
  ]
}
