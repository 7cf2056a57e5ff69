import GAP
import GATTClient
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloEventLoop
import HaloKnownDevices
import HaloRecording
import HaloRingStore
import RingLink

/// An error that ends a command.
protocol FailureCause: Error {
  var failure: Failure { get }
}

extension FailureCause {
  /// The value of an expression, whose error is thrown as a ``Failure``.
  @BluetoothActor
  static func asFailure<Value>(
    _ work: @autoclosure @BluetoothActor () async throws(Self) -> Value
  ) async throws(Failure) -> Value {
    do throws(Self) {
      return try await work()
    } catch {
      throw error.failure
    }
  }
}

extension GAPError: FailureCause {
  var failure: Failure { Failure(self) }
}

extension GATTError: FailureCause {
  var failure: Failure { Failure(self) }
}

extension RingError: FailureCause {
  var failure: Failure { Failure(self) }
}

extension Failure {
  init(_ error: HCIError) {
    if case .adapter(let error) = error {
      self.init(error)
      return
    }
    let code: ExitCode =
      switch error {
      case .transportClosed, .transportEnded, .lowEnergyNotSupported, .noDataBuffers, .hardwareError,
        .commandFailed, .malformedResponse, .notReady, .scanSilent, .codedScanNotSupported,
        .extendedAdvertisingNotSupported:
        .noAdapter
      case .unknownAddressType: .protocolError
      case .notConnected, .outOfStep, .stateLost, .packetsHeld: .connectionLost
      case .commandTimedOut, .peerDidNotAnswer, .notTried: .timedOut
      case .peerNotConnectable: .protocolError
      case .peerNotFound: .notFound
      case .connectionFailed, .connectionNotEstablished: .connectionLost
      case .cancelled: .interrupted
      case .adapter: .noAdapter
      }
    self.init(code, error.description, ReconnectPolicy.Fault(error))
  }

  init(_ error: AdapterError) {
    let code: ExitCode =
      switch error.reason {
      case .missing: .noPermission
      case .deviceInUse, .refused, .connectionEnded: .connectionLost
      case .cancelled: .interrupted
      default: .noAdapter
      }
    self.init(code, error.messageWithRemedy, ReconnectPolicy.Fault(error))
  }

  /// Why an adapter can't be opened or recorded: an error of the adapter, of the recording, or of this program.
  init(opening error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as CaptureError: self.init(error)
    case let error as GAPError: self.init(error)
    case let error as AdapterError: self.init(error)
    case let error as AttributeTableError:
      self.init(error.isUnreadable ? .cannotOpenFile : .badData, error.description)
    case let error as ReplayError: self.init(.badData, error.description)
    default: self.init(.noAdapter, "\(error)")
    }
  }

  package init(_ error: GAPError) {
    switch error {
    case .hci(let error): self.init(error)
    case .gatt(let error): self.init(error)
    }
  }

  init(_ error: GATTError) {
    let code: ExitCode =
      switch error {
      case .att(.closed): .connectionLost
      case .att(.timedOut): .timedOut
      case .tooLong, .forbidden: .usage
      case .cancelled: .interrupted
      default: .protocolError
      }
    self.init(code, error.description, ReconnectPolicy.Fault(error))
  }

  init(_ error: RingError) {
    switch error {
    case .bluetooth(let error): self.init(error)
    case .notFound, .onlyPossible: self.init(.notFound, error.description, .absence)
    case .severalFound: self.init(.notFound, error.description)
    case .notAnswered: self.init(.timedOut, error.description)
    case .noData: self.init(.timedOut, error.description, .unready)
    case .disconnected: self.init(.connectionLost, error.description, .link)
    case .streamRefused: self.init(.protocolError, error.description, .unready)
    case .countedStream(_, let failure):
      self.init(
        .protocolError, "\(error.description); --source raw streams without a count",
        failure.mayPass ? .unready : .final)
    case .cancelled: self.init(.interrupted, error.description)
    case .dangerous, .invalidSetting: self.init(.usage, error.description)
    case .notARing, .noBulkService, .notOffered, .refused, .malformed, .malformedBulk, .incomplete, .damaged,
      .notTaken,
      .measurement, .stillConnected, .sportEnded:
      self.init(.protocolError, error.description)
    }
  }

  init(_ error: StoreError) {
    let code: ExitCode =
      switch error {
      case .database: .outputFailed
      case .newer, .foreign, .impossible: .badData
      case .file(let error): ExitCode(error)
      case .busy: .timedOut
      }
    self.init(code, error.description)
  }
}
