import BluetoothCore

/// Why the controller did not do what the host asked for.
public enum HCIError: Error, Hashable, Sendable {
  /// The controller answered a command with an error.
  case commandFailed(HCIOpcode, HCIErrorCode)
  /// The controller did not answer in time. It is taken for dead: nothing more is sent until it is reset.
  case commandTimedOut(HCIOpcode)
  /// The controller's answer can't be read.
  case malformedResponse(HCIOpcode, DecodeError)
  /// The controller reported that it has broken down (Core Specification Vol 4, Part E, 7.7.16).
  case hardwareError(UInt8)
  /// The way to the controller is gone, and why.
  case transportClosed(String)
  /// The controller says that it has no buffers for data, neither for LE alone nor shared ones.
  case noDataBuffers
  /// The controller cannot do Bluetooth LE.
  case lowEnergyNotSupported
  /// No advertisement of the peer was heard in time, so that there was nobody to connect to.
  case peerNotFound(BluetoothAddress, seconds: Double)
  /// The address is of a type that the specification does not have, so that it names no device.
  case unknownAddressType(BluetoothAddress)
  /// The link is gone.
  case notConnected
  /// The controller could not make the link.
  case connectionFailed(BluetoothAddress, HCIErrorCode)
  /// Links were made and lost again before their first packet, as often as was tried.
  case connectionNotEstablished(BluetoothAddress, attempts: Int)
  /// The controller is not set up, or is being set up anew.
  case notReady
  case cancelled
  /// The kernel that has the controller does not do it.
  case kernel(KernelError)
}

extension HCIError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .commandFailed(let opcode, let code): "the controller refused \(opcode): \(code)"
    case .commandTimedOut(let opcode):
      "the controller did not answer \(opcode); is it really an HCI controller, and powered?"
    case .malformedResponse(let opcode, let error):
      "the controller's answer to \(opcode) can't be read: \(error)"
    case .hardwareError(let code):
      "the controller reports hardware error \(Hex.string(code)); unplug it or power it off and on"
    case .transportClosed(let reason): "lost the HCI transport: \(reason)"
    case .noDataBuffers:
      "the controller has no buffers for data: it gives 0 for both LE Read Buffer Size and Read Buffer Size; use another adapter"
    case .lowEnergyNotSupported: "this controller does not know Bluetooth LE"
    case .peerNotFound(let address, let seconds):
      "\(address) (\(address.kind)) did not advertise for \(Int(seconds.rounded())) s; is it near, charged, and not held by a phone?"
    case .unknownAddressType(let address):
      "cannot connect to \(address): its address is of an unknown type (\(address.kind)), neither public nor random"
    case .notConnected: "the link is gone"
    case .connectionFailed(let address, .connectionLimitExceeded):
      "cannot connect to \(address): the controller has no room for another link"
    case .connectionFailed(let address, let code): "cannot connect to \(address): \(code)"
    case .connectionNotEstablished(let address, let attempts):
      "\(address) was connected \(attempts) times, and lost each time before its first packet; move it nearer"
    case .notReady: "the controller is not set up yet, or is being set up anew after a breakdown; try again"
    case .cancelled: "cancelled"
    case .kernel(let error): error.description
    }
  }
}
