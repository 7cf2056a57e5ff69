import Foundation

// Names that Apple has deprecated, and programs still use.

// Programs extend both states and CBManagerState by the same member, so that these are types of their own.

@available(*, deprecated, message: "use CBManagerState")
public enum CBCentralManagerState: Int, Sendable {
  case unknown = 0
  case resetting = 1
  case unsupported = 2
  case unauthorized = 3
  case poweredOff = 4
  case poweredOn = 5
}

@available(*, deprecated, message: "use CBManagerState")
public enum CBPeripheralManagerState: Int, Sendable {
  case unknown = 0
  case resetting = 1
  case unsupported = 2
  case unauthorized = 3
  case poweredOff = 4
  case poweredOn = 5
}

@available(*, deprecated, message: "use CBManagerAuthorization")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
  case notDetermined = 0
  case restricted = 1
  case denied = 2
  case authorized = 3
}

extension CBPeripheralManager {
  /// The authorization of this process, as `CBManager.authorization` has it.
  @available(*, deprecated, message: "use CBManager.authorization")
  public class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
    CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
  }
}

extension CBPeripheral {
  /// Always nil, as on Apple's systems since iOS 8: ``readRSSI()`` answers to the delegate.
  @available(*, deprecated, message: "use readRSSI()")
  public var rssi: NSNumber? { nil }
}

extension CBCharacteristic {
  /// Always false: a central can't see it.
  @available(*, deprecated, message: "has no replacement")
  public var isBroadcasted: Bool { false }
}
