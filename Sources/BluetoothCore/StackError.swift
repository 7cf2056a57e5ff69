/// Why an operation of the stack failed: the one error of all layers below the ring.
///
/// Each layer describes its own errors, as static members: `StackError.notConnected` is HCI's, `StackError.servicesChanged`
/// GATT's. A caller decides by the ``code``, and a person reads the ``description``. Two errors are equal if all that they say
/// is.
package struct StackError: Error, Hashable, Sendable, CustomStringConvertible {
  package let code: Code
  package let cause: Cause?
  package var fault: Fault
  /// The operation that failed, or the event: `cannot open hci0`; nil if it is part of the reason.
  package private(set) var operation: String?
  /// The reason, and a remedy.
  package let reason: String

  /// - Parameters:
  ///   - code: the kind of failure
  ///   - fault: its consequence for a link
  ///   - reason: the reason, in one line for a person
  ///   - operation: the operation that failed, or the event
  ///   - cause: the number that the other side gave
  package init(
    _ code: Code, _ fault: Fault, _ reason: String, operation: String? = nil, cause: Cause? = nil
  ) {
    (self.code, self.fault, self.reason, self.operation, self.cause) = (code, fault, reason, operation, cause)
  }

  /// An operation that failed, `open hci0`, and why. One that was cancelled has not failed.
  package init(_ operation: String, _ error: StackError) {
    self = error
    if error.code != .cancelled { self.operation = "cannot \(operation)" }
  }

  /// The caller has cancelled the operation.
  package static let cancelled = StackError(.cancelled, .final, "cancelled")

  /// A transport, or a socket, can't be opened.
  ///
  /// - Parameters:
  ///   - target: the adapter or file, as the user wrote it: `tcp:localhost:9105`
  ///   - reason: the reason
  package static func cannotOpen(_ target: String, _ reason: String) -> StackError {
    StackError(.cannotOpen, .final, reason, operation: "cannot open \(target)")
  }

  package var description: String { operation.map { "\($0): \(reason)" } ?? reason }

  /// The number that the other side gave as its reason; the layers give it its type: `hciCode`, `attCode`.
  package enum Cause: Hashable, Sendable {
    /// An error of the controller (Core Specification Vol 1, Part F).
    case controller(UInt8)
    /// The opcode of a command, and the controller's error; nil if it gave no answer.
    case command(UInt16, UInt8?)
    /// An error of the ATT server, the opcode of the request, and the handle (Core Specification Vol 3, Part F, 3.4.1.1).
    case server(UInt8, UInt8, UInt16)
    /// An error of the operating system, or of its management of adapters.
    case system(Int32)
    /// The number of the adapter that is meant.
    case adapter(UInt16)
    /// The address of the device that is meant.
    case peer(BluetoothAddress)
  }

  /// The consequence of a failure for a link, which decides whether an attempt is repeated. A failure that is not known to be
  /// final is repeated: within a budget, repeating does no harm.
  package enum Fault: Hashable, Sendable {
    /// The link is lost, or was not established: a new one is made.
    case link
    /// The peer answers nothing, although the link is there: the link is ended, and a new one is made.
    case silence
    /// The peer was not heard, or answered no request to connect.
    case absence
    /// The controller refused a command; it may take it the next time.
    case refusal
    /// The controller cannot be used until it is recovered.
    case controller
    /// The peer answers, but sends no data now: it is asked again on the same link.
    case unready
    /// Repeating gives the same: the peer's answer, a wrong request, an interruption.
    case final
  }

  /// The kind of failure, for code that decides by it.
  package enum Code: Hashable, Sendable {
    /// The caller has cancelled the operation.
    case cancelled
    /// The program has closed the radio.
    case radioClosed

    // MARK: The controller

    /// The controller answered a command with an error: its cause.
    case commandFailed
    /// The controller did not answer in time. It is considered unresponsive: nothing more is sent until it is reset.
    case commandTimedOut
    /// The controller's answer can't be decoded.
    case malformedResponse
    /// The controller has reported a failure, or reports nothing any more.
    case controllerFailed
    /// The controller is not set up, or is being set up again.
    case notReady
    /// The transport was closed. It can be opened again.
    case transportClosed
    /// The transport was closed permanently: it is the end of a recording, or a stream that was handed over.
    case transportEnded
    /// A transport, or a socket, can't be opened.
    case cannotOpen
    /// The controller had to be reset, and its links are gone.
    case stateLost
    /// The controller does not support Bluetooth LE.
    case lowEnergyNotSupported
    /// The controller does not have the feature.
    case featureNotSupported

    // MARK: The operating system's adapter

    case noBluetooth, noSuchAdapter, noAdapters, adapterRemoved, adapterDown
    /// The kernel has not finished setting the adapter up.
    case settingUp
    /// The controller did not answer when the kernel set it up, which offers the adapter to no program.
    case setUpFailed
    /// The adapter has no address, and the kernel waits for one.
    case unconfigured
    /// Exclusive access requires the adapter to be down.
    case adapterUp
    /// Another program has exclusive access to the adapter.
    case adapterTaken
    /// A switch blocks the radio.
    case radioBlocked
    /// The process lacks a privilege.
    case missingPrivilege
    /// Another program of this machine is already connected to the device.
    case deviceInUse
    /// The system did not answer in time.
    case noAnswer
    /// The kernel, or the adapter's driver, did not complete the operation in time.
    case kernelSilent
    /// The controller does not answer, after all that could be done to recover it.
    case controllerSilent
    /// The system, which has the link, does not offer the operation to programs.
    case notOffered
    /// The device refused the connection.
    case connectionRefused
    /// The device or the system ended the connection before it was established.
    case connectionEnded
    /// Programs of this machine advertise as much as the adapter can, or in its only place.
    case advertisingInUse
    /// The system's answer can't be decoded.
    case malformedAnswer
    /// Any other error of the system: its cause.
    case system

    // MARK: The peer and its link

    /// No advertisement of the peer was received in time.
    case peerNotFound
    /// The peer advertises, or may, but no link to it could be created in time.
    case peerDidNotAnswer
    /// The peer advertises that it accepts no connections.
    case peerNotConnectable
    /// The specification does not define the type of this address, so it can't be used to connect.
    case unknownAddressType
    /// The link is disconnected.
    case notConnected
    /// The controller could not establish the link: its cause.
    case connectionFailed
    /// Links were lost before their first packet, in all attempts.
    case connectionNotEstablished
    /// The peer no longer has the key of its bond.
    case keyMissing
    /// The link was not encrypted in time.
    case encryptionTimedOut
    /// There is no pairing with the peer: a side has refused it, or it has failed.
    case pairingFailed

    // MARK: ATT and GATT

    /// The server answered with an Error Response: its cause.
    case refused
    /// The server's answer can't be decoded.
    case malformed
    /// The server's answer violates the specification.
    case misbehaved
    /// The server did not answer in time, and the link is given up.
    case timedOut
    /// The link was closed during the operation, or before.
    case closed
    /// The value does not fit into one PDU at the MTU in force; a long write can carry it.
    case tooLongForPDU
    /// No attribute value is that long.
    case tooLong
    /// The server has no such service, characteristic or descriptor.
    case notFound
    /// The characteristic's properties do not allow it.
    case notSupported
    /// The program's own policy refuses the value.
    case forbidden
    /// The server's attributes have changed: discovered handles are no longer valid.
    case servicesChanged
    /// The attribute was discovered on another link: its handle means something else here, or nothing.
    case discoveredElsewhere
    /// The server's attributes have changed, and a characteristic with a subscription no longer exists.
    case characteristicGone
    /// The link has no room for another write without response.
    case noRoom
  }

  /// Whether the error is that of the operating system, which has the adapter.
  package var isOfSystem: Bool {
    switch code {
    case .noBluetooth, .noSuchAdapter, .noAdapters, .adapterRemoved, .adapterDown, .settingUp, .setUpFailed,
      .unconfigured, .adapterUp, .adapterTaken, .radioBlocked, .missingPrivilege, .deviceInUse, .noAnswer,
      .kernelSilent, .controllerSilent, .notOffered, .connectionRefused, .connectionEnded, .advertisingInUse,
      .malformedAnswer, .system:
      true
    default: false
    }
  }
}
