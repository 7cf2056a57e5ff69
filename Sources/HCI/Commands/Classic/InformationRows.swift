/// Informational Parameters, Status Parameters and Testing (Core Specification Vol 4, Part E, 7.4 to 7.6).
extension HCICommandInfo {
  static let informationRows: [Row] = [
    .init(0x0000, "No Operation", "4.4"),

    // Informational Parameters
    .init(
      0x1004, "Read Local Extended Features", "7.4.4", octet: 14, bit: 6, [.uint8("page")],
      returns: [.uint8("page"), .uint8("last page"), .features(ofPageAt: 0)]),
    .init(
      0x100A, "Read Data Block Size", "7.4.7", octet: 23, bit: 2,
      returns: [
        .uint16("maximum ACL length", .unit("bytes")), .uint16("block length", .unit("bytes")),
        .uint16("blocks"),
      ]),
    .init(0x100B, "Read Local Supported Codecs", "7.4.8", octet: 29, bit: 5),
    .init(0x100C, "Read Local Simple Pairing Options", "7.4.9", octet: 41, bit: 3),
    .init(0x100D, "Read Local Supported Codecs [v2]", "7.4.8", octet: 45, bit: 2),
    .init(0x100E, "Read Local Supported Codec Capabilities", "7.4.10", octet: 45, bit: 3),
    .init(0x100F, "Read Local Supported Controller Delay", "7.4.11", octet: 45, bit: 4),
    .init(0x1010, "Read Local Supported Commands [v2]", "7.4.2", octet: 49, bit: 0),

    // Status Parameters
    .init(0x1401, "Read Failed Contact Counter", "7.5.1", octet: 15, bit: 2),
    .init(0x1402, "Reset Failed Contact Counter", "7.5.2", octet: 15, bit: 3),
    .init(
      0x1403, "Read Link Quality", "7.5.3", octet: 15, bit: 4, [.handle],
      returns: [.handle, .uint8("link quality")]),
    .init(0x1406, "Read AFH Channel Map", "7.5.5", octet: 15, bit: 6),
    .init(
      0x1407, "Read Clock", "7.5.6", octet: 15, bit: 7,
      [.handle, .uint8("clock", .names([0: "local", 1: "piconet"]))],
      returns: [
        .handle, .uint32("clock"), .uint16("accuracy", .namesOrUnit([0xFFFF: "not known"], "x 0.3125 ms")),
      ]),
    .init(
      0x1408, "Read Encryption Key Size", "7.5.7", octet: 20, bit: 4, [.handle],
      returns: [.handle, .uint8("key size", .unit("bytes"))]),
    .init(0x140C, "Get MWS Transport Layer Configuration", "7.5.11", octet: 30, bit: 3),
    .init(0x140D, "Set Triggered Clock Capture", "7.5.12", octet: 30, bit: 5),

    // Testing
    .init(0x1801, "Read Loopback Mode", "7.6.1", octet: 16, bit: 0),
    .init(0x1802, "Write Loopback Mode", "7.6.2", octet: 16, bit: 1),
    .init(0x1803, "Enable Implementation Under Test Mode", "7.6.3", octet: 16, bit: 2),
    .init(0x1804, "Write Simple Pairing Debug Mode", "7.6.4", octet: 19, bit: 5),
    .init(0x180A, "Write Secure Connections Test Mode", "7.6.8", octet: 32, bit: 7),
  ]
}
