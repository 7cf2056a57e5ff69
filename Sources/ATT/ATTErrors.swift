import HaloBluetoothCore

/// Why a server refused a request (Core Specification Vol 3, Part F, 3.4.1.1; the common profile codes are in
/// the Core Specification Supplement, Part B).
public struct ATTErrorCode: RawRepresentable, Error, Hashable, Sendable, FieldCode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  private init(_ rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let invalidHandle = ATTErrorCode(0x01)
  public static let readNotPermitted = ATTErrorCode(0x02)
  public static let writeNotPermitted = ATTErrorCode(0x03)
  public static let invalidPDU = ATTErrorCode(0x04)
  public static let insufficientAuthentication = ATTErrorCode(0x05)
  public static let requestNotSupported = ATTErrorCode(0x06)
  public static let invalidOffset = ATTErrorCode(0x07)
  public static let insufficientAuthorization = ATTErrorCode(0x08)
  public static let prepareQueueFull = ATTErrorCode(0x09)
  public static let attributeNotFound = ATTErrorCode(0x0A)
  public static let attributeNotLong = ATTErrorCode(0x0B)
  public static let encryptionKeySizeTooShort = ATTErrorCode(0x0C)
  public static let invalidAttributeValueLength = ATTErrorCode(0x0D)
  public static let unlikelyError = ATTErrorCode(0x0E)
  public static let insufficientEncryption = ATTErrorCode(0x0F)
  public static let unsupportedGroupType = ATTErrorCode(0x10)
  public static let insufficientResources = ATTErrorCode(0x11)
  public static let databaseOutOfSync = ATTErrorCode(0x12)
  public static let valueNotAllowed = ATTErrorCode(0x13)
  public static let writeRequestRejected = ATTErrorCode(0xFC)
  public static let cccdImproperlyConfigured = ATTErrorCode(0xFD)
  public static let procedureAlreadyInProgress = ATTErrorCode(0xFE)
  public static let outOfRange = ATTErrorCode(0xFF)

  private static let names: [ATTErrorCode: String] = [
    .invalidHandle: "Invalid Handle",
    .readNotPermitted: "Read Not Permitted",
    .writeNotPermitted: "Write Not Permitted",
    .invalidPDU: "Invalid PDU",
    .insufficientAuthentication: "Insufficient Authentication",
    .requestNotSupported: "Request Not Supported",
    .invalidOffset: "Invalid Offset",
    .insufficientAuthorization: "Insufficient Authorization",
    .prepareQueueFull: "Prepare Queue Full",
    .attributeNotFound: "Attribute Not Found",
    .attributeNotLong: "Attribute Not Long",
    .encryptionKeySizeTooShort: "Encryption Key Size Too Short",
    .invalidAttributeValueLength: "Invalid Attribute Value Length",
    .unlikelyError: "Unlikely Error",
    .insufficientEncryption: "Insufficient Encryption",
    .unsupportedGroupType: "Unsupported Group Type",
    .insufficientResources: "Insufficient Resources",
    .databaseOutOfSync: "Database Out Of Sync",
    .valueNotAllowed: "Value Not Allowed",
    .writeRequestRejected: "Write Request Rejected",
    .cccdImproperlyConfigured: "Client Characteristic Configuration Descriptor Improperly Configured",
    .procedureAlreadyInProgress: "Procedure Already in Progress",
    .outOfRange: "Out of Range",
  ]

  /// Whether the server requires pairing or encryption. Repeating the request without it fails again.
  public var isSecurityRelated: Bool {
    switch self {
    case .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption,
      .encryptionKeySizeTooShort:
      true
    default: false
    }
  }

  /// The name and the number: `Attribute Not Found (0x0a)`.
  public var description: String {
    let name =
      Self.names[self]
      ?? (0x80...0x9F ~= rawValue ? "application error" : "reserved error")
    return "\(name) (\(Hex.string(rawValue)))"
  }
}

/// Why an ATT transaction failed.
extension StackError {
  /// The Error Response of the server; nil if it gave none.
  package var response: ATTErrorResponse? {
    guard case .server(let code, let opcode, let handle) = cause else { return nil }
    return ATTErrorResponse(
      request: ATTOpcode(rawValue: opcode), handle: AttributeHandle(rawValue: handle),
      code: ATTErrorCode(rawValue: code))
  }

  /// The reason of the server; nil if it gave none.
  package var attCode: ATTErrorCode? { response?.code }

  /// The server answered with an Error Response.
  package static func refused(_ response: ATTErrorResponse) -> StackError {
    StackError(
      .refused, .final,
      "the peer refused the \(response.request) on handle \(response.handle): \(response.code)",
      cause: .server(response.code.rawValue, response.request.rawValue, response.handle.rawValue))
  }

  /// The refusal of the server, with the reason why the link did not get the security that it asks for; or that reason alone,
  /// if it tells more than the refusal.
  package func refusal(because reason: StackError) -> StackError {
    switch reason.code {
    case .pairingFailed, .notOffered:
      StackError(.refused, .final, "\(self.reason); \(reason)", operation: operation, cause: cause)
    default: reason
    }
  }

  /// The server's response can't be decoded.
  package static func malformed(_ opcode: ATTOpcode, _ error: DecodeError) -> StackError {
    StackError(.malformed, .final, "the peer's \(opcode) can't be read: \(error)")
  }

  /// The server did not respond within 30 seconds, or in the time that the request had. ATT has no transaction identifiers,
  /// so a late response could be mistaken for that of another request: the bearer can't be used any more (Core Specification
  /// Vol 3, Part F, 3.3.3).
  package static func timedOut(_ opcode: ATTOpcode) -> StackError {
    StackError(.timedOut, .silence, "the peer did not answer the \(opcode) in time; the link is given up")
  }

  /// The link is closed, with the reason.
  package static func closed(_ reason: String) -> StackError {
    StackError(.closed, .link, reason, operation: "the link is gone")
  }

  /// No attribute value is longer than 512 bytes (Core Specification Vol 3, Part F, 3.2.9).
  package static func tooLong(_ count: Int) -> StackError {
    let maximum = ATTBearer.maximumValueLength
    return StackError(
      .tooLong, .final, "\(count) bytes are too many: an attribute value holds \(maximum) at most")
  }

  /// The value does not fit into one PDU at the MTU in force; a long write can carry it.
  package static func tooLong(count: Int, maximum: Int) -> StackError {
    StackError(.tooLongForPDU, .final, "\(count) bytes do not fit into one PDU, which holds \(maximum)")
  }
}
