import Foundation
internal import HaloRaw

/// Why an operation of the manager or of a peripheral failed.
public struct CBError: CustomNSError, LocalizedError, Hashable, Sendable {
  public typealias Code = CBErrorCode

  public let code: Code
  private let message: String?

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    message = userInfo[NSLocalizedDescriptionKey] as? String
  }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public static var errorDomain: String { CBErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  public var userInfo: [String: Any] { errorUserInfo }
  public var errorDescription: String? { text }
  public var localizedDescription: String { text }
  private var text: String { message ?? "\(code)" }
}

extension CBError {
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
}

/// Why a peripheral refused a request (Core Specification Vol 3, Part F, 3.4.1.1).
public struct CBATTError: CustomNSError, LocalizedError, Hashable, Sendable {
  public typealias Code = CBATTErrorCode

  /// The code that the peripheral sent, also one of an application or a profile.
  public var code: Code { Code(rawValue: errorCode) ?? .unlikelyError }
  /// The code that the peripheral sent.
  public let errorCode: Int
  private let message: String?

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    errorCode = code.rawValue
    message = userInfo[NSLocalizedDescriptionKey] as? String
  }

  init(_ response: ATTErrorResponse) {
    errorCode = Int(response.code.rawValue)
    message = "\(ATTError.refused(response))"
  }

  public static var errorDomain: String { CBATTErrorDomain }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  public var userInfo: [String: Any] { errorUserInfo }
  public var errorDescription: String? { text }
  public var localizedDescription: String { text }
  private var text: String { message ?? "\(ATTErrorCode(rawValue: UInt8(truncatingIfNeeded: errorCode)))" }
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

extension CBErrorCode {
  public static func ~= (code: CBErrorCode, error: any Error) -> Bool { (error as? CBError)?.code == code }
}

extension CBATTErrorCode {
  public static func ~= (code: CBATTErrorCode, error: any Error) -> Bool {
    (error as? CBATTError)?.code == code
  }
}

extension Result {
  package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

// MARK: The stack's errors

/// The error that a delegate gets for one of the stack.
func delegateError(_ error: BluetoothError) -> any Error & Sendable {
  switch error {
  case .hci(let error): delegateError(error)
  case .gatt(let error): delegateError(error)
  }
}

private func delegateError(_ error: GATTError) -> any Error & Sendable {
  switch error {
  case .att(.refused(let response)): CBATTError(response)
  case .att(.closed): CBError(.notConnected, "\(error)")
  case .att(.timedOut): CBError(.connectionTimeout, "\(error)")
  case .att(.tooLong), .tooLong:
    CBATTError(.invalidAttributeValueLength, userInfo: [NSLocalizedDescriptionKey: "\(error)"])
  case .cancelled: CBError(.operationCancelled, "\(error)")
  case .notSupported: CBError(.operationNotSupported, "\(error)")
  case .servicesChanged, .characteristicGone, .notFound: CBError(.invalidHandle, "\(error)")
  case .noRoom, .noRoomInTime: CBError(.outOfSpace, "\(error)")
  case .att(.malformed), .att(.forbidden), .misbehaved: CBError(.unknown, "\(error)")
  }
}

private func delegateError(_ error: HCIError) -> any Error & Sendable {
  switch error {
  case .peerNotFound, .peerDidNotAnswer, .notTried: CBError(.connectionTimeout, "\(error)")
  case .peerNotConnectable: CBError(.connectionFailed, "\(error)")
  case .connectionFailed(_, .connectionLimitExceeded): CBError(.connectionLimitReached, "\(error)")
  case .connectionFailed, .connectionNotEstablished: CBError(.connectionFailed, "\(error)")
  case .unknownAddressType: CBError(.unknownDevice, "\(error)")
  case .notConnected: CBError(.notConnected, "\(error)")
  case .cancelled: CBError(.operationCancelled, "\(error)")
  default: CBError(.unknown, "\(error)")
  }
}

/// The error of a disconnection; nil if this program has asked for it.
func delegateError(_ loss: LinkLoss) -> (any Error & Sendable)? {
  switch loss {
  case .local, .notYet: nil
  // Not as a pattern: the one for errors of this module would be preferred, and match nothing.
  case .remote(let reason) where reason == HCIErrorCode.connectionTimeout:
    CBError(.connectionTimeout, "\(loss)")
  case .remote: CBError(.peripheralDisconnected, "\(loss)")
  case .adapter: CBError(.notConnected, "\(loss)")
  }
}
