import Foundation

/// What `CBError`, `CBATTError` and `ASError` have in common: each stores an `NSError` of its domain. `as NSError` gives that
/// one, and `as? CBError` takes an `NSError` of the domain back, also in a `catch`.
public protocol StoredNSError: CustomNSError, CustomStringConvertible, Hashable, Sendable,
  _ObjectiveCBridgeable
where _ObjectiveCType == NSError {
  /// An enumeration of C, which takes any value.
  associatedtype Code: RawRepresentable where Code.RawValue == Int

  /// - Parameter error: of the domain of this type
  init(_nsError error: NSError)
  var _nsError: NSError { get }
}

extension StoredNSError {
  public var code: Code {
    guard let code = Code(rawValue: _nsError.code) else {
      preconditionFailure("\(Code.self) takes any value")
    }
    return code
  }

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
  ///   - text: what Apple's systems say of the code, where the user info has no description
  ///   - detail: what the stack knows, for `NSDebugDescriptionErrorKey`
  package init(_ code: Code, saying text: String, detail: String? = nil, userInfo: [String: Any] = [:]) {
    var info = userInfo
    if info[NSLocalizedDescriptionKey] == nil { info[NSLocalizedDescriptionKey] = text }
    if let detail { info[NSDebugDescriptionErrorKey] = detail }
    self.init(_nsError: NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: info))
  }
}

/// What the language's casts call.
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
