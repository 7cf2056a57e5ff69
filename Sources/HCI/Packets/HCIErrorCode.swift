import HaloBluetoothCore

/// Why a command was rejected, a connection ended, or was not established: the status and reason codes of HCI (Core
/// Specification Vol 1, Part F).
public struct HCIErrorCode: HCICode, Error {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let success = HCIErrorCode(rawValue: 0x00)
  public static let unknownCommand = HCIErrorCode(rawValue: 0x01)
  public static let unknownConnectionIdentifier = HCIErrorCode(rawValue: 0x02)
  public static let hardwareFailure = HCIErrorCode(rawValue: 0x03)
  public static let authenticationFailure = HCIErrorCode(rawValue: 0x05)
  public static let pinOrKeyMissing = HCIErrorCode(rawValue: 0x06)
  public static let memoryCapacityExceeded = HCIErrorCode(rawValue: 0x07)
  /// The link was silent for longer than the supervision timeout.
  public static let connectionTimeout = HCIErrorCode(rawValue: 0x08)
  public static let connectionLimitExceeded = HCIErrorCode(rawValue: 0x09)
  public static let connectionAlreadyExists = HCIErrorCode(rawValue: 0x0B)
  public static let commandDisallowed = HCIErrorCode(rawValue: 0x0C)
  public static let connectionRejectedLimitedResources = HCIErrorCode(rawValue: 0x0D)
  public static let unsupportedFeatureOrParameterValue = HCIErrorCode(rawValue: 0x11)
  public static let invalidCommandParameters = HCIErrorCode(rawValue: 0x12)
  public static let remoteUserTerminatedConnection = HCIErrorCode(rawValue: 0x13)
  public static let remoteLowResources = HCIErrorCode(rawValue: 0x14)
  public static let remotePowerOff = HCIErrorCode(rawValue: 0x15)
  public static let connectionTerminatedByLocalHost = HCIErrorCode(rawValue: 0x16)
  public static let pairingNotAllowed = HCIErrorCode(rawValue: 0x18)
  public static let unsupportedRemoteFeature = HCIErrorCode(rawValue: 0x1A)
  public static let unspecifiedError = HCIErrorCode(rawValue: 0x1F)
  public static let responseTimeout = HCIErrorCode(rawValue: 0x22)
  public static let procedureCollision = HCIErrorCode(rawValue: 0x23)
  public static let instantPassed = HCIErrorCode(rawValue: 0x28)
  public static let parameterOutOfMandatoryRange = HCIErrorCode(rawValue: 0x30)
  public static let controllerBusy = HCIErrorCode(rawValue: 0x3A)
  public static let unacceptableConnectionParameters = HCIErrorCode(rawValue: 0x3B)
  public static let advertisingTimeout = HCIErrorCode(rawValue: 0x3C)
  public static let micFailure = HCIErrorCode(rawValue: 0x3D)
  /// No packet arrived on a new link: common if the antenna is shared; try again.
  public static let connectionFailedToBeEstablished = HCIErrorCode(rawValue: 0x3E)
  public static let unknownAdvertisingIdentifier = HCIErrorCode(rawValue: 0x42)
  public static let limitReached = HCIErrorCode(rawValue: 0x43)
  public static let operationCancelledByHost = HCIErrorCode(rawValue: 0x44)
  public static let packetTooLong = HCIErrorCode(rawValue: 0x45)

  /// The name of each code, by index.
  private static let names = [
    "Success",
    "Unknown HCI Command",
    "Unknown Connection Identifier",
    "Hardware Failure",
    "Page Timeout",
    "Authentication Failure",
    "PIN or Key Missing",
    "Memory Capacity Exceeded",
    "Connection Timeout",
    "Connection Limit Exceeded",
    "Synchronous Connection Limit to a Device Exceeded",
    "Connection Already Exists",
    "Command Disallowed",
    "Connection Rejected due to Limited Resources",
    "Connection Rejected due to Security Reasons",
    "Connection Rejected due to Unacceptable BD_ADDR",
    "Connection Accept Timeout Exceeded",
    "Unsupported Feature or Parameter Value",
    "Invalid HCI Command Parameters",
    "Remote User Terminated Connection",
    "Remote Device Terminated Connection due to Low Resources",
    "Remote Device Terminated Connection due to Power Off",
    "Connection Terminated by Local Host",
    "Repeated Attempts",
    "Pairing Not Allowed",
    "Unknown LMP PDU",
    "Unsupported Remote Feature",
    "SCO Offset Rejected",
    "SCO Interval Rejected",
    "SCO Air Mode Rejected",
    "Invalid LMP Parameters / Invalid LL Parameters",
    "Unspecified Error",
    "Unsupported LMP Parameter Value / Unsupported LL Parameter Value",
    "Role Change Not Allowed",
    "LMP Response Timeout / LL Response Timeout",
    "LMP Error Transaction Collision / LL Procedure Collision",
    "LMP PDU Not Allowed",
    "Encryption Mode Not Acceptable",
    "Link Key cannot be Changed",
    "Requested QoS Not Supported",
    "Instant Passed",
    "Pairing with Unit Key Not Supported",
    "Different Transaction Collision",
    "Reserved for Future Use",
    "QoS Unacceptable Parameter",
    "QoS Rejected",
    "Channel Classification Not Supported",
    "Insufficient Security",
    "Parameter Out of Mandatory Range",
    "Reserved for Future Use",
    "Role Switch Pending",
    "Reserved for Future Use",
    "Reserved Slot Violation",
    "Role Switch Failed",
    "Extended Inquiry Response Too Large",
    "Secure Simple Pairing Not Supported by Host",
    "Host Busy - Pairing",
    "Connection Rejected due to No Suitable Channel Found",
    "Controller Busy",
    "Unacceptable Connection Parameters",
    "Advertising Timeout",
    "Connection Terminated due to MIC Failure",
    "Connection Failed to be Established / Synchronization Timeout",
    "MAC Connection Failed",
    "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging",
    "Type0 Submap Not Defined",
    "Unknown Advertising Identifier",
    "Limit Reached",
    "Operation Cancelled by Host",
    "Packet Too Long",
    "Packet Too Late",
  ]

  /// The code's name in the specification; nil if undefined.
  public var name: String? {
    Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : nil
  }

  /// Name and number: `Connection Timeout (0x08)`.
  public var description: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    text.write(name: name, rawValue, unnamed: "error ")
  }
}
