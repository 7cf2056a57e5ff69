public import CoreBluetooth
import Foundation

/// Why a request to a session failed. `localizedDescription` says the reason.
public struct ASError: StoredNSError {
  public typealias Code = ASErrorCode

  public static var errorDomain: String { ASErrorDomain }
  public let _nsError: NSError

  public init(_nsError error: NSError) { _nsError = error }

  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(code, saying: "\(code)", userInfo: userInfo)
  }

  init(_ code: Code, _ message: String) {
    self.init(code, saying: message)
  }
}

extension ASError {
  public static var success: Code { .success }
  public static var unknown: Code { .unknown }
  public static var activationFailed: Code { .activationFailed }
  public static var connectionFailed: Code { .connectionFailed }
  public static var discoveryTimeout: Code { .discoveryTimeout }
  public static var extensionNotFound: Code { .extensionNotFound }
  public static var invalidated: Code { .invalidated }
  public static var invalidRequest: Code { .invalidRequest }
  public static var pickerAlreadyActive: Code { .pickerAlreadyActive }
  public static var pickerRestricted: Code { .pickerRestricted }
  public static var userCancelled: Code { .userCancelled }
  public static var userRestricted: Code { .userRestricted }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public let ASErrorDomain = "ASErrorDomain"
