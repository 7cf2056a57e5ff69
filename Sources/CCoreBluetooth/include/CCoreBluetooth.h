// The enumerations of Apple's CoreBluetooth. They are declared in C, as Apple's are, so that Swift imports them in the
// same way: init?(rawValue:) takes any value, and a switch handles further ones with `@unknown default`. The values are
// those that Apple documents.
#pragma once

#define HALO_ENUM(name) enum __attribute__((enum_extensibility(open))) name : long

/// Whether the adapter can be used.
typedef HALO_ENUM(CBManagerState) {
  CBManagerStateUnknown = 0,
  CBManagerStateResetting = 1,
  CBManagerStateUnsupported = 2,
  CBManagerStateUnauthorized = 3,
  CBManagerStatePoweredOff = 4,
  CBManagerStatePoweredOn = 5,
} CBManagerState;

/// Whether this process may use the adapter.
typedef HALO_ENUM(CBManagerAuthorization) {
  CBManagerAuthorizationNotDetermined = 0,
  CBManagerAuthorizationRestricted = 1,
  /// The process lacks a capability that the adapter needs.
  CBManagerAuthorizationDenied = 2,
  CBManagerAuthorizationAllowedAlways = 3,
} CBManagerAuthorization;

/// How far a connection to a peripheral is.
typedef HALO_ENUM(CBPeripheralState) {
  CBPeripheralStateDisconnected = 0,
  CBPeripheralStateConnecting = 1,
  CBPeripheralStateConnected = 2,
  CBPeripheralStateDisconnecting = 3,
} CBPeripheralState;

/// Whether the peripheral confirms a write.
typedef HALO_ENUM(CBCharacteristicWriteType) {
  CBCharacteristicWriteWithResponse = 0,
  CBCharacteristicWriteWithoutResponse = 1,
} CBCharacteristicWriteType;

/// What has happened to a connection of this machine.
typedef HALO_ENUM(CBConnectionEvent) {
  CBConnectionEventPeerDisconnected = 0,
  CBConnectionEventPeerConnected = 1,
} CBConnectionEvent;

/// How often a connected central listens.
typedef HALO_ENUM(CBPeripheralManagerConnectionLatency) {
  CBPeripheralManagerConnectionLatencyLow = 0,
  CBPeripheralManagerConnectionLatencyMedium = 1,
  CBPeripheralManagerConnectionLatencyHigh = 2,
} CBPeripheralManagerConnectionLatency;

/// The codes of CBError.
typedef HALO_ENUM(CBErrorCode) {
  CBErrorUnknown = 0,
  CBErrorInvalidParameters = 1,
  CBErrorInvalidHandle = 2,
  CBErrorNotConnected = 3,
  CBErrorOutOfSpace = 4,
  CBErrorOperationCancelled = 5,
  CBErrorConnectionTimeout = 6,
  CBErrorPeripheralDisconnected = 7,
  CBErrorUUIDNotAllowed = 8,
  CBErrorAlreadyAdvertising = 9,
  CBErrorConnectionFailed = 10,
  CBErrorConnectionLimitReached = 11,
  CBErrorUnknownDevice = 12,
  /// The name with Apple's misspelling.
  CBErrorUnkownDevice = 12,
  CBErrorOperationNotSupported = 13,
  CBErrorPeerRemovedPairingInformation = 14,
  CBErrorEncryptionTimedOut = 15,
  CBErrorTooManyLEPairedDevices = 16,
  CBErrorLeGattExceededBackgroundNotificationLimit = 17,
  CBErrorLeGattNearBackgroundNotificationLimit = 18,
} CBErrorCode;

/// The codes of CBATTError (Core Specification Vol 3, Part F, 3.4.1.1). 0x80 to 0x9F belong to applications, and 0xE0 to
/// 0xFF to profiles.
typedef HALO_ENUM(CBATTErrorCode) {
  CBATTErrorSuccess = 0x00,
  CBATTErrorInvalidHandle = 0x01,
  CBATTErrorReadNotPermitted = 0x02,
  CBATTErrorWriteNotPermitted = 0x03,
  CBATTErrorInvalidPdu = 0x04,
  CBATTErrorInsufficientAuthentication = 0x05,
  CBATTErrorRequestNotSupported = 0x06,
  CBATTErrorInvalidOffset = 0x07,
  CBATTErrorInsufficientAuthorization = 0x08,
  CBATTErrorPrepareQueueFull = 0x09,
  CBATTErrorAttributeNotFound = 0x0A,
  CBATTErrorAttributeNotLong = 0x0B,
  CBATTErrorInsufficientEncryptionKeySize = 0x0C,
  CBATTErrorInvalidAttributeValueLength = 0x0D,
  CBATTErrorUnlikelyError = 0x0E,
  CBATTErrorInsufficientEncryption = 0x0F,
  CBATTErrorUnsupportedGroupType = 0x10,
  CBATTErrorInsufficientResources = 0x11,
} CBATTErrorCode;

// Names of earlier systems. Apple has deprecated them, and programs still have them.

#define HALO_DEPRECATED(text) __attribute__((deprecated(text)))

typedef HALO_ENUM(CBCentralManagerState) {
  CBCentralManagerStateUnknown = CBManagerStateUnknown,
  CBCentralManagerStateResetting = CBManagerStateResetting,
  CBCentralManagerStateUnsupported = CBManagerStateUnsupported,
  CBCentralManagerStateUnauthorized = CBManagerStateUnauthorized,
  CBCentralManagerStatePoweredOff = CBManagerStatePoweredOff,
  CBCentralManagerStatePoweredOn = CBManagerStatePoweredOn,
} CBCentralManagerState HALO_DEPRECATED("use CBManagerState");

typedef HALO_ENUM(CBPeripheralManagerState) {
  CBPeripheralManagerStateUnknown = CBManagerStateUnknown,
  CBPeripheralManagerStateResetting = CBManagerStateResetting,
  CBPeripheralManagerStateUnsupported = CBManagerStateUnsupported,
  CBPeripheralManagerStateUnauthorized = CBManagerStateUnauthorized,
  CBPeripheralManagerStatePoweredOff = CBManagerStatePoweredOff,
  CBPeripheralManagerStatePoweredOn = CBManagerStatePoweredOn,
} CBPeripheralManagerState HALO_DEPRECATED("use CBManagerState");

typedef HALO_ENUM(CBPeripheralManagerAuthorizationStatus) {
  CBPeripheralManagerAuthorizationStatusNotDetermined = 0,
  CBPeripheralManagerAuthorizationStatusRestricted = 1,
  CBPeripheralManagerAuthorizationStatusDenied = 2,
  CBPeripheralManagerAuthorizationStatusAuthorized = 3,
} CBPeripheralManagerAuthorizationStatus HALO_DEPRECATED("use CBManagerAuthorization");
