import Foundation
internal import GAP
internal import HaloGATT
internal import HCI
internal import HaloBluetoothCore
internal import HaloRaw

extension Result {
  package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// The error that a delegate gets for one of the stack.
func delegateError(_ error: StackError) -> any Error & Sendable {
  let text = error.description
  return switch error.code {
  case .refused: CBATTError(CBATTError.Code(error.attCode), text)
  case .tooLongForPDU, .tooLong: CBATTError(.invalidAttributeValueLength, text)
  case .peerNotFound, .peerDidNotAnswer, .timedOut: CBError(.connectionTimeout, text)
  case .connectionFailed where error.hciCode == .connectionLimitExceeded:
    CBError(.connectionLimitReached, text)
  case .peerNotConnectable, .connectionFailed, .connectionNotEstablished: CBError(.connectionFailed, text)
  case .unknownAddressType: CBError(.unknownDevice, text)
  case .notConnected, .closed: CBError(.notConnected, text)
  case .cancelled: CBError(.operationCancelled, text)
  case .notSupported: CBError(.operationNotSupported, text)
  case .servicesChanged, .characteristicGone, .discoveredElsewhere, .notFound: CBError(.invalidHandle, text)
  case .noRoom: CBError(.outOfSpace, text)
  default: CBError(.unknown, text)
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
