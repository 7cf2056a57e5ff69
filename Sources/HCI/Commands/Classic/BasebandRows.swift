/// Controller and Baseband commands (Core Specification Vol 4, Part E, 7.3).
extension HCICommandInfo {
  static let basebandRows: [Row] = [
    .init(0x0C05, "Set Event Filter", "7.3.3", octet: 6, bit: 0),
    .init(0x0C08, "Flush", "7.3.4", octet: 6, bit: 1, [.handle], returns: [.handle]),
    .init(0x0C09, "Read PIN Type", "7.3.5", octet: 6, bit: 2),
    .init(0x0C0A, "Write PIN Type", "7.3.6", octet: 6, bit: 3),
    .init(
      0x0C0D, "Read Stored Link Key", "7.3.8", octet: 6, bit: 5, [.peer, .flag("all")],
      returns: [.uint16("maximum keys"), .uint16("keys read")]),
    .init(0x0C11, "Write Stored Link Key", "7.3.9", octet: 6, bit: 6),
    .init(
      0x0C12, "Delete Stored Link Key", "7.3.10", octet: 6, bit: 7, [.peer, .flag("all")],
      returns: [.uint16("keys deleted")]),
    .init(0x0C13, "Write Local Name", "7.3.11", octet: 7, bit: 0, [.bytes("name", 248, .text)]),
    .init(0x0C14, "Read Local Name", "7.3.12", octet: 7, bit: 1, returns: [.rest("name", .text)]),
    .init(0x0C15, "Read Connection Accept Timeout", "7.3.13", octet: 7, bit: 2),
    .init(
      0x0C16, "Write Connection Accept Timeout", "7.3.14", octet: 7, bit: 3,
      [.slots("connection accept timeout")]),
    .init(0x0C17, "Read Page Timeout", "7.3.15", octet: 7, bit: 4, returns: [.slots("page timeout")]),
    .init(0x0C18, "Write Page Timeout", "7.3.16", octet: 7, bit: 5, [.slots("page timeout")]),
    .init(
      0x0C19, "Read Scan Enable", "7.3.17", octet: 7, bit: 6,
      returns: [
        .uint8(
          "scan enable",
          .names([0: "off", 1: "inquiry scan", 2: "page scan", 3: "inquiry scan and page scan"]))
      ]),
    .init(
      0x0C1A, "Write Scan Enable", "7.3.18", octet: 7, bit: 7,
      [.uint8("scans", .names([0: "none", 1: "inquiry", 2: "page", 3: "inquiry and page"]))]),
    .init(
      0x0C1B, "Read Page Scan Activity", "7.3.19", octet: 8, bit: 0,
      returns: [.slots("page scan interval"), .slots("page scan window")]),
    .init(
      0x0C1C, "Write Page Scan Activity", "7.3.20", octet: 8, bit: 1,
      [.slots("page scan interval"), .slots("page scan window")]),
    .init(0x0C1D, "Read Inquiry Scan Activity", "7.3.21", octet: 8, bit: 2),
    .init(
      0x0C1E, "Write Inquiry Scan Activity", "7.3.22", octet: 8, bit: 3,
      [.slots("inquiry scan interval"), .slots("inquiry scan window")]),
    .init(0x0C1F, "Read Authentication Enable", "7.3.23", octet: 8, bit: 4),
    .init(0x0C20, "Write Authentication Enable", "7.3.24", octet: 8, bit: 5, [.enabled]),
    .init(
      0x0C23, "Read Class of Device", "7.3.25", octet: 9, bit: 0, returns: [.bytes("class of device", 3)]),
    .init(
      0x0C24, "Write Class of Device", "7.3.26", octet: 9, bit: 1,
      [.value("class of device", ClassOfDevice())]),
    .init(0x0C25, "Read Voice Setting", "7.3.27", octet: 9, bit: 2, returns: [.voiceSetting]),
    .init(0x0C26, "Write Voice Setting", "7.3.28", octet: 9, bit: 3, [.voiceSetting]),
    .init(0x0C27, "Read Automatic Flush Timeout", "7.3.29", octet: 9, bit: 4),
    .init(
      0x0C28, "Write Automatic Flush Timeout", "7.3.30", octet: 9, bit: 5,
      [.handle, .uint16("flush timeout", .namesOrUnit([0: "never"], "slots"))], returns: [.handle]),
    .init(0x0C29, "Read Num Broadcast Retransmissions", "7.3.31", octet: 9, bit: 6),
    .init(0x0C2A, "Write Num Broadcast Retransmissions", "7.3.32", octet: 9, bit: 7),
    .init(0x0C2B, "Read Hold Mode Activity", "7.3.33", octet: 10, bit: 0),
    .init(0x0C2C, "Write Hold Mode Activity", "7.3.34", octet: 10, bit: 1),
    .init(0x0C2E, "Read Synchronous Flow Control Enable", "7.3.36", octet: 10, bit: 3),
    .init(0x0C2F, "Write Synchronous Flow Control Enable", "7.3.37", octet: 10, bit: 4),
    .init(0x0C31, "Set Controller To Host Flow Control", "7.3.38", octet: 10, bit: 5),
    .init(0x0C33, "Host Buffer Size", "7.3.39", octet: 10, bit: 6, [.fields(BufferSizes())]),
    .init(0x0C35, "Host Number of Completed Packets", "7.3.40", octet: 10, bit: 7),
    .init(0x0C36, "Read Link Supervision Timeout", "7.3.41", octet: 11, bit: 0),
    .init(
      0x0C37, "Write Link Supervision Timeout", "7.3.42", octet: 11, bit: 1, [.handle, .supervisionTimeout],
      returns: [.handle]),
    .init(
      0x0C38, "Read Number of Supported IAC", "7.3.43", octet: 11, bit: 2, returns: [.uint8("supported IACs")]
    ),
    .init(0x0C39, "Read Current IAC LAP", "7.3.44", octet: 11, bit: 3),
    .init(0x0C3A, "Write Current IAC LAP", "7.3.45", octet: 11, bit: 4),
    .init(0x0C3F, "Set AFH Host Channel Classification", "7.3.46", octet: 12, bit: 1),
    .init(0x0C42, "Read Inquiry Scan Type", "7.3.47", octet: 12, bit: 4),
    .init(
      0x0C43, "Write Inquiry Scan Type", "7.3.48", octet: 12, bit: 5,
      [.uint8("inquiry scan type", .names([0: "standard", 1: "interlaced"]))]),
    .init(0x0C44, "Read Inquiry Mode", "7.3.49", octet: 12, bit: 6),
    .init(
      0x0C45, "Write Inquiry Mode", "7.3.50", octet: 12, bit: 7,
      [.uint8("inquiry mode", .names([0: "standard", 1: "with RSSI", 2: "extended"]))]),
    .init(0x0C46, "Read Page Scan Type", "7.3.51", octet: 13, bit: 0),
    .init(
      0x0C47, "Write Page Scan Type", "7.3.52", octet: 13, bit: 1,
      [.uint8("page scan type", .names([0: "standard", 1: "interlaced"]))]),
    .init(0x0C48, "Read AFH Channel Assessment Mode", "7.3.53", octet: 13, bit: 2),
    .init(0x0C49, "Write AFH Channel Assessment Mode", "7.3.54", octet: 13, bit: 3),
    .init(0x0C51, "Read Extended Inquiry Response", "7.3.55", octet: 17, bit: 0),
    .init(
      0x0C52, "Write Extended Inquiry Response", "7.3.56", octet: 17, bit: 1,
      [.flag("FEC required"), .structures("data")]),
    .init(
      0x0C53, "Refresh Encryption Key", "7.3.57", octet: 17, bit: 2, ends: [.encryptionKeyRefreshComplete]),
    .init(0x0C55, "Read Simple Pairing Mode", "7.3.58", octet: 17, bit: 5, returns: [.enabled]),
    .init(0x0C56, "Write Simple Pairing Mode", "7.3.59", octet: 17, bit: 6, [.enabled]),
    .init(0x0C57, "Read Local OOB Data", "7.3.60", octet: 17, bit: 7),
    .init(
      0x0C58, "Read Inquiry Response Transmit Power Level", "7.3.61", octet: 18, bit: 0,
      returns: [.power("transmit power")]),
    .init(0x0C59, "Write Inquiry Transmit Power Level", "7.3.62", octet: 18, bit: 1),
    .init(0x0C5A, "Read Default Erroneous Data Reporting", "7.3.64", octet: 18, bit: 2),
    .init(0x0C5B, "Write Default Erroneous Data Reporting", "7.3.65", octet: 18, bit: 3, [.enabled]),
    .init(0x0C5F, "Enhanced Flush", "7.3.66", octet: 19, bit: 6, ends: [.enhancedFlushComplete]),
    .init(0x0C60, "Send Keypress Notification", "7.3.63", octet: 20, bit: 2),
    .init(0x0C66, "Read Flow Control Mode", "7.3.72", octet: 23, bit: 0),
    .init(0x0C67, "Write Flow Control Mode", "7.3.73", octet: 23, bit: 1),
    .init(0x0C68, "Read Enhanced Transmit Power Level", "7.3.74", octet: 24, bit: 0),
    .init(
      0x0C6C, "Read LE Host Support", "7.3.78", octet: 24, bit: 5,
      returns: [.flag("LE supported"), .uint8("unused")]),
    .init(0x0C6E, "Set MWS Channel Parameters", "7.3.80", octet: 29, bit: 6),
    .init(0x0C6F, "Set External Frame Configuration", "7.3.81", octet: 29, bit: 7),
    .init(0x0C70, "Set MWS Signaling", "7.3.82", octet: 30, bit: 0),
    .init(0x0C71, "Set MWS Transport Layer", "7.3.83", octet: 30, bit: 1),
    .init(0x0C72, "Set MWS Scan Frequency Table", "7.3.84", octet: 30, bit: 2),
    .init(0x0C73, "Set MWS_PATTERN Configuration", "7.3.85", octet: 30, bit: 4),
    .init(0x0C74, "Set Reserved LT_ADDR", "7.3.86", octet: 31, bit: 4),
    .init(0x0C75, "Delete Reserved LT_ADDR", "7.3.87", octet: 31, bit: 5),
    .init(0x0C76, "Set Connectionless Peripheral Broadcast Data", "7.3.88", octet: 31, bit: 6),
    .init(0x0C77, "Read Synchronization Train Parameters", "7.3.89", octet: 31, bit: 7),
    .init(0x0C78, "Write Synchronization Train Parameters", "7.3.90", octet: 32, bit: 0),
    .init(0x0C79, "Read Secure Connections Host Support", "7.3.91", octet: 32, bit: 2),
    .init(0x0C7A, "Write Secure Connections Host Support", "7.3.92", octet: 32, bit: 3, [.enabled]),
    .init(
      0x0C7B, "Read Authenticated Payload Timeout", "7.3.93", octet: 32, bit: 4, [.handle],
      returns: [.handle, .uint16("timeout", .unit("x 10 ms"))]),
    .init(
      0x0C7C, "Write Authenticated Payload Timeout", "7.3.94", octet: 32, bit: 5,
      [.handle, .uint16("timeout", .unit("x 10 ms"))], returns: [.handle]),
    .init(0x0C7D, "Read Local OOB Extended Data", "7.3.95", octet: 32, bit: 6),
    .init(0x0C7E, "Read Extended Page Timeout", "7.3.96", octet: 33, bit: 0),
    .init(0x0C7F, "Write Extended Page Timeout", "7.3.97", octet: 33, bit: 1),
    .init(0x0C80, "Read Extended Inquiry Length", "7.3.98", octet: 33, bit: 2),
    .init(0x0C81, "Write Extended Inquiry Length", "7.3.99", octet: 33, bit: 3),
    .init(0x0C82, "Set Ecosystem Base Interval", "7.3.100", octet: 45, bit: 1),
    .init(0x0C83, "Configure Data Path", "7.3.101", octet: 45, bit: 5),
    .init(
      0x0C84, "Set Min Encryption Key Size", "7.3.102", octet: 45, bit: 7,
      [.uint8("minimum key size", .unit("bytes"))]),
  ]
}
