import HCI
import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloMQTT
import HaloRecording
import HaloRingStore
import RingLink

/// The result of `work`, also of an error: steps that are necessary in any case come before ``Result/get()``.
@BluetoothActor
func outcome<Value>(of work: () async throws -> Value) async -> Result<Value, Failure> {
  do {
    return .success(try await work())
  } catch {
    return .failure(Failure(error))
  }
}

extension Interruption {
  /// Runs `work` until its end or the request.
  func ends(_ work: @escaping @BluetoothActor () async throws -> Void) async throws(Failure) {
    let result = await outcome { try await cancels(work) }
    if case .failure(let failure) = result, failure.code == .interrupted, isRequested { return }
    try result.get()
  }
}

/// The value of `work`, which may block; see ``offTheLoop(deadline:in:privileges:_:)``.
///
/// - Parameter reason: the message of an interruption, which does not wait for `work`
@BluetoothActor
func offTheLoop<Value: Sendable>(
  orInterrupted reason: String, _ work: @escaping @Sendable () throws -> Value
) async throws(Failure) -> Value {
  let result = await offTheLoop { Result { try work() } }
  guard let result else { throw Failure(.interrupted, reason) }
  return try await outcome { try result.get() }.get()
}

extension Failure {
  /// The failure of a command that has thrown this error.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StackError: self.init(error)
    case let error as RingError: self.init(error)
    case let error as StoreError: self.init(error)
    case let error as CaptureError: self.init(error)
    case let error as AttributeTableError:
      self.init(error.isUnreadable ? .cannotOpenFile : .badData, error.description)
    case let error as ReplayError: self.init(.badData, error.description)
    case let error as AdvertisingFault: self.init(.usage, error.description)
    case let error as FileError: self.init(ExitCode(error), error.description)
    case let error as QueueError: self.init(ExitCode(error), error.description)
    // A command makes a failure of any other error where it knows its meaning.
    default: self.init(.internalError, "\(error)")
    }
  }

  package init(_ error: StackError) {
    self.init(ExitCode(error.code), error.messageWithRemedy, error.fault)
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

extension ExitCode {
  fileprivate init(_ code: StackError.Code) {
    self =
      switch code {
      case .cancelled: .interrupted
      case .missingPrivilege: .noPermission
      case .peerNotFound: .notFound
      case .commandTimedOut, .peerDidNotAnswer, .timedOut: .timedOut
      case .notConnected, .stateLost, .connectionFailed, .connectionNotEstablished, .deviceInUse,
        .connectionRefused, .connectionEnded, .closed:
        .connectionLost
      case .tooLong, .forbidden: .usage
      case .unknownAddressType, .peerNotConnectable, .refused, .malformed, .misbehaved, .tooLongForPDU,
        .notFound,
        .notSupported, .servicesChanged, .discoveredElsewhere, .characteristicGone, .noRoom:
        .protocolError
      case .radioClosed, .commandFailed, .malformedResponse, .controllerFailed, .notReady, .transportClosed,
        .transportEnded, .cannotOpen,
        .lowEnergyNotSupported, .featureNotSupported, .noBluetooth, .noSuchAdapter, .noAdapters,
        .adapterRemoved, .adapterDown, .settingUp, .setUpFailed, .unconfigured, .adapterUp, .adapterTaken,
        .radioBlocked, .noAnswer, .kernelSilent, .controllerSilent, .notOffered, .advertisingInUse,
        .malformedAnswer, .system:
        .noAdapter
      }
  }
}

/// The consequence of a failure for a link.
struct LinkContext: Sendable {
  /// Decides whether the link is made again.
  var fault = StackError.Fault.final
  /// The message when the device is asked again; nil for a note with the message of the failure.
  var attempt: String?
}

extension Failure {
  var link: LinkContext {
    get { context as? LinkContext ?? LinkContext() }
    set { context = newValue }
  }

  init(_ code: ExitCode, _ message: String, _ fault: StackError.Fault) {
    self.init(code, message)
    link.fault = fault
  }
}
