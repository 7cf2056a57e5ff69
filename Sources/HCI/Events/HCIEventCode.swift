import BluetoothCore

/// What an event tells (Core Specification Vol 4, Part E, 7.7).
public struct HCIEventCode: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let disconnectionComplete = HCIEventCode(rawValue: 0x05)
  public static let encryptionChange = HCIEventCode(rawValue: 0x08)
  public static let readRemoteVersionInformationComplete = HCIEventCode(rawValue: 0x0C)
  public static let commandComplete = HCIEventCode(rawValue: 0x0E)
  public static let commandStatus = HCIEventCode(rawValue: 0x0F)
  public static let hardwareError = HCIEventCode(rawValue: 0x10)
  public static let numberOfCompletedPackets = HCIEventCode(rawValue: 0x13)
  public static let encryptionKeyRefreshComplete = HCIEventCode(rawValue: 0x30)
  public static let leMeta = HCIEventCode(rawValue: 0x3E)
  public static let vendorSpecific = HCIEventCode(rawValue: 0xFF)

  private static let names: [UInt8: String] = [
    0x01: "Inquiry Complete",
    0x02: "Inquiry Result",
    0x03: "Connection Complete",
    0x04: "Connection Request",
    0x05: "Disconnection Complete",
    0x06: "Authentication Complete",
    0x07: "Remote Name Request Complete",
    0x08: "Encryption Change",
    0x09: "Change Connection Link Key Complete",
    0x0A: "Link Key Type Changed",
    0x0B: "Read Remote Supported Features Complete",
    0x0C: "Read Remote Version Information Complete",
    0x0D: "QoS Setup Complete",
    0x0E: "Command Complete",
    0x0F: "Command Status",
    0x10: "Hardware Error",
    0x11: "Flush Occurred",
    0x12: "Role Change",
    0x13: "Number of Completed Packets",
    0x14: "Mode Change",
    0x15: "Return Link Keys",
    0x16: "PIN Code Request",
    0x17: "Link Key Request",
    0x18: "Link Key Notification",
    0x19: "Loopback Command",
    0x1A: "Data Buffer Overflow",
    0x1B: "Max Slots Change",
    0x1C: "Read Clock Offset Complete",
    0x1D: "Connection Packet Type Changed",
    0x1E: "QoS Violation",
    0x20: "Page Scan Repetition Mode Change",
    0x21: "Flow Specification Complete",
    0x22: "Inquiry Result With RSSI",
    0x23: "Read Remote Extended Features Complete",
    0x2C: "Synchronous Connection Complete",
    0x2D: "Synchronous Connection Changed",
    0x2E: "Sniff Subrating",
    0x2F: "Extended Inquiry Result",
    0x30: "Encryption Key Refresh Complete",
    0x31: "IO Capability Request",
    0x32: "IO Capability Response",
    0x33: "User Confirmation Request",
    0x34: "User Passkey Request",
    0x35: "Remote OOB Data Request",
    0x36: "Simple Pairing Complete",
    0x38: "Link Supervision Timeout Changed",
    0x39: "Enhanced Flush Complete",
    0x3B: "User Passkey Notification",
    0x3C: "Keypress Notification",
    0x3D: "Remote Host Supported Features Notification",
    0x3E: "LE Meta",
    0x48: "Number of Completed Data Blocks",
    0x4E: "Triggered Clock Capture",
    0x4F: "Synchronization Train Complete",
    0x50: "Synchronization Train Received",
    0x51: "Connectionless Peripheral Broadcast Receive",
    0x52: "Connectionless Peripheral Broadcast Timeout",
    0x53: "Truncated Page Complete",
    0x54: "Peripheral Page Response Timeout",
    0x55: "Connectionless Peripheral Broadcast Channel Map Change",
    0x56: "Inquiry Response Notification",
    0x57: "Authenticated Payload Timeout Expired",
    0x58: "Sam Status Change",
    0x59: "Encryption Change [v2]",
    0xFF: "Vendor Specific",
  ]

  /// The event's name in the specification; nil if it has none here.
  public var name: String? { Self.names[rawValue] }
}

