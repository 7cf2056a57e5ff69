internal import ATT
import Foundation
internal import HaloRaw

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
}

extension CBATTErrorCode {
  /// The reason of a server.
  init(_ code: ATTErrorCode?) { self = code.flatMap { Self(rawValue: Int($0.rawValue)) } ?? .unlikelyError }
}

extension CBATTErrorCode {
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

extension CBATTError {
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
