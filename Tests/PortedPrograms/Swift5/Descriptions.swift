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

// The states before iOS 10 are types of their own: libraries extend all three alike (theheraldproject/herald-for-ios), and
// programs make one of another by its number (rhummelmose/BluetoothKit).

@available(*, deprecated)
extension CBCentralManagerState: CustomStringConvertible {
  public var description: String { CBManagerState(rawValue: rawValue)?.description ?? "New" }
}

@available(*, deprecated)
extension CBPeripheralManagerState: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknown, .resetting: return "Later"
    case .unsupported, .unauthorized: return "Never"
    case .poweredOff, .poweredOn: return "\(self == .poweredOn)"
    @unknown default: return "New"
    }
  }
}

@available(*, deprecated)
extension CBCentralManager {
  var centralManagerState: CBCentralManagerState {
    CBCentralManagerState(rawValue: state.rawValue) ?? .unknown
  }
  var isOn: Bool { centralManagerState == .poweredOn && state == .poweredOn }
}

@available(*, deprecated)
extension CBPeripheralManager {
  var isOn: Bool {
    switch CBPeripheralManagerState(rawValue: state.rawValue) {
    case .poweredOn: return true
    default: return false
    }
  }
}
