import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloLinuxBluetooth
import HaloMQTT
import HaloRecording
import HaloRingStore
import HaloSecurityManager
import HaloStorage
import HaloSystem
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
    case let error as BondStoreError:
      self.init(error.isDamage ? .badData : .cannotOpenFile, error.description)
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

  var link: LinkContext {
    get { context as? LinkContext ?? LinkContext() }
    set { context = newValue }
  }

  init(_ code: ExitCode, _ message: String, _ fault: StackError.Fault) {
    self.init(code, message)
    link.fault = fault
  }
}

extension ExitCode {
  fileprivate init(_ code: StackError.Code) {
    self =
      switch code {
      case .cancelled: .interrupted
      case .missingPrivilege: .noPermission
      case .peerNotFound: .notFound
      case .commandTimedOut, .peerDidNotAnswer, .timedOut, .encryptionTimedOut: .timedOut
      case .notConnected, .stateLost, .connectionFailed, .connectionNotEstablished, .deviceInUse,
        .connectionRefused, .connectionEnded, .closed:
        .connectionLost
      case .tooLong, .forbidden: .usage
      case .unknownAddressType, .peerNotConnectable, .refused, .malformed, .misbehaved, .tooLongForPDU,
        .pairingFailed, .keyMissing, .notFound, .notSupported, .servicesChanged, .discoveredElsewhere,
        .characteristicGone, .noRoom:
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

/// A user's remedies for an error of an adapter, in the words of this program's commands.
extension StackError {
  /// The error, followed by its remedy.
  var messageWithRemedy: String { adding(remedy, to: description) }
  /// The reason alone, followed by its remedy.
  var reasonWithRemedy: String { adding(remedy, to: reason) }

  private func adding(_ remedy: String?, to text: String) -> String {
    remedy.map { "\(text); \($0)" } ?? text
  }

  private var remedy: String? {
    switch code {
    case .noBluetooth: "try: sudo modprobe bluetooth"
    case .noSuchAdapter: "halo-raw adapters lists those that exist"
    case .noAdapters: "plug one in; see halo-raw help troubleshooting"
    case .adapterDown: "bring it up with: sudo halo-raw adapters up \(adapter?.description ?? "hciN")"
    case .adapterUp: "add --take, which brings it down and up again afterwards"
    case .unconfigured: "give it one with: sudo btmgmt --index N public-addr ADDRESS"
    case .radioBlocked: "try: sudo rfkill unblock bluetooth"
    case .missingPrivilege: Capability.remedy
    case .keyMissing: "forget it here with: halo-raw bonds forget \(peer), and pair again"
    case .pairingFailed: if case .peer = cause { "halo-raw bonds forget \(peer)" } else { nil }
    case .refused where attCode == .insufficientAuthentication || attCode == .insufficientEncryption:
      "to pair with it: halo-raw pair DEVICE"
    default: nil
    }
  }

  /// The device that is meant, as an argument.
  private var peer: String { if case .peer(let address) = cause { "\(address)" } else { "DEVICE" } }

  private var adapter: AdapterIndex? {
    if case .adapter(let index) = cause { AdapterIndex(rawValue: index) } else { nil }
  }
}

extension Capability {
  /// How to grant the capabilities that this program can use.
  fileprivate static var remedy: String {
    guard let group = PrivilegedProgram.group else {
      let path = PrivilegedProgram.executable ?? "/path/to/halo-raw"
      return "run it with sudo, or once: \(setcapCommand(path))"
    }
    return "run it with sudo, or join the group that may: \(joinCommand(group)), then log in again"
  }

  /// The command that grants a program its capabilities permanently; with the resolved path, as `setcap` does not
  /// follow links.
  static func setcapCommand(_ path: String) -> String {
    "sudo setcap 'cap_net_raw,cap_net_admin+ep' \(shellWord(path))"
  }

  /// The command that lets a user run the installed program with its privileges.
  static func joinCommand(_ group: String) -> String { "sudo usermod -aG \(group) $USER" }
}
