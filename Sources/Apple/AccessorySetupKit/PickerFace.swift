import Foundation

/// The terminal on which the picker shows lists and asks, or its substitute in a test.
package struct PickerFace: Sendable {
  /// Whether a user can choose; otherwise the strongest accessory is taken.
  package var isInteractive: Bool
  package var write: @Sendable (String) -> Void
  /// Calls a handler on a queue with each line that is typed, nil at the end of the input. Returns a closure that stops it.
  package var readLines:
    @Sendable (DispatchQueue, @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void
  /// Runs an action on a queue after some seconds.
  package var after: @Sendable (Double, DispatchQueue, @escaping @Sendable () -> Void) -> Void

  package init(
    isInteractive: Bool, write: @escaping @Sendable (String) -> Void,
    readLines:
      @escaping @Sendable (DispatchQueue, @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void,
    after: @escaping @Sendable (Double, DispatchQueue, @escaping @Sendable () -> Void) -> Void
  ) {
    self.isInteractive = isInteractive
    self.write = write
    self.readLines = readLines
    self.after = after
  }

  /// The list on standard error, the choice on standard input, if both are a terminal.
  static let terminal = PickerFace(
    isInteractive: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
    write: { FileHandle.standardError.write(Data($0.utf8)) },
    readLines: { queue, handler in
      // A terminal delivers whole lines. Nothing is read beyond the one that is waited for.
      let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
      source.setEventHandler {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        handler(count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil)
      }
      source.resume()
      nonisolated(unsafe) let ended = source
      return { ended.cancel() }
    },
    after: { seconds, queue, action in
      queue.asyncAfter(deadline: .now() + seconds, execute: action)
    })
}
