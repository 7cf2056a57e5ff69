/// All LE Meta events up to Core Specification 6.3 (Vol 4, Part E, 7.7.65).
extension HCIEventInfo {
  static let leEventRows: [Row<LESubevent>] = [
    .init(
      .connectionComplete, "LE Connection Complete", "7.7.65.1", LEConnectionComplete(form: .plain),
      validAfterFailure: .status),
    .init(.advertisingReport, "LE Advertising Report", "7.7.65.2", AdvertisingReports(form: .legacy)),
    .init(
      .connectionUpdateComplete, "LE Connection Update Complete", "7.7.65.3", LEConnectionUpdateComplete()),
    .init(
      .readRemoteFeaturesComplete, "LE Read Remote Features Page 0 Complete", "7.7.65.4",
      LEReadRemoteFeaturesComplete()),
    .init(.longTermKeyRequest, "LE Long Term Key Request", "7.7.65.5", LELongTermKeyRequest()),
    .init(
      .remoteConnectionParameterRequest, "LE Remote Connection Parameter Request", "7.7.65.6",
      LERemoteConnectionParameterRequest()),
    .init(.dataLengthChange, "LE Data Length Change", "7.7.65.7", LEDataLengthChange()),
    .init(
      .readLocalP256PublicKeyComplete, "LE Read Local P-256 Public Key Complete", "7.7.65.8",
      [.status, .bytes("public key X", 32), .bytes("public key Y", 32)]),
    .init(
      .generateDHKeyComplete, "LE Generate DHKey Complete", "7.7.65.9",
      [.status, .bytes("Diffie-Hellman key", 32, .key)]),
    .init(
      .enhancedConnectionComplete, "LE Enhanced Connection Complete", "7.7.65.10",
      LEConnectionComplete(form: .enhanced), validAfterFailure: .status),
    .init(
      .directedAdvertisingReport, "LE Directed Advertising Report", "7.7.65.11",
      AdvertisingReports(form: .directed)),
    .init(.phyUpdateComplete, "LE PHY Update Complete", "7.7.65.12", LEPHYUpdateComplete()),
    .init(
      .extendedAdvertisingReport, "LE Extended Advertising Report", "7.7.65.13",
      AdvertisingReports(form: .extended)),
    .init(
      .periodicAdvertisingSyncEstablished, "LE Periodic Advertising Sync Established", "7.7.65.14",
      [.status]),
    .init(0x0F, "LE Periodic Advertising Report", "7.7.65.15"),
    .init(0x10, "LE Periodic Advertising Sync Lost", "7.7.65.16"),
    .init(.scanTimeout, "LE Scan Timeout", "7.7.65.17"),
    .init(
      .advertisingSetTerminated, "LE Advertising Set Terminated", "7.7.65.18", LEAdvertisingSetTerminated(),
      validAfterFailure: .all),
    .init(
      0x13, "LE Scan Request Received", "7.7.65.19",
      [.uint8("advertising handle"), .typedAddress("scanner address", type: "scanner address type")]),
    .init(
      .channelSelectionAlgorithm, "LE Channel Selection Algorithm", "7.7.65.20", LEChannelSelectionAlgorithm()
    ),
    .init(0x15, "LE Connectionless IQ Report", "7.7.65.21"),
    .init(0x16, "LE Connection IQ Report", "7.7.65.22", [.handle]),
    .init(0x17, "LE CTE Request Failed", "7.7.65.23", [.status, .handle]),
    .init(0x18, "LE Periodic Advertising Sync Transfer Received", "7.7.65.24", [.status, .handle]),
    .init(.cisEstablished, "LE CIS Established", "7.7.65.25", [.status, .handle]),
    .init(0x1A, "LE CIS Request", "7.7.65.26", [.handle]),
    .init(.createBIGComplete, "LE Create BIG Complete", "7.7.65.27", [.status]),
    .init(.terminateBIGComplete, "LE Terminate BIG Complete", "7.7.65.28"),
    .init(.bigSyncEstablished, "LE BIG Sync Established", "7.7.65.29", [.status]),
    .init(0x1E, "LE BIG Sync Lost", "7.7.65.30"),
    .init(.requestPeerSCAComplete, "LE Request Peer SCA Complete", "7.7.65.31", [.status, .handle]),
    .init(0x20, "LE Path Loss Threshold", "7.7.65.32", [.handle]),
    .init(.transmitPowerReporting, "LE Transmit Power Reporting", "7.7.65.33", [.status, .handle]),
    .init(0x22, "LE BIGInfo Advertising Report", "7.7.65.34"),
    .init(.subrateChange, "LE Subrate Change", "7.7.65.35", [.status, .handle]),
    .init(
      .periodicAdvertisingSyncEstablishedV2, "LE Periodic Advertising Sync Established [v2]", "7.7.65.14",
      [.status]),
    .init(0x25, "LE Periodic Advertising Report [v2]", "7.7.65.15"),
    .init(0x26, "LE Periodic Advertising Sync Transfer Received [v2]", "7.7.65.24", [.status, .handle]),
    .init(0x27, "LE Periodic Advertising Subevent Data Request", "7.7.65.36"),
    .init(0x28, "LE Periodic Advertising Response Report", "7.7.65.37"),
    .init(
      .enhancedConnectionCompleteV2, "LE Enhanced Connection Complete [v2]", "7.7.65.10",
      LEConnectionComplete(form: .enhancedV2), validAfterFailure: .status),
    .init(.cisEstablishedV2, "LE CIS Established [v2]", "7.7.65.25", [.status, .handle]),
    .init(
      0x2B, "LE Read All Remote Features Complete", "7.7.65.38",
      [
        .status, .handle, .uint8("max remote page"), .uint8("max valid page"),
        .bytes("features", 248, .bits(LEFeatures.bits)),
      ]),
    .init(0x2C, "LE CS Read Remote Supported Capabilities Complete", "7.7.65.39", [.status, .handle]),
    .init(0x2D, "LE CS Read Remote FAE Table Complete", "7.7.65.40", [.status, .handle]),
    .init(0x2E, "LE CS Security Enable Complete", "7.7.65.41", [.status, .handle]),
    .init(0x2F, "LE CS Config Complete", "7.7.65.42", [.status, .handle]),
    .init(0x30, "LE CS Procedure Enable Complete", "7.7.65.43", [.status, .handle]),
    .init(0x31, "LE CS Subevent Result", "7.7.65.44", [.handle]),
    .init(0x32, "LE CS Subevent Result Continue", "7.7.65.45", [.handle]),
    .init(0x33, "LE CS Test End Complete", "7.7.65.46", [.status]),
    .init(0x34, "LE Monitored Advertisers Report", "7.7.65.47"),
    .init(0x35, "LE Frame Space Update Complete", "7.7.65.48", [.status, .handle]),
    .init(0x36, "LE UTP Receive", "7.7.65.49"),
    .init(0x37, "LE Connection Rate Change", "7.7.65.50", [.status, .handle]),
    .init(0x38, "LE CS Read Remote Supported Capabilities Complete [v2]", "7.7.65.39", [.status, .handle]),
  ]
}
