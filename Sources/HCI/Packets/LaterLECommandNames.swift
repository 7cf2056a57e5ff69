/// LE commands since Core Specification 6.0 that the stack does not send: channel sounding, monitored advertisers, frame
/// space, short connection intervals; those from 0x20A4 on are of 6.3.
extension HCICommandInfo {
  static let laterLERows: [Row] = [
    .init(
      0x2087, "LE Read All Local Supported Features", "7.8.128", octet: 47, bit: 2,
      returns: [.uint8("max page"), .bytes("LE features", 248, .bits(LEFeatures.bits))]),
    .init(
      0x2088, "LE Read All Remote Features", "7.8.129", octet: 47, bit: 3,
      [.handle, .uint8("pages requested")]),
    .init(0x2089, "LE CS Read Local Supported Capabilities", "7.8.130", octet: 20, bit: 5),
    .init(0x208A, "LE CS Read Remote Supported Capabilities", "7.8.131", octet: 20, bit: 6),
    .init(0x208B, "LE CS Write Cached Remote Supported Capabilities", "7.8.132", octet: 20, bit: 7),
    .init(0x208C, "LE CS Security Enable", "7.8.133", octet: 24, bit: 1),
    .init(0x208D, "LE CS Set Default Settings", "7.8.134", octet: 24, bit: 7),
    .init(0x208E, "LE CS Read Remote FAE Table", "7.8.135", octet: 12, bit: 2),
    .init(0x208F, "LE CS Write Cached Remote FAE Table", "7.8.136", octet: 12, bit: 3),
    .init(0x2090, "LE CS Create Config", "7.8.137", octet: 16, bit: 6),
    .init(0x2091, "LE CS Remove Config", "7.8.138", octet: 16, bit: 7),
    .init(0x2092, "LE CS Set Channel Classification", "7.8.139", octet: 29, bit: 0),
    .init(0x2093, "LE CS Set Procedure Parameters", "7.8.140", octet: 29, bit: 1),
    .init(0x2094, "LE CS Procedure Enable", "7.8.141", octet: 29, bit: 2),
    .init(0x2095, "LE CS Test", "7.8.142", octet: 23, bit: 3),
    .init(0x2096, "LE CS Test End", "7.8.143", octet: 23, bit: 4),
    .init(0x2097, "LE Set Host Feature [v2]", "7.8.115", octet: 47, bit: 4),
    .init(0x2098, "LE Add Device To Monitored Advertisers List", "7.8.146", octet: 47, bit: 5),
    .init(0x2099, "LE Remove Device From Monitored Advertisers List", "7.8.147", octet: 47, bit: 6),
    .init(0x209A, "LE Clear Monitored Advertisers List", "7.8.148", octet: 47, bit: 7),
    .init(0x209B, "LE Read Monitored Advertisers List Size", "7.8.150", octet: 48, bit: 0),
    .init(0x209C, "LE Enable Monitoring Advertisers", "7.8.149", octet: 28, bit: 7),
    .init(0x209D, "LE Frame Space Update", "7.8.151", octet: 48, bit: 1),
    .init(0x209E, "LE Set Resolvable Private Address Timeout [v2]", "7.8.45", octet: 48, bit: 2),
    .init(0x209F, "LE Enable UTP OTA Mode", "7.8.152", octet: 48, bit: 3),
    .init(0x20A0, "LE UTP Send", "7.8.153", octet: 48, bit: 4),
    .init(0x20A1, "LE Connection Rate Request", "7.8.154", octet: 48, bit: 5),
    .init(0x20A2, "LE Set Default Rate Parameters", "7.8.155", octet: 48, bit: 6),
    .init(0x20A3, "LE Read Minimum Supported Connection Interval", "7.8.156", octet: 48, bit: 7),
    .init(0x20A4, "LE Set Event Mask [v2]", "7.8.1", octet: 49, bit: 1),
    .init(0x20A5, "LE CS Read Local Supported Capabilities [v2]", "7.8.130", octet: 49, bit: 2),
    .init(0x20A6, "LE CS Write Cached Remote Supported Capabilities [v2]", "7.8.132", octet: 49, bit: 3),
    .init(0x20A7, "LE CS Set Security Requirements", "7.8.157", octet: 49, bit: 4),
    .init(0x20A8, "LE CS Set Default Security Requirements", "7.8.158", octet: 49, bit: 5),
  ]
}
