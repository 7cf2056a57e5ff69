import HaloBluetoothCore
import HaloSystem

/// The lines of standard input, with their numbers: those of a terminal, a pipe or a file.
@BluetoothActor
package final class LineInput {
  private let longestLine: Int
  private let input = StandardInput()
  private var lines: InputLines
  private var reading: Task<Void, Never>?
  private var sink: ((InputLines.Line?) -> Void)?

  /// The most bytes of a file, which is read as a whole.
  private nonisolated static let longestFile = 256 << 10

  /// - Parameter longestLine: the length of a line, in bytes, without its end
  package init(longestLine: Int) {
    self.longestLine = longestLine
    lines = InputLines(longest: longestLine)
  }

  /// Reads until ``stop()``.
  ///
  /// - Parameter sink: called with each line, and with nil at the end
  /// - Returns: whether the lines come as they are written; false for a file
  package func start(_ sink: @escaping (InputLines.Line?) -> Void) -> Bool {
    self.sink = sink
    let isOpen = input.listen { [self] (piece: ArraySlice<UInt8>?) in take(piece) }
    // A file, or /dev/null.
    if !isOpen { reading = BluetoothActor.run { await self.readFile() } }
    return isOpen
  }

  package func stop() {
    sink = nil
    input.stop()
    reading?.cancel()
  }

  /// Whether reading is paused: input waits in the pipe.
  package var isPaused: Bool {
    get { input.isPaused }
    set { input.isPaused = newValue }
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
    } catch {
      Console.error("halo-raw: \(error)")
    }
    take(nil)
  }

  private func take(_ piece: ArraySlice<UInt8>?) {
    for line in piece.map({ lines.take($0) }) ?? [lines.finish()].compactMap({ $0 }) { sink?(line) }
    if piece == nil { sink?(nil) }
  }
}
