import Glibc
import HaloBluetoothCore
import HaloSystem

/// Reads single keys of the terminal, without Enter. The terminal does not show them meanwhile. ``stop()`` restores it, and so
/// does the end of the process, except by SIGKILL.
@BluetoothActor
package final class KeyInput {
  private var watch: EpollLoop.Watch?

  /// - Returns: nil if standard input is no terminal in whose foreground this process is
  package init?(_ sink: @escaping (UInt8) -> Void) {
    guard StandardInput.isForegroundTerminal, Self.changeTerminal() else { return nil }
    watch = StandardInput.watch { [weak self] in
      var keys = [UInt8](repeating: 0, count: 64)
      let count = read(STDIN_FILENO, &keys, keys.count)
      guard count != 0 else { return self?.stop() ?? () }
      for key in keys.prefix(max(0, count)) { sink(key) }
    }
    guard watch != nil else {
      Self.restoreTerminal()
      return nil
    }
  }

  /// Reads no more, and gives the terminal back.
  package func stop() {
    watch.take()?.cancel()
    Self.restoreTerminal()
  }

  // MARK: The terminal

  /// How the terminal was; nil if it is so now.
  private nonisolated static let before = LockedValue<termios?>(nil)

  /// Notes how the terminal is, for ``restoreTerminal()``, unless that is noted already.
  static func saveTerminal() -> Bool {
    var mode = termios()
    guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return false }
    before.withLock { [mode] in $0 = $0 ?? mode }
    return true
  }

  /// Has the terminal hand over each key, and show none.
  @discardableResult
  static func changeTerminal() -> Bool {
    var mode = termios()
    guard saveTerminal(), tcgetattr(STDIN_FILENO, &mode) == 0 else { return false }
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    return tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0
  }

  /// Gives the terminal back, also from a process that ends at once: from any thread.
  nonisolated static func restoreTerminal() {
    guard var mode = before.withLock({ $0.take() }), StandardInput.isForegroundTerminal else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &mode)
  }
}
