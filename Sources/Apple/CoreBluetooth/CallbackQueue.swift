import Foundation
internal import HaloDevices
internal import HaloRaw

/// The queue of a manager, on which all events that its program sees are reported, one after the other.
package struct CallbackQueue: @unchecked Sendable {
  package let queue: DispatchQueue

  /// - Parameter queue: of the program; nil for the main queue
  package init(_ queue: DispatchQueue?) {
    // A queue of ours in front of the program's makes callbacks serial, also on a concurrent queue.
    self.queue =
      if let queue, queue !== DispatchQueue.main {
        DispatchQueue(label: "\(queue.label).corebluetooth", target: queue)
      } else {
        .main
      }
  }

  package func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// The same for a closure with objects of the program, which are only used on the queue. Not for closures that are made
  /// on the loop: these belong to it.
  package func asyncUnchecked(_ body: @escaping () -> Void) {
    let body = UncheckedSendable(body)
    queue.async { body.value() }
  }
}

/// A value that is only used on one queue, but carried there from another thread.
package struct UncheckedSendable<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) {
    self.value = value
  }
}

/// Writes one line to standard error: a call that has no effect, with the reason.
package func reportMisuse(_ text: String) {
  FileHandle.standardError.write(Data("CoreBluetooth: \(text)\n".utf8))
}

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
