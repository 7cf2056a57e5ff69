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
