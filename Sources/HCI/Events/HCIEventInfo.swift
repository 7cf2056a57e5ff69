import BluetoothCore

/// The specification of an event: its name, section and parameters. A class, as it is looked up for each event: only its
/// reference is copied.
public final class HCIEventInfo: Sendable {
  /// The name in the specification.
  public let name: String
  /// The section of the Core Specification: `Vol 4, Part E, 7.7.5`.
  public let reference: String
  /// The parameters, all zero, or the leading ones that are declared; nil if none are declared.
  public let parameters: (any PacketFields)?
  /// The offset of the status in the parameters.
  public let statusOffset: Int?
  /// The offset of the connection handle in the parameters.
  public let handleOffset: Int?

  private init(_ name: String, _ reference: String, _ parameters: (any PacketFields)?) {
    self.name = name
    self.reference = reference
    self.parameters = parameters
    var offsets = FieldOffsets()
    if var parameters { parameters.visit(&offsets) }
    statusOffset = offsets.status
    handleOffset = offsets.handle
  }

  public static subscript(_ code: HCIEventCode) -> HCIEventInfo? { events[Int(code.rawValue)] }

  public static subscript(_ subevent: LESubevent) -> HCIEventInfo? { leEvents[Int(subevent.rawValue)] }

  /// Where status and connection handle are in the parameters of an event; nil for what it does not have.
  public struct Offsets: Hashable, Sendable {
    public var status: Int?
    public var handle: Int?
  }

  public static func offsets(of code: HCIEventCode) -> Offsets {
    let event = events[Int(code.rawValue)]
    return Offsets(status: event?.statusOffset, handle: event?.handleOffset)
  }

  public static func offsets(of subevent: LESubevent) -> Offsets {
    let event = leEvents[Int(subevent.rawValue)]
    return Offsets(status: event?.statusOffset, handle: event?.handleOffset)
  }

  private struct Row<Code: HCICode> where Code.RawValue == UInt8 {
    var code: Code
    var name: String
    var section: String
    var parameters: (any PacketFields)?

    init(_ code: Code, _ name: String, _ section: String, _ parameters: (any PacketFields)? = nil) {
      self.code = code
      self.name = name
      self.section = section
      self.parameters = parameters
    }
  }

  private static func table<Code>(_ rows: [Row<Code>]) -> [HCIEventInfo?] {
    var table: [HCIEventInfo?] = Array(repeating: nil, count: 256)
    for row in rows {
      table[Int(row.code.rawValue)] = HCIEventInfo(
        row.name, "Vol 4, Part E, \(row.section)", row.parameters)
    }
    return table
  }

  /// All events up to Core Specification 5.4 (Vol 4, Part E, 7.7).
  private static let events = table(eventRows)

  /// All LE Meta events up to Core Specification 5.4 (Vol 4, Part E, 7.7.65).
  private static let leEvents = table(leEventRows)

