import Foundation

/// The queue of a manager, on which everything that its program sees happens, one after the other.
struct CallbackQueue: @unchecked Sendable {
  private let queue: DispatchQueue

  /// - Parameter queue: of the program; nil for the main queue
  init(_ queue: DispatchQueue?) {
    // A queue of ours in front of the program's makes callbacks serial, also on a concurrent queue.
    self.queue =
      if let queue, queue !== DispatchQueue.main {
        DispatchQueue(label: "\(queue.label).corebluetooth", target: queue)
      } else {
        .main
      }
  }

  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// The same for a closure with objects of the program, which are only used on the queue. Not for closures that are made
  /// on the loop: these belong to it.
  func asyncConfined(_ body: @escaping () -> Void) {
    let body = Confined(body)
    queue.async { body.value() }
  }
}

/// A value that is only used on one queue, but carried there from another thread.
struct Confined<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// Writes one line to standard error: a call that has no effect, with the reason.
func reportMisuse(_ text: String) {
  FileHandle.standardError.write(Data("CoreBluetooth: \(text)\n".utf8))
}
