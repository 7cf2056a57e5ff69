import ATT
import GAP
import GATTClient
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloLinuxBluetooth
import HaloRecording

/// What the errors of the layers mean to a program.
extension BluetoothError {
  /// An error of any layer.
  package init(_ error: any Error) {
    switch error {
    case let error as BluetoothError: self = error
    case let error as GAPError: self.init(error)
    case let error as HCIError: self.init(error)
    case let error as GATTError: self.init(error)
    case let error as AdapterError: self.init(error)
    case is AdapterSpecificationError: self.init(.invalidValue, "\(error)")
    case is TransportError: self.init(.radioUnavailable, "\(error)")
    case is CaptureError, is ReplayError: self.init(.file, "\(error)")
    case is CancellationError: self = .cancelled
    default: self.init(.refused, "\(error)")
    }
  }

  package init(_ error: GAPError) {
    switch error {
    case .hci(let error): self.init(error)
    case .gatt(let error): self.init(error)
    }
  }

  package init(_ error: HCIError) {
    if case .adapter(let error) = error {
      self.init(error)
      return
    }
    self.init(Code(error), error.description, hciCode: error.code)
  }

  package init(_ error: AdapterError) {
    self.init(Code(error.reason), error.description)
  }

  package init(_ error: GATTError) {
    if case .att(.refused(let response)) = error {
      self.init(Code(response.code), error.description, attCode: response.code)
    } else {
      self.init(Code(error), error.description)
    }
  }
}

extension BluetoothError.Code {
  fileprivate init(_ error: HCIError) {
    self =
      switch error {
      case .peerNotFound: .notFound
      case .peerDidNotAnswer, .notTried: .timedOut
      case .peerNotConnectable, .commandFailed, .connectionFailed: .refused
      case .unknownAddressType, .codedScanNotSupported, .extendedAdvertisingNotSupported,
        .lowEnergyNotSupported:
        .notSupported
      case .notConnected, .connectionNotEstablished: .linkLost
      case .cancelled: .cancelled
      case .adapter(let error): Self(error.reason)
      case .commandTimedOut, .malformedResponse, .hardwareError, .outOfStep, .stateLost, .packetsHeld,
        .scanSilent, .transportClosed, .transportEnded, .noDataBuffers, .notReady:
        .radioUnavailable
      }
  }

  fileprivate init(_ reason: AdapterError.Reason) {
    self =
      switch reason {
      case .noSuchAdapter, .noAdapters: .notFound
      case .missing: .notPermitted
      case .deviceInUse, .refused, .advertisingInUse, .advertisingOverridden: .refused
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .notOffered, .noBluetooth: .notSupported
      case .connectionEnded: .linkLost
      default: .radioUnavailable
      }
  }

  fileprivate init(_ error: GATTError) {
    self =
      switch error {
      case .att(.refused(let response)): Self(response.code)
      case .att(.malformed), .misbehaved: .peerMisbehaved
      case .att(.timedOut), .noRoom, .noRoomInTime: .timedOut
      case .att(.closed): .linkLost
      case .att(.tooLong), .forbidden, .tooLong, .discoveredElsewhere: .invalidValue
      case .notFound, .servicesChanged, .characteristicGone: .notFound
      case .notSupported: .notSupported
      case .cancelled: .cancelled
      }
  }

  /// What a server says.
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

extension HCIError {
  /// The controller's reason; nil if it gave none.
  fileprivate var code: HCIErrorCode? {
    switch self {
    case .commandFailed(_, let code), .outOfStep(_, let code), .connectionFailed(_, let code): code
    default: nil
    }
  }
}
