import Foundation

/// Why a request to a session failed.
public struct ASError: CustomNSError, LocalizedError, Hashable, Sendable {
  public typealias Code = ASErrorCode

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

  public static var errorDomain: String { ASErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
  public var userInfo: [String: Any] { errorUserInfo }
  public var errorDescription: String? { text }
  public var localizedDescription: String { text }
  private var text: String { message ?? "\(code)" }
}

extension ASError {
  public static var activationFailed: Code { .activationFailed }
  public static var connectionFailed: Code { .connectionFailed }
  public static var discoveryTimeout: Code { .discoveryTimeout }
  public static var invalidated: Code { .invalidated }
  public static var invalidRequest: Code { .invalidRequest }
  public static var pickerAlreadyActive: Code { .pickerAlreadyActive }
  public static var pickerRestricted: Code { .pickerRestricted }
  public static var userCancelled: Code { .userCancelled }
  public static var userRestricted: Code { .userRestricted }
}

extension ASErrorCode {
  public static func ~= (code: ASErrorCode, error: any Error) -> Bool { (error as? ASError)?.code == code }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public let ASErrorDomain = "ASErrorDomain"
