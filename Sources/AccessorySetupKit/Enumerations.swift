@_exported import CAccessorySetupKit
internal import CoreBluetooth

// Printed by their names, as those of CoreBluetooth are.

extension ASAccessoryState: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .unauthorized: "unauthorized"
      case .awaitingAuthorization: "awaitingAuthorization"
      case .authorized: "authorized"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension ASAccessoryEventType: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .unknown: "unknown"
      case .activated: "activated"
      case .invalidated: "invalidated"
      case .migrationComplete: "migrationComplete"
      case .accessoryAdded: "accessoryAdded"
      case .accessoryRemoved: "accessoryRemoved"
      case .accessoryChanged: "accessoryChanged"
      case .accessoryDiscovered: "accessoryDiscovered"
      case .pickerDidPresent: "pickerDidPresent"
      case .pickerDidDismiss: "pickerDidDismiss"
      case .pickerSetupBridging: "pickerSetupBridging"
      case .pickerSetupFailed: "pickerSetupFailed"
      case .pickerSetupPairing: "pickerSetupPairing"
      case .pickerSetupRename: "pickerSetupRename"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension ASDiscoveryDescriptorRange: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .default: "default"
      case .immediate: "immediate"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension ASErrorCode: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .success: "success"
      case .unknown: "unknown"
      case .activationFailed: "activationFailed"
      case .connectionFailed: "connectionFailed"
      case .discoveryTimeout: "discoveryTimeout"
      case .extensionNotFound: "extensionNotFound"
      case .invalidated: "invalidated"
      case .invalidRequest: "invalidRequest"
      case .pickerAlreadyActive: "pickerAlreadyActive"
      case .pickerRestricted: "pickerRestricted"
      case .userCancelled: "userCancelled"
      case .userRestricted: "userRestricted"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}
