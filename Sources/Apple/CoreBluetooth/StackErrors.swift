import Foundation
internal import GAP
internal import GATTClient
internal import HCI
internal import HaloRaw

extension Result {
  package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// The error that a delegate gets for one of the stack.
func delegateError(_ error: GAPError) -> any Error & Sendable {
  switch error {
  case .hci(let error): delegateError(error)
  case .gatt(let error): delegateError(error)
  }
}

func delegateError(_ error: GATTError) -> any Error & Sendable {
  switch error {
  case .att(.refused(let response)): CBATTError(response)
  case .att(.closed): CBError(.notConnected, "\(error)")
  case .att(.timedOut): CBError(.connectionTimeout, "\(error)")
  case .att(.tooLong), .tooLong: CBATTError(.invalidAttributeValueLength, "\(error)")
  case .cancelled: CBError(.operationCancelled, "\(error)")
  case .notSupported: CBError(.operationNotSupported, "\(error)")
  case .servicesChanged, .characteristicGone, .discoveredElsewhere, .notFound:
    CBError(.invalidHandle, "\(error)")
  case .noRoom, .noRoomInTime: CBError(.outOfSpace, "\(error)")
  case .att(.malformed), .forbidden, .misbehaved: CBError(.unknown, "\(error)")
  }
}

private func delegateError(_ error: HCIError) -> any Error & Sendable {
  switch error {
  case .peerNotFound, .peerDidNotAnswer, .notTried: CBError(.connectionTimeout, "\(error)")
  case .peerNotConnectable: CBError(.connectionFailed, "\(error)")
  case .connectionFailed(_, .connectionLimitExceeded): CBError(.connectionLimitReached, "\(error)")
  case .connectionFailed, .connectionNotEstablished: CBError(.connectionFailed, "\(error)")
  case .unknownAddressType: CBError(.unknownDevice, "\(error)")
  case .notConnected: CBError(.notConnected, "\(error)")
  case .cancelled: CBError(.operationCancelled, "\(error)")
  default: CBError(.unknown, "\(error)")
  }
}

/// The error of a disconnection; nil if this program has asked for it.
func delegateError(_ loss: LinkLoss) -> (any Error & Sendable)? {
  switch loss {
  case .local: nil
  // Not as a pattern: the one for errors of this module would be preferred, and match nothing.
  case .remote(let reason) where reason == HCIErrorCode.connectionTimeout:
    CBError(.connectionTimeout, "\(loss)")
  case .remote, .pairingRefused: CBError(.peripheralDisconnected, "\(loss)")
  case .adapter: CBError(.notConnected, "\(loss)")
  }
}
