// The enumerations whose values are only made by this module. A switch over all cases needs no default, and takes one. The
// raw values are those that Apple documents.

/// The state of the adapter.
public enum CBManagerState: Int, Sendable {
  case unknown = 0
  case resetting = 1
  case unsupported = 2
  case unauthorized = 3
  case poweredOff = 4
  case poweredOn = 5
}

/// The permission of this process to use the adapter.
public enum CBManagerAuthorization: Int, Sendable {
  case notDetermined = 0
  case restricted = 1
  /// The process lacks a capability that the adapter needs.
  case denied = 2
  case allowedAlways = 3
}

/// How far a connection to a peripheral is.
public enum CBPeripheralState: Int, Sendable {
  case disconnected = 0
  case connecting = 1
  case connected = 2
  case disconnecting = 3
}

/// The kind of a write: with or without a confirmation of the peripheral.
public enum CBCharacteristicWriteType: Int, Sendable {
  case withResponse = 0
  case withoutResponse = 1
}

/// A change of a connection of this machine.
public enum CBConnectionEvent: Int, Sendable {
  case peerDisconnected = 0
  case peerConnected = 1
}

/// The latency of a connection to a central.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
  case low = 0
  case medium = 1
  case high = 2
}

/// The codes of ``CBError``.
public enum CBErrorCode: ErrorCode {
  public typealias Failure = CBError

  case unknown
  case invalidParameters
  case invalidHandle
  case notConnected
  case outOfSpace
  case operationCancelled
  case connectionTimeout
  case peripheralDisconnected
  case uuidNotAllowed
  case alreadyAdvertising
  case connectionFailed
  case connectionLimitReached
  case unknownDevice
  case operationNotSupported
  case peerRemovedPairingInformation
  case encryptionTimedOut
  case tooManyLEPairedDevices
  case leGattExceededBackgroundNotificationLimit
  case leGattNearBackgroundNotificationLimit
  /// A value without a name.
  case other(Int)

  public static let named: [Self] = [
    .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
    .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
    .connectionLimitReached, .unknownDevice, .operationNotSupported, .peerRemovedPairingInformation,
    .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
    .leGattNearBackgroundNotificationLimit,
  ]

  public var rawValue: Int {
    switch self {
    case .unknown: 0
    case .invalidParameters: 1
    case .invalidHandle: 2
    case .notConnected: 3
    case .outOfSpace: 4
    case .operationCancelled: 5
    case .connectionTimeout: 6
    case .peripheralDisconnected: 7
    case .uuidNotAllowed: 8
    case .alreadyAdvertising: 9
    case .connectionFailed: 10
    case .connectionLimitReached: 11
    case .unknownDevice: 12
    case .operationNotSupported: 13
    case .peerRemovedPairingInformation: 14
    case .encryptionTimedOut: 15
    case .tooManyLEPairedDevices: 16
    case .leGattExceededBackgroundNotificationLimit: 17
    case .leGattNearBackgroundNotificationLimit: 18
    case .other(let value): value
    }
  }

  /// The name with Apple's misspelling.
  public static var unkownDevice: Self { .unknownDevice }
}

/// The codes of ``CBATTError`` (Core Specification Vol 3, Part F, 3.4.1.1). 0x80 to 0x9F belong to applications, and 0xE0 to
/// 0xFF to profiles.
public enum CBATTErrorCode: ErrorCode {
  public typealias Failure = CBATTError

  case success
  case invalidHandle
  case readNotPermitted
  case writeNotPermitted
  case invalidPdu
  case insufficientAuthentication
  case requestNotSupported
  case invalidOffset
  case insufficientAuthorization
  case prepareQueueFull
  case attributeNotFound
  case attributeNotLong
  case insufficientEncryptionKeySize
  case invalidAttributeValueLength
  case unlikelyError
  case insufficientEncryption
  case unsupportedGroupType
  case insufficientResources
  /// A value without a name.
  case other(Int)

  public static let named: [Self] = [
    .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
    .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
    .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
    .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
  ]

  public var rawValue: Int {
    switch self {
    case .success: 0x00
    case .invalidHandle: 0x01
    case .readNotPermitted: 0x02
    case .writeNotPermitted: 0x03
    case .invalidPdu: 0x04
    case .insufficientAuthentication: 0x05
    case .requestNotSupported: 0x06
    case .invalidOffset: 0x07
    case .insufficientAuthorization: 0x08
    case .prepareQueueFull: 0x09
    case .attributeNotFound: 0x0A
    case .attributeNotLong: 0x0B
    case .insufficientEncryptionKeySize: 0x0C
    case .invalidAttributeValueLength: 0x0D
    case .unlikelyError: 0x0E
    case .insufficientEncryption: 0x0F
    case .unsupportedGroupType: 0x10
    case .insufficientResources: 0x11
    case .other(let value): value
    }
  }
}
