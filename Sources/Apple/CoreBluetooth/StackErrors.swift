import Foundation
internal import GAP
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
  case .keyMissing: CBError(.peerRemovedPairingInformation, text)
  case .encryptionTimedOut: CBError(.encryptionTimedOut, text)
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

/// The common part of `CBError`, `CBATTError` and `ASError`: each stores an `NSError` of its domain. `as NSError` gives that
/// one, and `as? CBError` takes an `NSError` of the domain back, also in a `catch`.
public protocol StoredNSError: CustomNSError, CustomStringConvertible, Hashable, Sendable,
  _ObjectiveCBridgeable
where _ObjectiveCType == NSError {
  associatedtype Code: ErrorCode where Code.Failure == Self

  /// - Parameter error: of the domain of this type
  init(_nsError error: NSError)
  var _nsError: NSError { get }
}

extension StoredNSError {
  public var code: Code { .named(_nsError.code) }
  public var errorCode: Int { _nsError.code }
  public var userInfo: [String: Any] { _nsError.userInfo }
  public var errorUserInfo: [String: Any] { _nsError.userInfo }
  public var localizedDescription: String { _nsError.localizedDescription }

  /// As Apple's systems print an `NSError`, with all that is known of it.
  public var description: String {
    let info = userInfo.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return "Error Domain=\(_nsError.domain) Code=\(errorCode) \"\(localizedDescription)\""
      + (info.isEmpty ? "" : " UserInfo={\(info.joined(separator: ", "))}")
  }

  /// Domain, code and user info are compared.
  public static func == (one: Self, other: Self) -> Bool { one._nsError.isEqual(other._nsError) }

  public func hash(into hasher: inout Hasher) { hasher.combine(errorCode) }

  /// - Parameters:
  ///   - text: the text of Apple's systems for the code, where the user info has no description
  ///   - detail: the stack's reason, for `NSDebugDescriptionErrorKey`
  package init(_ code: Code, saying text: String, detail: String? = nil, userInfo: [String: Any] = [:]) {
    var info = userInfo
    if info[NSLocalizedDescriptionKey] == nil { info[NSLocalizedDescriptionKey] = text }
    if let detail { info[NSDebugDescriptionErrorKey] = detail }
    self.init(_nsError: NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info))
  }
}

/// The requirements of the language's casts.
extension StoredNSError {
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
    result = source.domain == errorDomain ? Self(_nsError: source) : nil
    return result != nil
  }

  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
    _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
    Self(_nsError: source ?? NSError(domain: errorDomain, code: 0))
  }
}

/// The code of an error, which takes any raw value, as the enumerations that Apple's frameworks declare in C do: a
/// peripheral may answer with any. The codes are declared in Swift, as targets that import this module by `canImport`
/// do not see modules of C.
public protocol ErrorCode: RawRepresentable, Hashable, Sendable where RawValue == Int {
  associatedtype Failure: StoredNSError

  /// All that have a name.
  static var named: [Self] { get }
  /// A value without a name.
  static func other(_ value: Int) -> Self
}

extension ErrorCode {
  /// The code with this raw value, by its name if it has one.
  static func named(_ value: Int) -> Self { named.first { $0.rawValue == value } ?? .other(value) }

  /// Takes any value.
  public init?(rawValue: Int) { self = .named(rawValue) }

  public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// Matches an error by its domain and code: `catch CBError.connectionTimeout`.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? Failure)?.errorCode == code.rawValue
  }
}
