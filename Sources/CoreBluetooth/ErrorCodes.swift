@_exported import CCoreBluetooth

// The codes of errors are printed by their names, as the other enumerations are.

extension CBErrorCode: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .unknown: "unknown"
      case .invalidParameters: "invalidParameters"
      case .invalidHandle: "invalidHandle"
      case .notConnected: "notConnected"
      case .outOfSpace: "outOfSpace"
      case .operationCancelled: "operationCancelled"
      case .connectionTimeout: "connectionTimeout"
      case .peripheralDisconnected: "peripheralDisconnected"
      case .uuidNotAllowed: "uuidNotAllowed"
      case .alreadyAdvertising: "alreadyAdvertising"
      case .connectionFailed: "connectionFailed"
      case .connectionLimitReached: "connectionLimitReached"
      case .unknownDevice: "unknownDevice"
      case .operationNotSupported: "operationNotSupported"
      case .peerRemovedPairingInformation: "peerRemovedPairingInformation"
      case .encryptionTimedOut: "encryptionTimedOut"
      case .tooManyLEPairedDevices: "tooManyLEPairedDevices"
      case .leGattExceededBackgroundNotificationLimit: "leGattExceededBackgroundNotificationLimit"
      case .leGattNearBackgroundNotificationLimit: "leGattNearBackgroundNotificationLimit"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBATTErrorCode: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .success: "success"
      case .invalidHandle: "invalidHandle"
      case .readNotPermitted: "readNotPermitted"
      case .writeNotPermitted: "writeNotPermitted"
      case .invalidPdu: "invalidPdu"
      case .insufficientAuthentication: "insufficientAuthentication"
      case .requestNotSupported: "requestNotSupported"
      case .invalidOffset: "invalidOffset"
      case .insufficientAuthorization: "insufficientAuthorization"
      case .prepareQueueFull: "prepareQueueFull"
      case .attributeNotFound: "attributeNotFound"
      case .attributeNotLong: "attributeNotLong"
      case .insufficientEncryptionKeySize: "insufficientEncryptionKeySize"
      case .invalidAttributeValueLength: "invalidAttributeValueLength"
      case .unlikelyError: "unlikelyError"
      case .insufficientEncryption: "insufficientEncryption"
      case .unsupportedGroupType: "unsupportedGroupType"
      case .insufficientResources: "insufficientResources"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}