extension HCIEventCode: CustomStringConvertible {
  /// Name and number: `Command Complete (0x0e)`.
  public var description: String {
    let number = Hex.string(rawValue)
    return name.map { "\($0) (\(number))" } ?? "event \(number)"
  }
}

/// What an LE Meta event tells: its first parameter (7.7.65).
public struct LESubevent: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let connectionComplete = LESubevent(rawValue: 0x01)
  public static let advertisingReport = LESubevent(rawValue: 0x02)
  public static let connectionUpdateComplete = LESubevent(rawValue: 0x03)
  public static let readRemoteFeaturesComplete = LESubevent(rawValue: 0x04)
  public static let longTermKeyRequest = LESubevent(rawValue: 0x05)
  public static let remoteConnectionParameterRequest = LESubevent(rawValue: 0x06)
  public static let dataLengthChange = LESubevent(rawValue: 0x07)
  public static let enhancedConnectionComplete = LESubevent(rawValue: 0x0A)
  public static let directedAdvertisingReport = LESubevent(rawValue: 0x0B)
  public static let phyUpdateComplete = LESubevent(rawValue: 0x0C)
  public static let extendedAdvertisingReport = LESubevent(rawValue: 0x0D)
  public static let scanTimeout = LESubevent(rawValue: 0x11)
  public static let channelSelectionAlgorithm = LESubevent(rawValue: 0x14)
  public static let enhancedConnectionCompleteV2 = LESubevent(rawValue: 0x29)

  private static let names: [UInt8: String] = [
    0x01: "LE Connection Complete",
    0x02: "LE Advertising Report",
    0x03: "LE Connection Update Complete",
    0x04: "LE Read Remote Features Complete",
    0x05: "LE Long Term Key Request",
    0x06: "LE Remote Connection Parameter Request",
    0x07: "LE Data Length Change",
    0x08: "LE Read Local P-256 Public Key Complete",
    0x09: "LE Generate DHKey Complete",
    0x0A: "LE Enhanced Connection Complete",
    0x0B: "LE Directed Advertising Report",
    0x0C: "LE PHY Update Complete",
    0x0D: "LE Extended Advertising Report",
    0x0E: "LE Periodic Advertising Sync Established",
    0x0F: "LE Periodic Advertising Report",
    0x10: "LE Periodic Advertising Sync Lost",
    0x11: "LE Scan Timeout",
    0x12: "LE Advertising Set Terminated",
    0x13: "LE Scan Request Received",
    0x14: "LE Channel Selection Algorithm",
    0x15: "LE Connectionless IQ Report",
    0x16: "LE Connection IQ Report",
    0x17: "LE CTE Request Failed",
    0x18: "LE Periodic Advertising Sync Transfer Received",
    0x19: "LE CIS Established",
    0x1A: "LE CIS Request",
    0x1B: "LE Create BIG Complete",
    0x1C: "LE Terminate BIG Complete",
    0x1D: "LE BIG Sync Established",
    0x1E: "LE BIG Sync Lost",
    0x1F: "LE Request Peer SCA Complete",
    0x20: "LE Path Loss Threshold",
    0x21: "LE Transmit Power Reporting",
    0x22: "LE Biginfo Advertising Report",
    0x23: "LE Subrate Change",
    0x24: "LE Periodic Advertising Sync Established [v2]",
    0x25: "LE Periodic Advertising Report [v2]",
    0x26: "LE Periodic Advertising Sync Transfer Received [v2]",
    0x27: "LE Periodic Advertising Subevent Data Request",
    0x28: "LE Periodic Advertising Response Report",
    0x29: "LE Enhanced Connection Complete [v2]",
    0x2A: "LE CIS Established [v2]",
  ]

  /// The event's name in the specification; nil if it has none here.
  public var name: String? { Self.names[rawValue] }
}

extension LESubevent: CustomStringConvertible {
  /// Name and number: `LE Connection Complete (0x01)`.
  public var description: String {
    let number = Hex.string(rawValue)
    return name.map { "\($0) (\(number))" } ?? "LE event \(number)"
  }
}
