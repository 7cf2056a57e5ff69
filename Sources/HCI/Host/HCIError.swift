import HaloBluetoothCore

/// Why a host operation on the controller failed.
package enum HCIError: Error, Hashable, Sendable {
  /// The controller answered a command with an error.
  case commandFailed(HCIOpcode, HCIErrorCode)
  /// The controller did not answer in time. It is considered unresponsive: nothing more is sent until it is reset.
  case commandTimedOut(HCIOpcode)
  /// The controller's answer can't be decoded.
  case malformedResponse(HCIOpcode, DecodeError)
  /// The controller reported a hardware error (Core Specification Vol 4, Part E, 7.7.16).
  case hardwareError(UInt8)
  /// The controller refuses what it has to do: it has, or lacks, a link that its events do not tell of. It was reset.
  case outOfStep(HCIOpcode, HCIErrorCode)
  /// The controller does not know of its links, nor that it is to advertise: it may have restarted. It was reset.
  case stateLost
  /// The controller has not sent the packets of a link for longer than the link could last without an acknowledgement.
  case packetsHeld(Int, seconds: Double)
  /// The controller scans, and reports nothing.
  case scanSilent(seconds: Double)
  /// The controller can't listen on LE Coded. It listens on LE 1M.
  case codedScanNotSupported
  /// The controller can't send extended advertising PDUs.
  case extendedAdvertisingNotSupported
  /// The transport was closed, with the reason. It can be opened again.
  case transportClosed(String)
  /// The transport was closed for good, with the reason: it is the end of a recording, or a stream that was handed over.
  case transportEnded(String)
  /// The controller reports no data buffers, neither LE nor shared ones.
  case noDataBuffers
  /// The controller does not support Bluetooth LE.
  case lowEnergyNotSupported
  /// No advertisement of the peer was received in time.
  case peerNotFound(BluetoothAddress, seconds: Double)
  /// The peer advertises, but no link to it could be created in time.
  case peerDidNotAnswer(BluetoothAddress, seconds: Double)
  /// The peer advertises that it accepts no connections.
  case peerNotConnectable(BluetoothAddress)
  /// Links to other peers were being created for the whole time.
  case notTried(BluetoothAddress, seconds: Double)
  /// The specification does not define the type of this address, so it can't be used to connect.
  case unknownAddressType(BluetoothAddress)
  /// The link is disconnected.
  case notConnected
  /// The controller could not establish the link.
  case connectionFailed(BluetoothAddress, HCIErrorCode)
  /// Links were lost before their first packet, in all attempts.
  case connectionNotEstablished(BluetoothAddress, attempts: Int)
  /// The controller is not set up, or is being set up again.
  case notReady
  case cancelled
  /// The operating system, which owns the controller, reported an error.
  case adapter(AdapterError)
}

extension HCIError {
  /// What a link was lost in that was not established; nil if that is not known.
  package var procedure: LinkProcedure? {
    switch self {
    case .connectionFailed(_, .connectionTimeout), .connectionFailed(_, .remoteUserTerminatedConnection),
      .connectionFailed(_, .responseTimeout):
      .readFeatures
    default: nil
    }
  }
}

extension HCIError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .commandFailed(let opcode, let code): "the controller refused \(opcode): \(code)"
    case .commandTimedOut(let opcode):
      "the controller did not answer \(opcode); is it really an HCI controller, and powered?"
    case .malformedResponse(let opcode, let error):
      "the controller's answer to \(opcode) can't be read: \(error)"
    case .hardwareError(let code):
      "the controller reports hardware error \(Hex.string(code)); unplug it or power it off and on"
    case .outOfStep(let opcode, let code):
      "the controller refused \(opcode): \(code), so an event about a link was lost; it was reset"
    case .stateLost:
      "the controller knows nothing of its links or its advertising any more; it may have restarted, and was reset"
    case .packetsHeld(let count, let seconds):
      "the controller holds \(count) \(count == 1 ? "packet" : "packets") since \(Int(seconds.rounded())) s, and sends none"
    case .scanSilent(let seconds):
      "the controller scans, and has reported nothing for \(Int(seconds.rounded())) s"
    case .codedScanNotSupported: "the controller can't scan on LE Coded; it scans on LE 1M alone"
    case .extendedAdvertisingNotSupported:
      "the controller can't advertise with extended PDUs, as those before Bluetooth 5; use legacy ones, with up to 31 bytes"
    case .transportClosed(let reason), .transportEnded(let reason): "lost the HCI transport: \(reason)"
    case .noDataBuffers:
      "the controller has no buffers for data: it gives 0 for both LE Read Buffer Size and Read Buffer Size; use another adapter"
    case .lowEnergyNotSupported: "this controller does not know Bluetooth LE"
    case .peerNotFound(let address, let seconds):
      "\(address) (\(address.kind)) did not advertise for \(Int(seconds.rounded())) s; is it near, charged, and not held by a phone?"
    case .peerDidNotAnswer(let address, let seconds):
      "\(address) (\(address.kind)) advertises, but answered no request to connect for \(Int(seconds.rounded())) s; move it nearer; if it is paired with a phone, it may accept only that"
    case .peerNotConnectable(let address):
      "\(address) (\(address.kind)) can't be connected to: its advertisements say that it accepts no connections"
    case .notTried(let address, let seconds):
      "no attempt to connect to \(address) was made in \(Int(seconds.rounded())) s: the adapter was connecting to other devices; try again, or wait longer"
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
    case .adapter(let error): error.description
    }
  }
}
