import Glibc

/// A line on standard error that is written over, if that is a terminal; nothing at all if it is not.
struct ProgressLine {
  private var isShown = false
  private let isTerminal = isatty(STDERR_FILENO) == 1

  mutating func show(_ text: String, isWanted: Bool = true) {
    guard isTerminal, isWanted else { return }
    isShown = true
    put("\r\(text)\u{1B}[K")
  }

  /// Removes it, so that something else can be written.
  mutating func clear() {
    guard isShown else { return }
    isShown = false
    put("\r\u{1B}[K")
  }

  private func put(_ text: String) {
    let bytes = Array(text.utf8)
    // What does not fit is no loss.
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
