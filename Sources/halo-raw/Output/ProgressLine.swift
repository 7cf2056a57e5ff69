import BluetoothCore
import EventLoop
import Glibc

/// A line on standard error that is updated in place. Only on a terminal.
@BluetoothActor
final class ProgressLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var text = ""

  func show(_ text: String) {
    guard isShown, text != self.text else { return }
    self.text = text
    Console.writeToStandardError("\r\(text)\u{1B}[K")
  }

  /// Removes the line.
  func clear() {
    guard isShown, !text.isEmpty else { return }
    text = ""
    Console.writeToStandardError("\r\u{1B}[K")
  }
}
