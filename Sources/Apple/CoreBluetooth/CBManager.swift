import Foundation
internal import HaloLinuxBluetooth
internal import HaloRaw
internal import HaloSystem

/// The base class of the managers of both roles.
open class CBManager: NSObject {
  private let current: LockedValue<CBManagerState>
  let observers = Observers()

  init(_ state: CBManagerState) {
    current = LockedValue(state)
    super.init()
  }

  open var state: CBManagerState { current.withLock { $0 } }

  func set(_ state: CBManagerState) {
    observers.changing { current.withLock { $0 = state } }
  }

  open var authorization: CBManagerAuthorization { Self.authorization }

  /// The permission of this process to use the adapter that managers use by default.
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
