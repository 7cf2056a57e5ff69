import GATTClient
import HCI

/// What errors say about a link. What is not known to be final is repeated: within a budget, repeating does no harm.
extension ReconnectPolicy.Fault {
  package init(_ error: HCIError) {
    self =
      switch error {
      case .commandFailed(_, .unknownCommand), .commandFailed(_, .unsupportedFeatureOrParameterValue),
        .commandFailed(_, .invalidCommandParameters):
        .final
      case .commandFailed: .refusal
      case .commandTimedOut, .malformedResponse, .hardwareError, .transportClosed, .notReady, .scanSilent:
        .controller
      case .noDataBuffers, .lowEnergyNotSupported, .unknownAddressType, .peerNotConnectable, .cancelled,
        .extendedAdvertisingNotSupported, .transportEnded:
        .final
      case .peerNotFound, .peerDidNotAnswer, .notTried, .codedScanNotSupported: .absence
      case .connectionFailed(_, .connectionLimitExceeded): .refusal
      // The controller was reset.
      case .outOfStep, .stateLost, .packetsHeld: .link
      case .notConnected, .connectionFailed, .connectionNotEstablished: .link
      case .adapter(let error): ReconnectPolicy.Fault(error)
      }
  }

  package init(_ error: AdapterError) {
    self =
      switch error.reason {
      case .noBluetooth, .noAdapters, .adapterUp, .missing, .deviceInUse, .cancelled, .notOffered,
        .unconfigured, .controllerSilent:
        .final
      case .noSuchAdapter, .adapterRemoved, .adapterDown, .settingUp, .setUpFailed, .adapterTaken,
        .radioBlocked, .kernelSilent, .malformedAnswer:
        .controller
      case .refused, .connectionEnded: .link
      case .timedOut: .absence
      case .system, .advertisingInUse, .advertisingOverridden: .refusal
      }
  }

  package init(_ error: GATTError) {
    self =
      switch error {
      case .att(.closed), .servicesChanged: .link
      case .att(.timedOut), .noRoomInTime: .silence
      default: .final
      }
  }

  package init(_ error: GAPError) {
    self =
      switch error {
      case .hci(let error): Self(error)
      case .gatt(let error): Self(error)
      }
  }
}
