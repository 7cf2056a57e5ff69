import ATT
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloRecording
import HaloSecurityManager
import RingLink

/// Why something failed: the error of all that a ``Radio`` and its connections do.
///
/// A program decides by the ``code``; `catch BluetoothError.Code.timedOut` catches one of them. The text is for a
/// person. Codes may be added, so that a `switch` needs a `default`.
///
/// Functions that throw this error say `throws` without a type: the compiler of Swift 6.3 crashes on a `do` with a `catch` for
/// one code, if the error has a type and a closure stands before it in the same function.
public struct BluetoothError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The task was cancelled.
    public static let cancelled = Code("cancelled")
    /// The other side, or the controller, did not answer in time.
    public static let timedOut = Code("timedOut")
    /// There is no such device, service, characteristic, or adapter.
    public static let notFound = Code("notFound")
    /// The link has ended.
    public static let linkLost = Code("linkLost")
    /// The other side, or the controller, refuses.
    public static let refused = Code("refused")
    /// A privilege is missing, or the permission for an attribute, or the link is not secure enough for it.
    public static let notPermitted = Code("notPermitted")
    /// The device no longer has the key of its bond: it was reset, or has forgotten this side.
    public static let keyMissing = Code("keyMissing")
    /// The adapter is switched off, taken by another program, pulled out, or does not work.
    public static let radioUnavailable = Code("radioUnavailable")
    /// The adapter, the kernel or the device cannot do it at all.
    public static let notSupported = Code("notSupported")
    /// A value that may not be sent, or an argument that has no meaning.
    public static let invalidValue = Code("invalidValue")
    /// The other side sent data that the specification does not allow, or that cannot be decoded.
    public static let peerMisbehaved = Code("peerMisbehaved")
    /// The radio or the connection was closed by this program.
    public static let closed = Code("closed")
    /// A file cannot be read, or not be written.
    public static let file = Code("file")

    public static func ~= (code: Code, error: any Error) -> Bool { (error as? BluetoothError)?.code == code }
  }

  public let code: Code
  /// The operation that failed, the reason, and a remedy, in one line.
  public let description: String
  /// The reason that a server gave; nil if it gave none.
  public let attCode: ATTErrorCode?
  /// The reason that a controller gave; nil if it gave none.
  public let hciCode: HCIErrorCode?
  /// Whether the operation may have taken effect nevertheless: a write that was sent and not answered.
  public internal(set) var mayHaveTakenEffect = false

  /// - Parameters:
  ///   - code: the kind of failure
  ///   - description: one line for a person
  ///   - attCode: the reason that a server gave
  ///   - hciCode: the reason that a controller gave
  public init(
    _ code: Code, _ description: String, attCode: ATTErrorCode? = nil, hciCode: HCIErrorCode? = nil
  ) {
    self.code = code
    self.description = description
    self.attCode = attCode
    self.hciCode = hciCode
  }

  static let closed = BluetoothError(.closed, "the radio is closed")
  static let cancelled = BluetoothError(.cancelled, "cancelled")

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

/// The errors of the layers as a program gets them.
extension BluetoothError {
  /// An error of any layer.
  package init(_ error: any Error) {
    switch error {
    case let error as BluetoothError: self = error
    case let error as StackError: self.init(error)
    case is AdapterSpecificationError: self.init(.invalidValue, "\(error)")
    case is CaptureError, is ReplayError, is BondStoreError: self.init(.file, "\(error)")
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
      case .peerDidNotAnswer, .noAnswer, .timedOut, .encryptionTimedOut, .noRoom: .timedOut
      case .notConnected, .connectionNotEstablished, .connectionEnded, .closed: .linkLost
      case .commandFailed, .peerNotConnectable, .connectionFailed, .deviceInUse, .connectionRefused,
        .advertisingInUse, .refused:
        .refused
      case .missingPrivilege, .pairingFailed: .notPermitted
      case .keyMissing: .keyMissing
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
