import CoreBluetooth

// Apps describe the states themselves, and switch over all of them.

extension CBManagerState: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknown: return "Unknown"
    case .resetting: return "Resetting"
    case .unsupported: return "Unsupported"
    case .unauthorized: return "Unauthorized"
    case .poweredOff: return "Off"
    case .poweredOn: return "On"
    @unknown default: return "New: \(rawValue)"
    }
  }
}

extension CBPeripheralState: CustomDebugStringConvertible {
  public var debugDescription: String {
    switch self {
    case .disconnected: return "D"
    case .connecting, .connected, .disconnecting: return "C"
    @unknown default: return "?"
    }
  }
}

extension CBCharacteristicProperties: CustomStringConvertible {
  public var description: String {
    [(CBCharacteristicProperties.read, "read"), (.write, "write"), (.notify, "notify")]
      .filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

extension CBError.Code {
  var isLossOfTheLink: Bool { [.connectionTimeout, .peripheralDisconnected].contains(self) }
}
