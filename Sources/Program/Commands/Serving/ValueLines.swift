import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop
import HaloFiles

/// The values that lines of standard input give. A wrong line is said with its number; the end of the input ends nothing.
@BluetoothActor
final class ValueLines {
  /// In bytes: a value of 512 bytes as digits with spaces, and the name of a characteristic.
  private nonisolated static let longestLine = 2048
  /// The most bytes of a file, which is read as a whole.
  private nonisolated static let longestFile = 256 << 10

  private let values: ServedValues
  private let input = StandardInput()
  private var lines = InputLines(longest: longestLine)
  private var reading: Task<Void, Never>?

  init(_ values: ServedValues) { self.values = values }

  func start() {
    let isOpen = input.listen { [self] (piece: ArraySlice<UInt8>?) in take(piece) }
    if isOpen {
      if StandardInput.isForegroundTerminal {
        Console.hint("a line such as \"2A6E D107\" gives the value of a characteristic")
      }
    } else {
      // A file, or /dev/null.
      reading = BluetoothActor.run { await self.readFile() }
    }
  }

  func stop() {
    input.stop()
    reading?.cancel()
  }

  private func readFile() async {
    let result = await offTheLoop { () -> Result<[UInt8], FileError> in
      Result { () throws(FileError) in
        var bytes: [UInt8] = []
        try InputFile.read("-") { piece in
          bytes += piece
          return bytes.count <= Self.longestFile
        }
        guard bytes.count <= Self.longestFile else {
          throw FileError("standard input", .tooLarge(limit: Self.longestFile))
        }
        return bytes
      }
    }
    guard let result, !Task.isCancelled else { return }
    do throws(FileError) {
      take(try result.get()[...])
      take(nil)
    } catch {
      Console.error("halo-raw: \(error)")
    }
  }

  private func take(_ piece: ArraySlice<UInt8>?) {
    let ended = piece.map { lines.take($0) } ?? [lines.finish()].compactMap { $0 }
    for line in ended {
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
}
