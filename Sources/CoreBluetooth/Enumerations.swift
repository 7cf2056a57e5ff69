@_exported import CCoreBluetooth

// The enumerations of C are printed by the names of their cases. They conform to no protocol that programs add to them, such as
// CustomStringConvertible: a program's own description is printed instead.

/// Writes a value of an enumeration as programs expect it.
///
/// - Parameters:
///   - value: of an enumeration of C
///   - name: of its case; nil for a value without a case, which is written as its raw value
package func write<Enumeration: RawRepresentable>(
  _ value: Enumeration, named name: String?, to target: inout some TextOutputStream
) {
  if let described = value as? any CustomStringConvertible {
    target.write(described.description)
  } else {
    target.write(name ?? "\(Enumeration.self)(rawValue: \(value.rawValue))")
  }
}

extension CBManagerState: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .unknown: "unknown"
      case .resetting: "resetting"
      case .unsupported: "unsupported"
      case .unauthorized: "unauthorized"
      case .poweredOff: "poweredOff"
      case .poweredOn: "poweredOn"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBManagerAuthorization: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .notDetermined: "notDetermined"
      case .restricted: "restricted"
      case .denied: "denied"
      case .allowedAlways: "allowedAlways"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBPeripheralState: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .disconnected: "disconnected"
      case .connecting: "connecting"
      case .connected: "connected"
      case .disconnecting: "disconnecting"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBCharacteristicWriteType: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .withResponse: "withResponse"
      case .withoutResponse: "withoutResponse"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBConnectionEvent: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .peerDisconnected: "peerDisconnected"
      case .peerConnected: "peerConnected"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}

extension CBPeripheralManagerConnectionLatency: @retroactive TextOutputStreamable {
  public func write(to target: inout some TextOutputStream) {
    let name: String? =
      switch self {
      case .low: "low"
      case .medium: "medium"
      case .high: "high"
      @unknown default: nil
      }
    CoreBluetooth.write(self, named: name, to: &target)
  }
}
