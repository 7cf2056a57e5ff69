import Foundation
internal import HaloRaw

/// Whether the adapter can be used.
public enum CBManagerState: Int, Sendable {
  case unknown = 0
  case resetting = 1
  case unsupported = 2
  case unauthorized = 3
  case poweredOff = 4
  case poweredOn = 5
}

public enum CBManagerAuthorization: Int, Sendable {
  case notDetermined = 0
  case restricted = 1
  /// The process lacks a capability that the adapter needs.
  case denied = 2
  case allowedAlways = 3
}

/// What the managers of both roles have.
open class CBManager: NSObject {
  private let current: Guarded<CBManagerState>

  init(_ state: CBManagerState) {
    current = Guarded(state)
    super.init()
  }

  open var state: CBManagerState { current.withLock { $0 } }

  func set(_ state: CBManagerState) { current.withLock { $0 = state } }

  open var authorization: CBManagerAuthorization { Self.authorization }

  /// Whether this process may use the adapter that managers use by default.
  open class var authorization: CBManagerAuthorization {
    guard let specification = try? AdapterChoice().specification() else { return .allowedAlways }
    let needed: Capability? =
      switch specification {
      case .kernel: .netRaw
      case .user: .netAdmin
      case .virtual, .tcp, .unix, .serial, .replay: nil
      }
    return needed?.isEffective ?? true ? .allowedAlways : .denied
  }
}
