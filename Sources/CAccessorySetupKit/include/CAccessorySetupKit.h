// The enumerations of Apple's AccessorySetupKit, declared in C for the reason in CCoreBluetooth.h.
#pragma once

#define HALO_ENUM(name) enum __attribute__((enum_extensibility(open))) name : long

/// Whether this program may use an accessory.
typedef HALO_ENUM(ASAccessoryState) {
  ASAccessoryStateUnauthorized = 0,
  ASAccessoryStateAwaitingAuthorization = 10,
  ASAccessoryStateAuthorized = 20,
} ASAccessoryState;

/// What a session reports.
typedef HALO_ENUM(ASAccessoryEventType) {
  ASAccessoryEventTypeUnknown = 0,
  /// The session can be used: its accessories are known.
  ASAccessoryEventTypeActivated = 10,
  /// The session has ended: no event follows.
  ASAccessoryEventTypeInvalidated = 11,
  ASAccessoryEventTypeMigrationComplete = 20,
  ASAccessoryEventTypeAccessoryAdded = 30,
  ASAccessoryEventTypeAccessoryRemoved = 31,
  ASAccessoryEventTypeAccessoryChanged = 32,
  ASAccessoryEventTypeAccessoryDiscovered = 33,
  ASAccessoryEventTypePickerDidPresent = 40,
  ASAccessoryEventTypePickerDidDismiss = 50,
  ASAccessoryEventTypePickerSetupBridging = 60,
  ASAccessoryEventTypePickerSetupFailed = 70,
  ASAccessoryEventTypePickerSetupPairing = 80,
  ASAccessoryEventTypePickerSetupRename = 90,
} ASAccessoryEventType;

/// How near an accessory has to be.
typedef HALO_ENUM(ASDiscoveryDescriptorRange) {
  ASDiscoveryDescriptorRangeDefault = 0,
  ASDiscoveryDescriptorRangeImmediate = 10,
} ASDiscoveryDescriptorRange;

/// The codes of ASError.
typedef HALO_ENUM(ASErrorCode) {
  ASErrorCodeSuccess = 0,
  ASErrorCodeUnknown = 1,
  ASErrorCodeActivationFailed = 100,
  ASErrorCodeConnectionFailed = 150,
  ASErrorCodeDiscoveryTimeout = 200,
  ASErrorCodeExtensionNotFound = 300,
  ASErrorCodeInvalidated = 400,
  ASErrorCodeInvalidRequest = 450,
  ASErrorCodePickerAlreadyActive = 500,
  ASErrorCodePickerRestricted = 550,
  ASErrorCodeUserCancelled = 700,
  ASErrorCodeUserRestricted = 750,
} ASErrorCode;
