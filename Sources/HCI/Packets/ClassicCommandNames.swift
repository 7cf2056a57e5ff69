/// Commands of BR/EDR, and of both, whose parameters are not declared.
extension HCICommandInfo {
  static let classicNames: [HCICommandInfo] = [
    .init(0x0000, "No Operation", "4.4"),

    // Link Control
    .init(0x0403, "Periodic Inquiry Mode", "7.1.3", octet: 0, bit: 2),
    .init(0x0404, "Exit Periodic Inquiry Mode", "7.1.4", octet: 0, bit: 3),
    .init(0x0417, "Link Key Selection", "7.1.18", octet: 2, bit: 2, endsWith: [.event(.linkKeyTypeChanged)]),
    .init(0x0420, "Read LMP Handle", "7.1.25", octet: 3, bit: 1),
    .init(0x0430, "Remote OOB Data Request Reply", "7.1.34", octet: 19, bit: 4),
    .init(0x0433, "Remote OOB Data Request Negative Reply", "7.1.35", octet: 19, bit: 7),
    .init(
      0x043D, "Enhanced Setup Synchronous Connection", "7.1.45", octet: 29, bit: 3,
      endsWith: [.event(.synchronousConnectionComplete), .event(.synchronousConnectionChanged)]),
    .init(
      0x043E, "Enhanced Accept Synchronous Connection Request", "7.1.46", octet: 29, bit: 4,
      endsWith: [.event(.synchronousConnectionComplete)]),
    .init(0x043F, "Truncated Page", "7.1.47", octet: 30, bit: 6, endsWith: [.event(.truncatedPageComplete)]),
    .init(0x0440, "Truncated Page Cancel", "7.1.48", octet: 30, bit: 7),
    .init(0x0441, "Set Connectionless Peripheral Broadcast", "7.1.49", octet: 31, bit: 0),
    .init(0x0442, "Set Connectionless Peripheral Broadcast Receive", "7.1.50", octet: 31, bit: 1),
    .init(0x0443, "Start Synchronization Train", "7.1.51", octet: 31, bit: 2),
    .init(0x0444, "Receive Synchronization Train", "7.1.52", octet: 31, bit: 3),
    .init(0x0445, "Remote OOB Extended Data Request Reply", "7.1.53", octet: 32, bit: 1),

    // Link Policy
    .init(0x0807, "QoS Setup", "7.2.6", octet: 4, bit: 6, endsWith: [.event(.qosSetupComplete)]),
    .init(
      0x0810, "Flow Specification", "7.2.13", octet: 5, bit: 5, endsWith: [.event(.flowSpecificationComplete)]
    ),

    // Controller and Baseband
    .init(0x0C05, "Set Event Filter", "7.3.3", octet: 6, bit: 0),
    .init(0x0C09, "Read PIN Type", "7.3.5", octet: 6, bit: 2),
    .init(0x0C0A, "Write PIN Type", "7.3.6", octet: 6, bit: 3),
    .init(0x0C11, "Write Stored Link Key", "7.3.9", octet: 6, bit: 6),
    .init(0x0C15, "Read Connection Accept Timeout", "7.3.13", octet: 7, bit: 2),
    .init(0x0C1D, "Read Inquiry Scan Activity", "7.3.21", octet: 8, bit: 2),
    .init(0x0C1F, "Read Authentication Enable", "7.3.23", octet: 8, bit: 4),
    .init(0x0C27, "Read Automatic Flush Timeout", "7.3.29", octet: 9, bit: 4),
    .init(0x0C29, "Read Num Broadcast Retransmissions", "7.3.31", octet: 9, bit: 6),
    .init(0x0C2A, "Write Num Broadcast Retransmissions", "7.3.32", octet: 9, bit: 7),
    .init(0x0C2B, "Read Hold Mode Activity", "7.3.33", octet: 10, bit: 0),
    .init(0x0C2C, "Write Hold Mode Activity", "7.3.34", octet: 10, bit: 1),
    .init(0x0C2E, "Read Synchronous Flow Control Enable", "7.3.36", octet: 10, bit: 3),
    .init(0x0C2F, "Write Synchronous Flow Control Enable", "7.3.37", octet: 10, bit: 4),
    .init(0x0C31, "Set Controller To Host Flow Control", "7.3.38", octet: 10, bit: 5),
    .init(0x0C35, "Host Number of Completed Packets", "7.3.40", octet: 10, bit: 7),
    .init(0x0C36, "Read Link Supervision Timeout", "7.3.41", octet: 11, bit: 0),
    .init(0x0C39, "Read Current IAC LAP", "7.3.44", octet: 11, bit: 3),
    .init(0x0C3A, "Write Current IAC LAP", "7.3.45", octet: 11, bit: 4),
    .init(0x0C3F, "Set AFH Host Channel Classification", "7.3.46", octet: 12, bit: 1),
    .init(0x0C42, "Read Inquiry Scan Type", "7.3.47", octet: 12, bit: 4),
    .init(0x0C44, "Read Inquiry Mode", "7.3.49", octet: 12, bit: 6),
    .init(0x0C46, "Read Page Scan Type", "7.3.51", octet: 13, bit: 0),
    .init(0x0C48, "Read AFH Channel Assessment Mode", "7.3.53", octet: 13, bit: 2),
    .init(0x0C49, "Write AFH Channel Assessment Mode", "7.3.54", octet: 13, bit: 3),
    .init(0x0C51, "Read Extended Inquiry Response", "7.3.55", octet: 17, bit: 0),
    .init(
      0x0C53, "Refresh Encryption Key", "7.3.57", octet: 17, bit: 2,
      endsWith: [.event(.encryptionKeyRefreshComplete)]),
    .init(0x0C57, "Read Local OOB Data", "7.3.60", octet: 17, bit: 7),
    .init(0x0C59, "Write Inquiry Transmit Power Level", "7.3.62", octet: 18, bit: 1),
    .init(0x0C5A, "Read Default Erroneous Data Reporting", "7.3.64", octet: 18, bit: 2),
    .init(0x0C5F, "Enhanced Flush", "7.3.66", octet: 19, bit: 6, endsWith: [.event(.enhancedFlushComplete)]),
    .init(0x0C60, "Send Keypress Notification", "7.3.63", octet: 20, bit: 2),
    .init(0x0C66, "Read Flow Control Mode", "7.3.72", octet: 23, bit: 0),
    .init(0x0C67, "Write Flow Control Mode", "7.3.73", octet: 23, bit: 1),
    .init(0x0C68, "Read Enhanced Transmit Power Level", "7.3.74", octet: 24, bit: 0),
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
    .init(0x0C7D, "Read Local OOB Extended Data", "7.3.95", octet: 32, bit: 6),
    .init(0x0C7E, "Read Extended Page Timeout", "7.3.96", octet: 33, bit: 0),
    .init(0x0C7F, "Write Extended Page Timeout", "7.3.97", octet: 33, bit: 1),
    .init(0x0C80, "Read Extended Inquiry Length", "7.3.98", octet: 33, bit: 2),
    .init(0x0C81, "Write Extended Inquiry Length", "7.3.99", octet: 33, bit: 3),
    .init(0x0C82, "Set Ecosystem Base Interval", "7.3.100", octet: 45, bit: 1),
    .init(0x0C83, "Configure Data Path", "7.3.101", octet: 45, bit: 5),

    // Informational Parameters
    .init(0x100B, "Read Local Supported Codecs", "7.4.8", octet: 29, bit: 5),
    .init(0x100C, "Read Local Simple Pairing Options", "7.4.9", octet: 41, bit: 3),
    .init(0x100D, "Read Local Supported Codecs [v2]", "7.4.8", octet: 45, bit: 2),
    .init(0x100E, "Read Local Supported Codec Capabilities", "7.4.10", octet: 45, bit: 3),
    .init(0x100F, "Read Local Supported Controller Delay", "7.4.11", octet: 45, bit: 4),
    .init(0x1010, "Read Local Supported Commands [v2]", "7.4.2", octet: 49, bit: 0),

    // Status Parameters
    .init(0x1401, "Read Failed Contact Counter", "7.5.1", octet: 15, bit: 2),
    .init(0x1402, "Reset Failed Contact Counter", "7.5.2", octet: 15, bit: 3),
    .init(0x1406, "Read AFH Channel Map", "7.5.5", octet: 15, bit: 6),
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
