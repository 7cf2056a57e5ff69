import GAP
import GATTClient
import HCI
import HaloCapture
import HaloFiles
import HaloKnownDevices
import HaloRecording
import HaloRingStore
import RingLink

/// The exit codes, which are part of the program's interface.
enum ExitCode: Int32 {
  case success = 0
  /// The command line is wrong.
  case usage = 64
  /// The contents of a file are not valid.
  case badData = 65
  /// A file can't be opened.
  case cannotOpenFile = 66
  /// The adapter can't be used.
  case noAdapter = 69
  /// A fault of the program or of the kernel.
  case internalError = 70
  /// No descriptors, threads or memory are left.
  case systemError = 71
  /// Output can't be written.
  case outputFailed = 74
  /// No answer in time.
  case timedOut = 75
  /// The peer refuses a request or violates the protocol.
  case protocolError = 76
  /// A privilege is missing.
  case noPermission = 77
  /// A replay differs from its recording.
  case replayDiffers = 78
  /// The device was not found.
  case notFound = 79
  /// The link was lost.
  case connectionLost = 80
  /// Ctrl-C, before there was a result.
  case interrupted = 130

  /// The meaning of each in `--help`.
  static let meanings: [(ExitCode, String)] = [
    (.success, "done"), (.usage, "the command line is wrong"),
    (.badData, "a file is damaged or of another format"),
    (.cannotOpenFile, "a file can't be opened or created"), (.noAdapter, "the adapter can't be used"),
    (.internalError, "a fault of halo-raw or of the kernel"),
    (.systemError, "no descriptors, threads or memory left"),
    (.outputFailed, "output can't be written (disk full)"), (.timedOut, "no answer in time"),
    (.protocolError, "the peer refuses, violates the protocol, or is not a ring"),
    (.noPermission, "a privilege is missing"), (.replayDiffers, "a replay differs from its recording"),
    (.notFound, "the device or ring was not found"), (.connectionLost, "the connection was lost"),
    (.interrupted, "interrupted before there is a result"),
  ]
}

/// Why the program fails: a one-line message and an exit code.
struct Failure: Error {
  var code: ExitCode
  var message: String
  /// What it says about the link; decides whether it is made again.
  var fault: LinkKeeper.Fault
  /// The procedure in which a new link was lost, if that is known.
  var lostIn: LinkProcedure?

  init(_ code: ExitCode, _ message: String, _ fault: LinkKeeper.Fault = .final) {
    self.code = code
    self.message = message
    self.fault = fault
  }

  static func usage(_ message: String) -> Failure { Failure(.usage, message) }
}

extension Failure {
  init(_ error: HCIError) {
    if case .adapter(let error) = error {
      self.init(error)
      return
    }
    let code: ExitCode =
      switch error {
      case .transportClosed, .lowEnergyNotSupported, .noDataBuffers, .hardwareError, .commandFailed,
        .malformedResponse, .notReady, .scanSilent, .codedScanNotSupported:
        .noAdapter
      case .unknownAddressType: .protocolError
      case .notConnected, .outOfStep, .packetsHeld: .connectionLost
      case .commandTimedOut, .peerDidNotAnswer, .notTried: .timedOut
      case .peerNotConnectable: .protocolError
      case .peerNotFound: .notFound
      case .connectionFailed, .connectionNotEstablished: .connectionLost
      case .cancelled: .interrupted
      case .adapter: .noAdapter
      }
    self.init(code, error.description, LinkKeeper.Fault(error))
    if case .connectionFailed(_, let code) = error,
      [.connectionTimeout, .remoteUserTerminatedConnection, .responseTimeout].contains(code)
    {
      lostIn = .readFeatures
    }
  }

  init(_ error: AdapterError) {
    let code: ExitCode =
      switch error.reason {
      case .missing: .noPermission
      case .deviceInUse, .refused, .connectionEnded: .connectionLost
      case .cancelled: .interrupted
      default: .noAdapter
      }
    self.init(code, error.messageWithRemedy, LinkKeeper.Fault(error))
  }

  /// Why an adapter can't be opened or recorded: an error of the adapter, of the recording, or of this program.
  init(opening error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as CaptureError: self.init(error)
    case let error as AdapterError: self.init(error)
    case let error as AttributeTableError:
      self.init(error.isUnreadable ? .cannotOpenFile : .badData, error.description)
    case let error as ReplayError: self.init(.badData, error.description)
    default: self.init(.noAdapter, "\(error)")
    }
  }

  init(_ error: BluetoothError) {
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
      case .tooLong, .att(.forbidden): .usage
      case .cancelled: .interrupted
      default: .protocolError
      }
    self.init(code, error.description, LinkKeeper.Fault(error))
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
      case .newer, .readOnly, .foreign, .impossible: .badData
      case .file: .cannotOpenFile
      case .busy: .timedOut
      }
    self.init(code, error.description)
  }

  init(_ error: CaptureError) {
    let code: ExitCode =
      switch error.reason {
      case .cannotOpen, .notARegularFile: .cannotOpenFile
      case .cannotCreate, .hasData: .cannotOpenFile
      case .cannotRead, .cannotWrite: .outputFailed
      default: .badData
      }
    self.init(code, error.messageWithRemedy + (error.reason == .hasData ? Self.howToReplace : ""))
  }

  /// A file of records that can't be created.
  init(creating error: FileError) {
    self.init(.cannotOpenFile, "cannot create \(error)\(error.reason == .hasData ? Self.howToReplace : "")")
  }

  private static var howToReplace: String { "; use another name, or --replace to replace it" }
}
