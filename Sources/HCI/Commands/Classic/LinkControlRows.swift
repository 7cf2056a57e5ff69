import HaloBluetoothCore

/// Link Control commands (Core Specification Vol 4, Part E, 7.1).
extension HCICommandInfo {
  static let linkControlRows: [Row] = [
    .init(
      0x0401, "Inquiry", "7.1.1", octet: 0, bit: 0, ends: [.inquiryComplete],
      [
        .value("LAP", UInt24(), .names([0x9E8B33: "general inquiry", 0x9E8B00: "limited inquiry"])),
        .uint8("inquiry length", .unit("x 1.28 s")), .uint8("responses", .names([0: "no limit"])),
      ]),
    .init(0x0402, "Inquiry Cancel", "7.1.2", octet: 0, bit: 1),
    .init(0x0403, "Periodic Inquiry Mode", "7.1.3", octet: 0, bit: 2),
    .init(0x0404, "Exit Periodic Inquiry Mode", "7.1.4", octet: 0, bit: 3),
    .init(
      0x0405, "Create Connection", "7.1.5", octet: 0, bit: 4, ends: [.connectionComplete],
      [.peer, .packetTypes, .pageParameters, .flag("allow role switch")]),
    .init(0x0408, "Create Connection Cancel", "7.1.7", octet: 0, bit: 7, [.peer], returns: [.peer]),
    .init(
      0x0409, "Accept Connection Request", "7.1.8", octet: 1, bit: 0, ends: [.connectionComplete],
      [.peer, .role]),
    .init(
      0x040A, "Reject Connection Request", "7.1.9", octet: 1, bit: 1, ends: [.connectionComplete],
      [.peer, .reason]),
    .init(
      0x040B, "Link Key Request Reply", "7.1.10", octet: 1, bit: 2, [.peer, .bytes("link key", 16, .key)],
      returns: [.peer]),
    .init(0x040C, "Link Key Request Negative Reply", "7.1.11", octet: 1, bit: 3, [.peer], returns: [.peer]),
    .init(
      0x040D, "PIN Code Request Reply", "7.1.12", octet: 1, bit: 4,
      [.peer, .uint8("PIN length", .unit("bytes")), .bytes("PIN", 16, .text)], returns: [.peer]),
    .init(0x040E, "PIN Code Request Negative Reply", "7.1.13", octet: 1, bit: 5, [.peer], returns: [.peer]),
    .init(
      0x040F, "Change Connection Packet Type", "7.1.14", octet: 1, bit: 6,
      ends: [.connectionPacketTypeChanged], [.handle, .packetTypes]),
    .init(
      0x0411, "Authentication Requested", "7.1.15", octet: 1, bit: 7, ends: [.authenticationComplete],
      [.handle]),
    .init(
      0x0413, "Set Connection Encryption", "7.1.16", octet: 2, bit: 0,
      ends: [.encryptionChange, .encryptionChangeV2], [.handle, .enabled]),
    .init(
      0x0415, "Change Connection Link Key", "7.1.17", octet: 2, bit: 1,
      ends: [.changeConnectionLinkKeyComplete], [.handle]),
    .init(0x0417, "Link Key Selection", "7.1.18", octet: 2, bit: 2, ends: [.linkKeyTypeChanged]),
    .init(
      0x0419, "Remote Name Request", "7.1.19", octet: 2, bit: 3, ends: [.remoteNameRequestComplete],
      [.peer, .pageParameters]),
    .init(0x041A, "Remote Name Request Cancel", "7.1.20", octet: 2, bit: 4, [.peer], returns: [.peer]),
    .init(
      0x041B, "Read Remote Supported Features", "7.1.21", octet: 2, bit: 5,
      ends: [.readRemoteSupportedFeaturesComplete], [.handle]),
    .init(
      0x041C, "Read Remote Extended Features", "7.1.22", octet: 2, bit: 6,
      ends: [.readRemoteExtendedFeaturesComplete], [.handle, .uint8("page")]),
    .init(
      0x041F, "Read Clock Offset", "7.1.24", octet: 3, bit: 0, ends: [.readClockOffsetComplete], [.handle]),
    .init(0x0420, "Read LMP Handle", "7.1.25", octet: 3, bit: 1),
    .init(
      0x0428, "Setup Synchronous Connection", "7.1.26", octet: 16, bit: 3,
      ends: [.synchronousConnectionComplete, .synchronousConnectionChanged],
      [.handle, .synchronousParameters]),
    .init(
      0x0429, "Accept Synchronous Connection Request", "7.1.27", octet: 16, bit: 4,
      ends: [.synchronousConnectionComplete], [.peer, .synchronousParameters]),
    .init(
      0x042A, "Reject Synchronous Connection Request", "7.1.28", octet: 16, bit: 5,
      ends: [.synchronousConnectionComplete], [.peer, .reason]),
    .init(
      0x042B, "IO Capability Request Reply", "7.1.29", octet: 18, bit: 7, [.ioCapability], returns: [.peer]),
    .init(0x042C, "User Confirmation Request Reply", "7.1.30", octet: 19, bit: 0, [.peer], returns: [.peer]),
    .init(
      0x042D, "User Confirmation Request Negative Reply", "7.1.31", octet: 19, bit: 1, [.peer],
      returns: [.peer]),
    .init(
      0x042E, "User Passkey Request Reply", "7.1.32", octet: 19, bit: 2, [.peer, .uint32("passkey")],
      returns: [.peer]),
    .init(
      0x042F, "User Passkey Request Negative Reply", "7.1.33", octet: 19, bit: 3, [.peer], returns: [.peer]),
    .init(0x0430, "Remote OOB Data Request Reply", "7.1.34", octet: 19, bit: 4),
    .init(0x0433, "Remote OOB Data Request Negative Reply", "7.1.35", octet: 19, bit: 7),
    .init(
      0x0434, "IO Capability Request Negative Reply", "7.1.36", octet: 20, bit: 3, [.peer, .reason],
      returns: [.peer]),
    .init(
      0x043D, "Enhanced Setup Synchronous Connection", "7.1.45", octet: 29, bit: 3,
      ends: [.synchronousConnectionComplete, .synchronousConnectionChanged]),
    .init(
      0x043E, "Enhanced Accept Synchronous Connection Request", "7.1.46", octet: 29, bit: 4,
      ends: [.synchronousConnectionComplete]),
    .init(0x043F, "Truncated Page", "7.1.47", octet: 30, bit: 6, ends: [.truncatedPageComplete]),
    .init(0x0440, "Truncated Page Cancel", "7.1.48", octet: 30, bit: 7),
    .init(0x0441, "Set Connectionless Peripheral Broadcast", "7.1.49", octet: 31, bit: 0),
    .init(0x0442, "Set Connectionless Peripheral Broadcast Receive", "7.1.50", octet: 31, bit: 1),
    .init(0x0443, "Start Synchronization Train", "7.1.51", octet: 31, bit: 2),
    .init(0x0444, "Receive Synchronization Train", "7.1.52", octet: 31, bit: 3),
    .init(0x0445, "Remote OOB Extended Data Request Reply", "7.1.53", octet: 32, bit: 1),
  ]
}

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