  private static let eventRows: [Row<HCIEventCode>] = [
    .init(0x01, "Inquiry Complete", "7.7.1", StatusOnly()),
    .init(.inquiryResult, "Inquiry Result", "7.7.2", InquiryResult(.plain)),
    .init(.connectionComplete, "Connection Complete", "7.7.3", ConnectionComplete()),
    .init(0x04, "Connection Request", "7.7.4", ClassicConnectionRequest()),
    .init(.disconnectionComplete, "Disconnection Complete", "7.7.5", DisconnectionComplete()),
    .init(0x06, "Authentication Complete", "7.7.6", LinkStatus()),
    .init(.remoteNameRequestComplete, "Remote Name Request Complete", "7.7.7", RemoteNameRequestComplete()),
    .init(.encryptionChange, "Encryption Change", "7.7.8", EncryptionChange()),
    .init(0x09, "Change Connection Link Key Complete", "7.7.9", LinkStatus()),
    .init(0x0A, "Link Key Type Changed", "7.7.10", LinkStatus()),
    .init(0x0B, "Read Remote Supported Features Complete", "7.7.11", ReadRemoteSupportedFeaturesComplete()),
    .init(
      .readRemoteVersionInformationComplete, "Read Remote Version Information Complete", "7.7.12",
      ReadRemoteVersionInformationComplete()),
    .init(0x0D, "QoS Setup Complete", "7.7.13", QoSSetupComplete()),
    .init(.commandComplete, "Command Complete", "7.7.14", CommandComplete()),
    .init(.commandStatus, "Command Status", "7.7.15", CommandStatus()),
    .init(.hardwareError, "Hardware Error", "7.7.16", HardwareError()),
    .init(0x11, "Flush Occurred", "7.7.17", LinkOnly()),
    .init(0x12, "Role Change", "7.7.18", RoleChange()),
    .init(.numberOfCompletedPackets, "Number of Completed Packets", "7.7.19", NumberOfCompletedPackets()),
    .init(0x14, "Mode Change", "7.7.20", ModeChange()),
    .init(0x15, "Return Link Keys", "7.7.21", ReturnLinkKeys()),
    .init(0x16, "PIN Code Request", "7.7.22", PeerOnly()),
    .init(0x17, "Link Key Request", "7.7.23", PeerOnly()),
    .init(0x18, "Link Key Notification", "7.7.24", LinkKeyNotification()),
    .init(0x19, "Loopback Command", "7.7.25", LoopbackCommand()),
    .init(0x1A, "Data Buffer Overflow", "7.7.26", DataBufferOverflow()),
    .init(0x1B, "Max Slots Change", "7.7.27", MaxSlotsChange()),
    .init(0x1C, "Read Clock Offset Complete", "7.7.28", ReadClockOffsetComplete()),
    .init(0x1D, "Connection Packet Type Changed", "7.7.29", ConnectionPacketTypeChanged()),
    .init(0x1E, "QoS Violation", "7.7.30", LinkOnly()),
    .init(0x20, "Page Scan Repetition Mode Change", "7.7.31", PageScanRepetitionModeChange()),
    .init(0x21, "Flow Specification Complete", "7.7.32", FlowSpecificationComplete()),
    .init(.inquiryResultWithRSSI, "Inquiry Result With RSSI", "7.7.33", InquiryResult(.withRSSI)),
    .init(0x23, "Read Remote Extended Features Complete", "7.7.34", ReadRemoteExtendedFeaturesComplete()),
    .init(
      .synchronousConnectionComplete, "Synchronous Connection Complete", "7.7.35",
      SynchronousConnectionComplete()),
    .init(0x2D, "Synchronous Connection Changed", "7.7.36", SynchronousConnectionChanged()),
    .init(0x2E, "Sniff Subrating", "7.7.37", SniffSubrating()),
    .init(.extendedInquiryResult, "Extended Inquiry Result", "7.7.38", InquiryResult(.extended)),
    .init(
      .encryptionKeyRefreshComplete, "Encryption Key Refresh Complete", "7.7.39",
      EncryptionKeyRefreshComplete()),
    .init(0x31, "IO Capability Request", "7.7.40", PeerOnly()),
    .init(0x32, "IO Capability Response", "7.7.41", IOCapabilityResponse()),
    .init(0x33, "User Confirmation Request", "7.7.42", UserConfirmationRequest()),
    .init(0x34, "User Passkey Request", "7.7.43", PeerOnly()),
    .init(0x35, "Remote OOB Data Request", "7.7.44", PeerOnly()),
    .init(0x36, "Simple Pairing Complete", "7.7.45", AddressStatus()),
    .init(0x38, "Link Supervision Timeout Changed", "7.7.46", LinkSupervisionTimeoutChanged()),
    .init(0x39, "Enhanced Flush Complete", "7.7.47", LinkOnly()),
    .init(0x3B, "User Passkey Notification", "7.7.48", UserPasskeyNotification()),
    .init(0x3C, "Keypress Notification", "7.7.49", KeypressNotification()),
    .init(
      0x3D, "Remote Host Supported Features Notification", "7.7.50", RemoteHostSupportedFeaturesNotification()
    ),
    .init(.leMeta, "LE Meta", "7.7.65"),
    .init(0x48, "Number of Completed Data Blocks", "7.7.59"),
    .init(0x4E, "Triggered Clock Capture", "7.7.66"),
    .init(0x4F, "Synchronization Train Complete", "7.7.67"),
    .init(0x50, "Synchronization Train Received", "7.7.68", StatusOnly()),
    .init(0x51, "Connectionless Peripheral Broadcast Receive", "7.7.69"),
    .init(0x52, "Connectionless Peripheral Broadcast Timeout", "7.7.70"),
    .init(0x53, "Truncated Page Complete", "7.7.71", StatusOnly()),
    .init(0x54, "Peripheral Page Response Timeout", "7.7.72"),
    .init(0x55, "Connectionless Peripheral Broadcast Channel Map Change", "7.7.73"),
    .init(0x56, "Inquiry Response Notification", "7.7.74"),
    .init(0x57, "Authenticated Payload Timeout Expired", "7.7.75", LinkOnly()),
    .init(0x58, "Sam Status Change", "7.7.76"),
    .init(0x59, "Encryption Change [v2]", "7.7.8", EncryptionChangeV2()),
    .init(.vendorSpecific, "Vendor Specific", "5.4.4"),
  ]

