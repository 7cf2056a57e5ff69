import HaloBluetoothCore
import HaloCommandLine

/// The values that lines of standard input give. A wrong line is said with its number; the end of the input ends nothing.
@BluetoothActor
final class ValueLines {
  /// In bytes: a value of 512 bytes as digits with spaces, and the name of a characteristic.
  private nonisolated static let longestLine = 2048

  private let values: ServedValues
  private let input = LineInput(longestLine: longestLine)

  init(_ values: ServedValues) { self.values = values }

  func start() {
    let isOpen = input.start { [self] line in
      if let line { take(line) }
    }
    if isOpen, StandardInput.isForegroundTerminal {
      Console.hint("a line such as \"2A6E D107\" gives the value of a characteristic")
    }
  }

  func stop() { input.stop() }

  private func take(_ line: InputLines.Line) {
    do throws(Failure) {
      guard let text = line.text else {
        throw .usage("it is longer than \(Self.longestLine) bytes")
      }
      try values.take(line: text)
    } catch {
      Console.error("halo-raw: standard input, line \(line.number): \(error.message)")
    }
  }
}
