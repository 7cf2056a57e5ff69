internal import ATT
import Foundation

/// Why an operation of the manager or of a peripheral failed.
///
/// `localizedDescription` has Apple's words. The stack's reason is in the user info, under `NSDebugDescriptionErrorKey`, and
/// printed with the error.
public struct CBError: StoredNSError {
  public typealias Code = CBErrorCode

  public static var errorDomain: String { CBErrorDomain }
  public let _nsError: NSError

  public init(_nsError error: NSError) { _nsError = error }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(code, saying: code.text, userInfo: userInfo)
  }

  /// - Parameter detail: the stack's reason
  init(_ code: Code, _ detail: String) {
    self.init(code, saying: code.text, detail: detail)
  }

  public static var unknown: Code { .unknown }
  public static var invalidParameters: Code { .invalidParameters }
  public static var invalidHandle: Code { .invalidHandle }
  public static var notConnected: Code { .notConnected }
  public static var outOfSpace: Code { .outOfSpace }
  public static var operationCancelled: Code { .operationCancelled }
  public static var connectionTimeout: Code { .connectionTimeout }
  public static var peripheralDisconnected: Code { .peripheralDisconnected }
  public static var uuidNotAllowed: Code { .uuidNotAllowed }
  public static var alreadyAdvertising: Code { .alreadyAdvertising }
  public static var connectionFailed: Code { .connectionFailed }
  public static var connectionLimitReached: Code { .connectionLimitReached }
  public static var unknownDevice: Code { .unknownDevice }
  public static var operationNotSupported: Code { .operationNotSupported }
  public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
  public static var encryptionTimedOut: Code { .encryptionTimedOut }
  public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
  /// The name with Apple's misspelling.
  public static var unkownDevice: Code { .unkownDevice }
  public static var leGattExceededBackgroundNotificationLimit: Code {
    .leGattExceededBackgroundNotificationLimit
  }
  public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
}

extension CBErrorCode {
  /// The text on Apple's systems, from public logs. Those have no `invalidHandle`, `outOfSpace`, `operationCancelled`,
  /// `connectionLimitReached`, `unknownDevice`, `operationNotSupported` and `tooManyLEPairedDevices`.
  fileprivate var text: String {
    switch self {
    case .unknown: "Unknown error."
    case .invalidParameters: "One or more parameters were invalid."
    case .invalidHandle: "The handle of the attribute is invalid."
    case .notConnected: "The specified device is not connected."
    case .outOfSpace: "There is no space left."
    case .operationCancelled: "The operation was cancelled."
    case .connectionTimeout: "The connection has timed out unexpectedly."
    case .peripheralDisconnected: "The specified device has disconnected from us."
    case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
    case .alreadyAdvertising: "Advertising has already started."
    case .connectionFailed: "The connection has failed unexpectedly."
    case .connectionLimitReached: "The maximum number of connections is reached."
    case .unknownDevice: "The device is unknown."
    case .operationNotSupported: "The operation is not supported."
    case .peerRemovedPairingInformation: "Peer removed pairing information"
    case .encryptionTimedOut:
      "Failed to encrypt the connection, the connection has timed out unexpectedly."
    case .tooManyLEPairedDevices: "Too many LE devices are paired."
    case .leGattExceededBackgroundNotificationLimit:
      "There were more notifications in the background than are allowed."
    case .leGattNearBackgroundNotificationLimit:
      "There were almost as many notifications in the background as are allowed."
    case .other: "Unknown error."
    }
  }
}

/// Why a peripheral refused a request (Core Specification Vol 3, Part F, 3.4.1.1).
///
/// The code is the one that the peripheral sent, also one of an application or a profile. `localizedDescription` has Apple's
/// words; the request and the handle are in the user info, under `NSDebugDescriptionErrorKey`, and printed with the error.
public struct CBATTError: StoredNSError {
  public typealias Code = CBATTErrorCode

  public static var errorDomain: String { CBATTErrorDomain }
  public let _nsError: NSError

  public init(_nsError error: NSError) { _nsError = error }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(code, saying: code.text, userInfo: userInfo)
  }

  init(_ code: Code, _ detail: String) {
    self.init(code, saying: code.text, detail: detail)
  }

  public static var success: Code { .success }
  public static var invalidHandle: Code { .invalidHandle }
  public static var readNotPermitted: Code { .readNotPermitted }
  public static var writeNotPermitted: Code { .writeNotPermitted }
  public static var invalidPdu: Code { .invalidPdu }
  public static var insufficientAuthentication: Code { .insufficientAuthentication }
  public static var requestNotSupported: Code { .requestNotSupported }
  public static var invalidOffset: Code { .invalidOffset }
  public static var insufficientAuthorization: Code { .insufficientAuthorization }
  public static var prepareQueueFull: Code { .prepareQueueFull }
  public static var attributeNotFound: Code { .attributeNotFound }
  public static var attributeNotLong: Code { .attributeNotLong }
  public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
  public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
  public static var unlikelyError: Code { .unlikelyError }
  public static var insufficientEncryption: Code { .insufficientEncryption }
  public static var unsupportedGroupType: Code { .unsupportedGroupType }
  public static var insufficientResources: Code { .insufficientResources }
}

extension CBATTErrorCode {
  /// The reason of a server.
  init(_ code: ATTErrorCode?) { self = code.flatMap { Self(rawValue: Int($0.rawValue)) } ?? .unlikelyError }

  /// The text on Apple's systems (listed by chipweinberger/flutter_blue_plus).
  fileprivate var text: String {
    switch self {
    case .success: "The operation has succeeded."
    case .invalidHandle: "The handle is invalid."
    case .readNotPermitted: "Reading is not permitted."
    case .writeNotPermitted: "Writing is not permitted."
    case .invalidPdu: "The command is invalid."
    case .insufficientAuthentication: "Authentication is insufficient."
    case .requestNotSupported: "The request is not supported."
    case .invalidOffset: "The offset is invalid."
    case .insufficientAuthorization: "Authorization is insufficient."
    case .prepareQueueFull: "The prepare queue is full."
    case .attributeNotFound: "The attribute could not be found."
    case .attributeNotLong: "The attribute is not long."
    case .insufficientEncryptionKeySize: "The encryption key size is insufficient."
    case .invalidAttributeValueLength: "The value's length is invalid."
    case .unlikelyError: "Unlikely error."
    case .insufficientEncryption: "Encryption is insufficient."
    case .unsupportedGroupType: "The group type is unsupported."
    case .insufficientResources: "Resources are insufficient."
    case .other: "Unknown ATT error."
    }
  }
}
