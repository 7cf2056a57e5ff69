import HaloBluetoothCore

/// Why a host operation on the controller failed.
extension StackError {
  /// The controller's reason; nil if it gave none.
  package var hciCode: HCIErrorCode? {
    switch cause {
    case .controller(let code), .command(_, let code?): HCIErrorCode(rawValue: code)
    default: nil
    }
  }

  /// The controller's reason to refuse a command; nil for every other failure.
  package var refusal: HCIErrorCode? { code == .commandFailed ? hciCode : nil }

  /// The command that was refused, or not answered; nil for every other failure.
  package var command: HCIOpcode? {
    if case .command(let opcode, _) = cause { HCIOpcode(rawValue: opcode) } else { nil }
  }

  /// The controller answered a command with an error.
  package static func commandFailed(_ opcode: HCIOpcode, _ code: HCIErrorCode) -> StackError {
    let fault: Fault =
      switch code {
      case .unknownCommand, .unsupportedFeatureOrParameterValue, .invalidCommandParameters: .final
      default: .refusal
      }
    return StackError(
      .commandFailed, fault, "the controller refused \(opcode): \(code)",
      cause: .command(opcode.rawValue, code.rawValue))
  }

  package static func commandTimedOut(_ opcode: HCIOpcode) -> StackError {
    StackError(
      .commandTimedOut, .controller,
      "the controller did not answer \(opcode); is it really an HCI controller, and powered?",
      cause: .command(opcode.rawValue, nil))
  }

  /// The controller's answer can't be decoded.
  package static func malformedResponse(_ opcode: HCIOpcode, _ error: DecodeError) -> StackError {
    StackError(
      .malformedResponse, .controller, "the controller's answer to \(opcode) can't be read: \(error)",
      cause: .command(opcode.rawValue, nil))
  }

  /// The controller reported a hardware error (Core Specification Vol 4, Part E, 7.7.16).
  package static func hardwareError(_ code: UInt8) -> StackError {
    StackError(
      .controllerFailed, .controller,
      "the controller reports hardware error \(Hex.string(code)); unplug it or power it off and on")
  }

  /// The controller scans, and reports nothing.
  package static func scanSilent(seconds: Double) -> StackError {
    StackError(
      .controllerFailed, .controller,
      "the controller scans, and has reported nothing for \(Int(seconds.rounded())) s")
  }

  /// The transport was closed. It can be opened again.
  package static func transportClosed(_ reason: String) -> StackError {
    StackError(.transportClosed, .controller, reason, operation: transportLost)
  }

  /// The transport was closed permanently.
  package static func transportEnded(_ reason: String) -> StackError {
    StackError(.transportEnded, .final, reason, operation: transportLost)
  }

  private static let transportLost = "lost the HCI transport"

  /// The controller is not set up, or is being set up again.
  package static let notReady = StackError(
    .notReady, .controller,
    "the controller is not set up yet, or is being set up anew after a breakdown; try again")

  /// The controller reports no data buffers, neither LE nor shared ones.
  package static let noDataBuffers = StackError(
    .featureNotSupported, .final,
    "the controller has no buffers for data: it gives 0 for both LE Read Buffer Size and Read Buffer Size; use another adapter"
  )

  /// Without the library, no private address can be made.
  package static let noPrivateAddress = StackError(
    .featureNotSupported, .final,
    "private addresses are made with libcrypto, which is missing; install libssl3 or libssl3t64")

  package static let lowEnergyNotSupported = StackError(
    .lowEnergyNotSupported, .final, "this controller does not know Bluetooth LE")

  /// The controller cannot scan on LE Coded. It scans on LE 1M.
  package static let codedScanNotSupported = StackError(
    .featureNotSupported, .absence, "the controller can't scan on LE Coded; it scans on LE 1M alone")

  /// The controller can't send extended advertising PDUs.
  package static let extendedAdvertisingNotSupported = StackError(
    .featureNotSupported, .final,
    "the controller can't advertise with extended PDUs, as those before Bluetooth 5; use legacy ones, with up to 31 bytes"
  )