  private static let leEventRows: [Row<LESubevent>] = [
    .init(.connectionComplete, "LE Connection Complete", "7.7.65.1", LEConnectionComplete(form: .plain)),
    .init(.advertisingReport, "LE Advertising Report", "7.7.65.2", AdvertisingReports(form: .legacy)),
    .init(
      .connectionUpdateComplete, "LE Connection Update Complete", "7.7.65.3", LEConnectionUpdateComplete()),
    .init(
      .readRemoteFeaturesComplete, "LE Read Remote Features Complete", "7.7.65.4",
      LEReadRemoteFeaturesComplete()),
    .init(.longTermKeyRequest, "LE Long Term Key Request", "7.7.65.5", LELongTermKeyRequest()),
    .init(
      .remoteConnectionParameterRequest, "LE Remote Connection Parameter Request", "7.7.65.6",
      LERemoteConnectionParameterRequest()),
    .init(.dataLengthChange, "LE Data Length Change", "7.7.65.7", LEDataLengthChange()),
    .init(0x08, "LE Read Local P-256 Public Key Complete", "7.7.65.8", LEReadLocalP256PublicKeyComplete()),
    .init(0x09, "LE Generate DHKey Complete", "7.7.65.9", LEGenerateDHKeyComplete()),
    .init(
      .enhancedConnectionComplete, "LE Enhanced Connection Complete", "7.7.65.10",
      LEConnectionComplete(form: .enhanced)),
    .init(
      .directedAdvertisingReport, "LE Directed Advertising Report", "7.7.65.11",
      AdvertisingReports(form: .directed)),
    .init(.phyUpdateComplete, "LE PHY Update Complete", "7.7.65.12", LEPHYUpdateComplete()),
    .init(
      .extendedAdvertisingReport, "LE Extended Advertising Report", "7.7.65.13",
      AdvertisingReports(form: .extended)),
    .init(0x0E, "LE Periodic Advertising Sync Established", "7.7.65.14", StatusOnly()),
    .init(0x0F, "LE Periodic Advertising Report", "7.7.65.15"),
    .init(0x10, "LE Periodic Advertising Sync Lost", "7.7.65.16"),
    .init(.scanTimeout, "LE Scan Timeout", "7.7.65.17"),
    .init(0x12, "LE Advertising Set Terminated", "7.7.65.18", LEAdvertisingSetTerminated()),
    .init(0x13, "LE Scan Request Received", "7.7.65.19", LEScanRequestReceived()),
    .init(
      .channelSelectionAlgorithm, "LE Channel Selection Algorithm", "7.7.65.20", LEChannelSelectionAlgorithm()
    ),
    .init(0x15, "LE Connectionless IQ Report", "7.7.65.21"),
    .init(0x16, "LE Connection IQ Report", "7.7.65.22", LinkOnly()),
    .init(0x17, "LE CTE Request Failed", "7.7.65.23", LinkStatus()),
    .init(0x18, "LE Periodic Advertising Sync Transfer Received", "7.7.65.24", LinkStatus()),
    .init(0x19, "LE CIS Established", "7.7.65.25", LinkStatus()),
    .init(0x1A, "LE CIS Request", "7.7.65.26", LinkOnly()),
    .init(0x1B, "LE Create BIG Complete", "7.7.65.27", StatusOnly()),
    .init(0x1C, "LE Terminate BIG Complete", "7.7.65.28"),
    .init(0x1D, "LE BIG Sync Established", "7.7.65.29", StatusOnly()),
    .init(0x1E, "LE BIG Sync Lost", "7.7.65.30"),
    .init(0x1F, "LE Request Peer SCA Complete", "7.7.65.31", LinkStatus()),
    .init(0x20, "LE Path Loss Threshold", "7.7.65.32", LinkOnly()),
    .init(0x21, "LE Transmit Power Reporting", "7.7.65.33", LinkStatus()),
    .init(0x22, "LE Biginfo Advertising Report", "7.7.65.34"),
    .init(0x23, "LE Subrate Change", "7.7.65.35", LinkStatus()),
    .init(0x24, "LE Periodic Advertising Sync Established [v2]", "7.7.65.14", StatusOnly()),
    .init(0x25, "LE Periodic Advertising Report [v2]", "7.7.65.15"),
    .init(0x26, "LE Periodic Advertising Sync Transfer Received [v2]", "7.7.65.24", LinkStatus()),
    .init(0x27, "LE Periodic Advertising Subevent Data Request", "7.7.65.36"),
    .init(0x28, "LE Periodic Advertising Response Report", "7.7.65.37"),
    .init(
      .enhancedConnectionCompleteV2, "LE Enhanced Connection Complete [v2]", "7.7.65.10",
      LEConnectionComplete(form: .enhancedV2)),
    .init(0x2A, "LE CIS Established [v2]", "7.7.65.25", LinkStatus()),
  ]
}
