internal import HaloDevices
internal import HaloRaw

extension CBManagerState {
  init(_ state: ManagedAdapter.State) {
    self =
      switch state {
      case .unknown: .unknown
      case .resetting: .resetting
      case .unsupported: .unsupported
      case .unauthorized: .unauthorized
      case .poweredOff: .poweredOff
      case .poweredOn: .poweredOn
      }
  }
}

/// The way from the loop to a manager: its methods are called on its queue, in the order of the calls.
final class ManagerEvents<Manager: AnyObject>: @unchecked Sendable {
  let callbacks: CallbackQueue
  /// Set once, before anything is sent.
  weak var manager: Manager?

  init(_ callbacks: CallbackQueue) {
    self.callbacks = callbacks
  }

  func send(_ body: @escaping @Sendable (Manager) -> Void) {
    callbacks.async { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }
}
