import Foundation
internal import HaloLinuxBluetooth
internal import HaloRaw
internal import HaloSystemCalls

/// What the managers of both roles have.
open class CBManager: NSObject {
  private let current: Guarded<CBManagerState>
  let stateObservers = Observers<CBManagerState>()

  init(_ state: CBManagerState) {
    current = Guarded(state)
    super.init()
  }

  open var state: CBManagerState { current.withLock { $0 } }

  func set(_ state: CBManagerState) {
    let old = current.withLock { current in
      defer { current = state }
      return current
    }
    stateObservers.report(from: old, to: state)
  }

  open var authorization: CBManagerAuthorization { Self.authorization }

  /// Whether this process may use the adapter that managers use by default.
  open class var authorization: CBManagerAuthorization {
    guard let specification = try? AdapterChoice().specification() else { return .allowedAlways }
    let needed: Capability? =
      switch specification {
      case .kernel: .netRaw
      case .user: .netAdmin
      case .virtual, .air, .tcp, .unix, .serial, .replay: nil
      }
    return needed?.isEffective ?? true ? .allowedAlways : .denied
  }
}
