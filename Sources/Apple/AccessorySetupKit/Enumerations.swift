public import CoreBluetooth
import Foundation

/// The permission of this program to use an accessory.
public enum ASAccessoryState: Int, Sendable {
  case unauthorized = 0
  case awaitingAuthorization = 10
  case authorized = 20
}

/// The kind of a session's event.
public enum ASAccessoryEventType: Int, Sendable {
  case unknown = 0
  /// The session can be used: its accessories are known.
  case activated = 10
  /// The session has ended: no event follows.
  case invalidated = 11
  case migrationComplete = 20
  case accessoryAdded = 30
  case accessoryRemoved = 31
  case accessoryChanged = 32
  case accessoryDiscovered = 33
  case pickerDidPresent = 40
  case pickerDidDismiss = 50
  case pickerSetupBridging = 60
  case pickerSetupFailed = 70
  case pickerSetupPairing = 80
  case pickerSetupRename = 90
}

/// How near an accessory has to be.
public enum ASDiscoveryDescriptorRange: Int, Sendable {
  case `default` = 0
  case immediate = 10
}

/// The codes of ``ASError``, which take any raw value.
public enum ASErrorCode: ErrorCode {
  public typealias Failure = ASError

  case success
  case unknown
  case activationFailed
  case connectionFailed
  case discoveryTimeout
  case extensionNotFound
  case invalidated
  case invalidRequest
  case pickerAlreadyActive
  case pickerRestricted
  case userCancelled
  case userRestricted
  /// A value without a name.
  case other(Int)

  public static let named: [Self] = [
    .success, .unknown, .activationFailed, .connectionFailed, .discoveryTimeout, .extensionNotFound,
    .invalidated, .invalidRequest, .pickerAlreadyActive, .pickerRestricted, .userCancelled, .userRestricted,
  ]

  public var rawValue: Int {
    switch self {
    case .success: 0
    case .unknown: 1
    case .activationFailed: 100
    case .connectionFailed: 150
    case .discoveryTimeout: 200
    case .extensionNotFound: 300
    case .invalidated: 400
    case .invalidRequest: 450
    case .pickerAlreadyActive: 500
    case .pickerRestricted: 550
    case .userCancelled: 700
    case .userRestricted: 750
    case .other(let value): value
    }
  }
}

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
