/// All events up to Core Specification 6.3 (Vol 4, Part E, 7.7), and those that it no longer has.
extension HCIEventInfo {
  static let eventRows: [Row<HCIEventCode>] = [
    .init(.inquiryComplete, "Inquiry Complete", "7.7.1", [.status]),
    .init(.inquiryResult, "Inquiry Result", "7.7.2", InquiryResult(.plain)),
    .init(
      .connectionComplete, "Connection Complete", "7.7.3", validAfterFailure: .all,
      [.status, .handle.ifSuccessful, .peer, .linkType, .value("encryption", LinkEncryption()).ifSuccessful]),
    .init(0x04, "Connection Request", "7.7.4", [.peer, .bytes("class of device", 3), .linkType]),
    .init(.disconnectionComplete, "Disconnection Complete", "7.7.5", DisconnectionComplete()),
    .init(.authenticationComplete, "Authentication Complete", "7.7.6", [.status, .handle]),
    .init(
      .remoteNameRequestComplete, "Remote Name Request Complete", "7.7.7",
      [.status, .peer, .rest("name", .text)]),
    .init(.encryptionChange, "Encryption Change", "7.7.8", EncryptionChange()),
    .init(
      .changeConnectionLinkKeyComplete, "Change Connection Link Key Complete", "7.7.9",
      [.status, .handle]),
    .init(.linkKeyTypeChanged, "Link Key Type Changed", "7.7.10", [.status, .handle]),
    .init(
      .readRemoteSupportedFeaturesComplete, "Read Remote Supported Features Complete", "7.7.11",
      [.status, .handle, .value("features", LMPFeatures(), .bits(LMPFeatures.bits(ofPage: 0)))]),
    .init(
      .readRemoteVersionInformationComplete, "Read Remote Version Information Complete", "7.7.12",
      ReadRemoteVersionInformationComplete()),
    .init(
      .qosSetupComplete, "QoS Setup Complete", "7.7.13",
      [
        .status, .handle, .uint8("flags"), .serviceType,
        .uint32("token rate"), .uint32("peak bandwidth"), .uint32("latency", .unit("us")),
        .uint32("delay variation", .unit("us")),
      ]),
    .init(.commandComplete, "Command Complete", "7.7.14", CommandComplete()),
    .init(.commandStatus, "Command Status", "7.7.15", CommandStatus()),
    .init(.hardwareError, "Hardware Error", "7.7.16", HardwareError()),
    .init(0x11, "Flush Occurred", "7.7.17", [.handle]),
    .init(.roleChange, "Role Change", "7.7.18", [.status, .peer, .value("new role", LERole())]),
    .init(.numberOfCompletedPackets, "Number of Completed Packets", "7.7.19", NumberOfCompletedPackets()),
    .init(
      .modeChange, "Mode Change", "7.7.20",
      [
        .status, .handle, .uint8("mode", .names([0: "active", 1: "hold", 2: "sniff", 3: "park"])),
        .slots("interval").styled { $0[2] == 0 ? .words("not used") : .unit("slots") },
      ]),
    .init(0x15, "Return Link Keys", "7.7.21", [.uint8("keys"), .rest("addresses and keys", .key)]),
    .init(0x16, "PIN Code Request", "7.7.22", [.peer]),
    .init(0x17, "Link Key Request", "7.7.23", [.peer]),
    .init(
      0x18, "Link Key Notification", "7.7.24",
      [
        .peer, .bytes("link key", 16, .key),
        .uint8(
          "key type",
          .names([
            0: "combination", 3: "debug combination", 4: "unauthenticated, P-192", 5: "authenticated, P-192",
            6: "changed combination", 7: "unauthenticated, P-256", 8: "authenticated, P-256",
          ])),
      ]),
    .init(0x19, "Loopback Command", "7.7.25", [.rest("command packet")]),
    .init(0x1A, "Data Buffer Overflow", "7.7.26", [.linkType]),
    .init(0x1B, "Max Slots Change", "7.7.27", [.handle, .uint8("max slots")]),
    .init(
      .readClockOffsetComplete, "Read Clock Offset Complete", "7.7.28",
      [.status, .handle, .uint16("clock offset", .hex)]),
    .init(
      .connectionPacketTypeChanged, "Connection Packet Type Changed", "7.7.29",
      [.status, .handle, .packetTypes]),
    .init(0x1E, "QoS Violation", "7.7.30", [.handle]),
    .init(withdrawn: 0x1F, "Page Scan Mode Change"),
    .init(0x20, "Page Scan Repetition Mode Change", "7.7.31", [.peer, .repetitionMode]),
    .init(
      .flowSpecificationComplete, "Flow Specification Complete", "7.7.32",
      [
        .status, .handle, .uint8("flags"), .uint8("direction", .names([0: "outgoing", 1: "incoming"])),
        .serviceType, .uint32("token rate"),
        .uint32("token bucket size"), .uint32("peak bandwidth"), .uint32("access latency", .unit("us")),
      ]),
    .init(.inquiryResultWithRSSI, "Inquiry Result with RSSI", "7.7.33", InquiryResult(.withRSSI)),
    .init(
      .readRemoteExtendedFeaturesComplete, "Read Remote Extended Features Complete", "7.7.34",
      [.status, .handle, .uint8("page"), .uint8("last page"), .features(ofPageAt: 2)]),
    .init(
      .synchronousConnectionComplete, "Synchronous Connection Complete", "7.7.35", validAfterFailure: .all,
      [.status, .handle.ifSuccessful, .peer, .linkType] + DecodedField.synchronousTimes.map(\.ifSuccessful)
        + [
          .uint8("air mode", .names([0: "u-law", 1: "A-law", 2: "CVSD", 3: "transparent"])).ifSuccessful
        ]),
    .init(
      .synchronousConnectionChanged, "Synchronous Connection Changed", "7.7.36",
      [.status, .handle] + DecodedField.synchronousTimes),
    .init(
      0x2E, "Sniff Subrating", "7.7.37",
      [
        .status, .handle, .slots("maximum transmit latency"), .slots("maximum receive latency"),
        .slots("minimum remote timeout"), .slots("minimum local timeout"),
      ]),
    .init(.extendedInquiryResult, "Extended Inquiry Result", "7.7.38", InquiryResult(.extended)),
    .init(
      .encryptionKeyRefreshComplete, "Encryption Key Refresh Complete", "7.7.39",
      EncryptionKeyRefreshComplete()),
    .init(0x31, "IO Capability Request", "7.7.40", [.peer]),
    .init(0x32, "IO Capability Response", "7.7.41", [.ioCapability]),
    .init(0x33, "User Confirmation Request", "7.7.42", [.peer, .uint32("numeric value")]),
    .init(0x34, "User Passkey Request", "7.7.43", [.peer]),
    .init(0x35, "Remote OOB Data Request", "7.7.44", [.peer]),
    .init(0x36, "Simple Pairing Complete", "7.7.45", [.status, .peer]),
    .init(0x38, "Link Supervision Timeout Changed", "7.7.46", [.handle, .supervisionTimeout]),
    .init(.enhancedFlushComplete, "Enhanced Flush Complete", "7.7.47", [.handle]),
    .init(0x3B, "User Passkey Notification", "7.7.48", [.peer, .uint32("passkey")]),
    .init(
      0x3C, "Keypress Notification", "7.7.49",
      [
        .peer,
        .uint8(
          "keypress", .names([0: "started", 1: "digit", 2: "digit erased", 3: "cleared", 4: "completed"])),
      ]),
    .init(
      0x3D, "Remote Host Supported Features Notification", "7.7.50",
      [.peer, .value("features", UInt64(), .bits(LMPFeatures.bits(ofPage: 1)))]),
    .init(.leMeta, "LE Meta", "7.7.65"),
    .init(withdrawn: 0x40, "Physical Link Complete"),
    .init(withdrawn: 0x41, "Channel Selected"),
    .init(withdrawn: 0x42, "Disconnection Physical Link Complete"),
    .init(withdrawn: 0x43, "Physical Link Loss Early Warning"),
    .init(withdrawn: 0x44, "Physical Link Recovery"),
    .init(withdrawn: 0x45, "Logical Link Complete"),
    .init(withdrawn: 0x46, "Disconnection Logical Link Complete"),
    .init(withdrawn: 0x47, "Flow Spec Modify Complete"),
    .init(0x48, "Number of Completed Data Blocks", "7.7.59"),
    .init(withdrawn: 0x49, "AMP Start Test"),
    .init(withdrawn: 0x4A, "AMP Test End"),
    .init(withdrawn: 0x4B, "AMP Receiver Report"),
    .init(withdrawn: 0x4C, "Short Range Mode Change Complete"),
    .init(withdrawn: 0x4D, "AMP Status Change"),
    .init(0x4E, "Triggered Clock Capture", "7.7.66"),
    .init(0x4F, "Synchronization Train Complete", "7.7.67"),
    .init(0x50, "Synchronization Train Received", "7.7.68", [.status]),
    .init(0x51, "Connectionless Peripheral Broadcast Receive", "7.7.69"),
    .init(0x52, "Connectionless Peripheral Broadcast Timeout", "7.7.70"),
    .init(.truncatedPageComplete, "Truncated Page Complete", "7.7.71", [.status]),
    .init(0x54, "Peripheral Page Response Timeout", "7.7.72"),
    .init(0x55, "Connectionless Peripheral Broadcast Channel Map Change", "7.7.73"),
    .init(0x56, "Inquiry Response Notification", "7.7.74"),
    .init(0x57, "Authenticated Payload Timeout Expired", "7.7.75", [.handle]),
    .init(0x58, "SAM Status Change", "7.7.76"),
    .init(
      .encryptionChangeV2, "Encryption Change [v2]", "7.7.8",
      [.status, .handle, .value("encryption", LinkEncryption()), .uint8("key size", .unit("bytes"))]),
    .init(.vendorSpecific, "Vendor Specific", "5.4.4"),
  ]
}
