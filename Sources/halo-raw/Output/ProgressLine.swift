import EventLoop
import Glibc

/// A line on standard error that is written over and over, while people look: nothing if it is not a terminal.
@BluetoothActor
final class ProgressLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var text = ""

  func show(_ text: String) {
    guard isShown, text != self.text else { return }
    self.text = text
    Self.write("\r\(text)\u{1B}[K")
  }

  /// Takes the line away.
  func clear() {
    guard isShown, !text.isEmpty else { return }
    text = ""
    Self.write("\r\u{1B}[K")
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    // What does not get through is no loss.
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
