import Foundation

/// The queue of a manager, on which everything that its program sees happens, one after the other.
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
  package func asyncConfined(_ body: @escaping () -> Void) {
    let body = Confined(body)
    queue.async { body.value() }
  }
}

/// A value that is only used on one queue, but carried there from another thread.
package struct Confined<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) {
    self.value = value
  }
}

/// Writes one line to standard error: a call that has no effect, with the reason.
package func reportMisuse(_ text: String) {
  FileHandle.standardError.write(Data("CoreBluetooth: \(text)\n".utf8))
}
