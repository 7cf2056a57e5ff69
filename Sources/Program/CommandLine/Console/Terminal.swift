import Glibc
import HaloBluetoothCore

/// The terminals of the standard streams.
package enum Terminal {
  /// Whether lines on a descriptor can be updated in place: it is a terminal that knows control sequences.
  package static func canDraw(on descriptor: Int32) -> Bool {
    isatty(descriptor) == 1 && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  /// Whether the terminal shows the Braille characters of Unicode: its encoding is UTF-8, and it is not a console of the
  /// kernel or a serial one, whose fonts lack them.
  package static var showsBraille: Bool {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG")
    guard let encoding = locale?.split(separator: ".").last?.lowercased(), encoding.hasPrefix("utf") else {
      return false
    }
    let terminal = variable("TERM") ?? ""
    return terminal != "linux" && !terminal.hasPrefix("vt")
  }

  /// The size of the terminal of a descriptor, now; 80 by 24 where it is unknown, as on a serial console.
  package static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

extension String {
  /// The text in a number of columns of a terminal; the rest becomes an ellipsis.
  package func cut(to width: Int) -> String {
    var used = 0
    var end = unicodeScalars.startIndex
    for index in unicodeScalars.indices {
      used += unicodeScalars[index].isWide ? 2 : 1
      if used > width { return String(unicodeScalars[..<end]) + "…" }
      if used < width { end = unicodeScalars.index(after: index) }
    }
    return self
  }
}

extension Unicode.Scalar {
  /// Whether a terminal uses two columns for it: Korean, Chinese and Japanese, and pictures.
  fileprivate var isWide: Bool { value >= 0x2E80 || (0x1100...0x115F).contains(value) }
}

/// A line on standard error that is updated in place. Only on a terminal that can do that.
@BluetoothActor
package final class ProgressLine {
  private let isShown = Terminal.canDraw(on: STDERR_FILENO)
  private var text = ""

  package init() {}

  package func show(_ text: String) {
    guard isShown, text != self.text else { return }
    self.text = text
    let width = Terminal.size(of: STDERR_FILENO).columns - 1
    Console.writeToStandardError("\r\(text.cut(to: width))\u{1B}[K")
  }

  /// Removes the line.
  package func clear() {
    guard isShown, !text.isEmpty else { return }
    text = ""
    Console.writeToStandardError("\r\u{1B}[K")
  }
}

/// Shows on the terminal the reason for a wait, once it takes a second: `looking for a ring: 3 s`.
@BluetoothActor
package final class WaitLine {
  /// The reason for the wait.
  package var text: String {
    didSet { show() }
  }
  private let timers: Timers
  private let line = ProgressLine()
  private let start: Instant
  private var timer: Timers.Token?

  package init(_ text: String, in timers: Timers) {
    self.text = text
    self.timers = timers
    start = timers.now
    scheduleUpdate()
  }

  private func scheduleUpdate() {
    timer = timers.schedule(after: .seconds(1)) { [weak self] in
      self?.show()
      self?.scheduleUpdate()
    }
  }

  private func show() {
    let seconds = Int((timers.now - start).inSeconds)
    line.show(seconds > 0 ? "\(text): \(seconds) s" : text)
  }

  /// Removes the line.
  package func end() {
    timers.cancel(timer)
    line.clear()
  }
}