  /// There are as many advertisements as the adapter can have.
  package static func advertisingInUse(_ count: Int) -> StackError {
    StackError(
      .advertisingInUse, .refusal,
      "there are \(count) advertisements already, the most that the adapter can have; end a program that advertises"
    )
  }
}

/// Why the controller was reset, and its links are gone.
extension StackError {
  /// The controller refuses a required command: it has, or lacks, a link that its events have not reported.
  package static func hostControllerMismatch(_ refusal: StackError) -> StackError {
    StackError(
      .stateLost, .link, "\(refusal), so an event about a link was lost; it was reset", cause: refusal.cause)
  }

  /// The controller does not know of its links, nor that it is to advertise: it may have restarted.
  package static let stateLost = StackError(
    .stateLost, .link,
    "the controller knows nothing of its links or its advertising any more; it may have restarted, and was reset"
  )

  /// The controller has not sent the packets of a link for longer than the link could last without an acknowledgement.
  package static func packetsStalled(_ count: Int, seconds: Double) -> StackError {
    let packets = "\(count) \(count == 1 ? "packet" : "packets")"
    return StackError(
      .stateLost, .link, "the controller holds \(packets) since \(Int(seconds.rounded())) s, and sends none")
  }
}

/// Why there is no link to a peer.
extension StackError {
  package static func peerNotFound(_ peer: BluetoothAddress, seconds: Double) -> StackError {
    StackError(
      .peerNotFound, .absence,
      "\(peer) (\(peer.kind)) did not advertise for \(Int(seconds.rounded())) s; is it near, charged, and not held by a phone?"
    )
  }

  package static func peerDidNotAnswer(_ peer: BluetoothAddress, seconds: Double) -> StackError {
    StackError(
      .peerDidNotAnswer, .absence,
      "\(peer) (\(peer.kind)) advertises, but answered no request to connect for \(Int(seconds.rounded())) s; move it nearer; if it is paired with a phone, it may accept only that"
    )
  }

  /// Links to other peers were being created for the whole time.
  package static func notTried(_ peer: BluetoothAddress, seconds: Double) -> StackError {
    StackError(
      .peerDidNotAnswer, .absence,
      "no attempt to connect to \(peer) was made in \(Int(seconds.rounded())) s: the adapter was connecting to other devices; try again, or wait longer"
    )
  }

  package static func peerNotConnectable(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .peerNotConnectable, .final,
      "\(peer) (\(peer.kind)) can't be connected to: its advertisements say that it accepts no connections")
  }

  package static func unknownAddressType(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .unknownAddressType, .final,
      "cannot connect to \(peer): its address is of an unknown type (\(peer.kind)), neither public nor random"
    )
  }

  package static let notConnected = StackError(.notConnected, .link, "the link is gone")

  /// The controller could not establish the link.
  package static func connectionFailed(_ peer: BluetoothAddress, _ code: HCIErrorCode) -> StackError {
    let isFull = code == .connectionLimitExceeded
    let reason = isFull ? "the controller has no room for another link" : "\(code)"
    return StackError(
      .connectionFailed, isFull ? .refusal : .link, reason, operation: "cannot connect to \(peer)",
      cause: .controller(code.rawValue))
  }

  package static func connectionNotEstablished(_ peer: BluetoothAddress, attempts: Int) -> StackError {
    StackError(
      .connectionNotEstablished, .link,
      "\(peer) was connected \(attempts) times, and lost each time before its first packet; move it nearer")
  }

  /// The procedure during which a link was lost before it was established; nil if that is not known.
  package var procedure: LinkProcedure? {
    guard code == .connectionFailed else { return nil }
    return switch hciCode {
    case .connectionTimeout, .remoteUserTerminatedConnection, .responseTimeout: .readFeatures
    default: nil
    }
  }
}
