import ATT
import HaloBluetoothCore
import HaloCapture
import HaloRecording
import RingLink

/// The errors of the layers as a program gets them.
extension BluetoothError {
  /// An error of any layer.
  package init(_ error: any Error) {
    switch error {
    case let error as BluetoothError: self = error
    case let error as StackError: self.init(error)
    case is AdapterSpecificationError: self.init(.invalidValue, "\(error)")
    case is CaptureError, is ReplayError: self.init(.file, "\(error)")
    case is CancellationError: self = .cancelled
    default: self.init(.refused, "\(error)")
    }
  }

  package init(_ error: StackError) {
    let code = error.attCode.map { Code($0) } ?? Code(error.code)
    self.init(code, error.description, attCode: error.attCode, hciCode: error.hciCode)
  }
}

extension BluetoothError.Code {
  fileprivate init(_ code: StackError.Code) {
    self =
      switch code {
      case .cancelled: .cancelled
      case .radioClosed: .closed
      case .peerNotFound, .noSuchAdapter, .noAdapters, .notFound, .servicesChanged, .characteristicGone:
        .notFound
      case .peerDidNotAnswer, .noAnswer, .timedOut, .noRoom: .timedOut
      case .notConnected, .connectionNotEstablished, .connectionEnded, .closed: .linkLost
      case .commandFailed, .peerNotConnectable, .connectionFailed, .deviceInUse, .connectionRefused,
        .advertisingInUse, .refused:
        .refused
      case .missingPrivilege: .notPermitted
      case .unknownAddressType, .featureNotSupported, .lowEnergyNotSupported, .notOffered, .noBluetooth,
        .notSupported:
        .notSupported
      case .tooLongForPDU, .tooLong, .forbidden, .discoveredElsewhere: .invalidValue
      case .malformed, .misbehaved: .peerMisbehaved
      case .commandTimedOut, .malformedResponse, .controllerFailed, .notReady, .transportClosed,
        .transportEnded, .cannotOpen, .stateLost, .adapterRemoved,
        .adapterDown, .settingUp, .setUpFailed, .unconfigured, .adapterUp, .adapterTaken, .radioBlocked,
        .kernelSilent, .controllerSilent, .malformedAnswer, .system:
        .radioUnavailable
      }
  }

  /// The error for a server's error code.
  fileprivate init(_ code: ATTErrorCode) {
    self =
      switch code {
      case .invalidHandle, .attributeNotFound: .notFound
      case .readNotPermitted, .writeNotPermitted: .notPermitted
      case .requestNotSupported, .unsupportedGroupType: .notSupported
      case .invalidAttributeValueLength, .invalidOffset, .valueNotAllowed, .outOfRange: .invalidValue
      default: code.isSecurityRelated ? .notPermitted : .refused
      }
  }
}

extension BluetoothError {
  /// The error for one of a ring.
  package init(_ error: RingError) {
    if case .bluetooth(let error) = error {
      self.init(error)
      return
    }
    let code: Code =
      switch error {
      case .notFound, .onlyPossible, .severalFound: .notFound
      case .notARing, .notOffered, .noBulkService: .notSupported
      case .refused, .notTaken, .measurement, .streamRefused, .countedStream: .refused
      case .notAnswered, .noData, .sportEnded, .stillConnected: .timedOut
      case .malformed, .malformedBulk, .incomplete, .damaged: .peerMisbehaved
      case .invalidSetting, .dangerous: .invalidValue
      case .disconnected: .linkLost
      case .cancelled: .cancelled
      case .bluetooth: .refused
      }
    self.init(code, error.description)
  }
}
