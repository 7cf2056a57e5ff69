import Glibc
import HaloBluetoothCore
import HaloSystem

/// Lines of standard input: a terminal or a pipe. The loop is not blocked.
@BluetoothActor
package final class StandardInput {
  private var watch: EpollLoop.Watch?
  private var buffer = [UInt8](repeating: 0, count: 4096)

  /// The length of a line, in bytes; only the end of a longer one is kept.
  private static let longestLine = 128

  package init() {}

  /// Whether it is a terminal, in whose foreground this process is.
  package nonisolated static var isForegroundTerminal: Bool {
    isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }

  /// Reads until ``stop()``.
  ///
  /// - Parameter sink: called with each line without its spaces, and with nil at the end of the input
  /// - Returns: whether it can be read without blocking: a file can't
  package func listen(_ sink: @escaping (String?) -> Void) -> Bool {
    var bytes: [UInt8] = []
    return listen { [self] (piece: ArraySlice<UInt8>?) in
      guard let piece else { return sink(nil) }
      bytes += piece
      while watch != nil, let line = Self.takeLine(of: &bytes) { sink(line) }
      bytes = bytes.suffix(Self.longestLine)
    }
  }

  /// Reads until ``stop()``.
  ///
  /// - Parameter sink: called with the bytes as they come, and with nil at the end of the input
  /// - Returns: whether it can be read without blocking: a file can't
  package func listen(_ sink: @escaping (ArraySlice<UInt8>?) -> Void) -> Bool {
    watch = Self.watch { [self] in
      let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
      if count > 0 { return sink(buffer[..<count]) }
      if count < 0, errno == EINTR || errno == EAGAIN { return }
      stop()
      sink(nil)
    }
    return watch != nil
  }

  /// Calls `handler` whenever there is something to read, but not in the background of a terminal, where reading would stop the
  /// process. Keys typed there would wake the loop again and again: they are polled once a second.
  static func watch(_ handler: @escaping () -> Void) -> EpollLoop.Watch? {
    var watch: EpollLoop.Watch?
    watch = try? EpollLoop.shared.watch(STDIN_FILENO, for: .readable) { _ in
      guard isatty(STDIN_FILENO) == 1, !isForegroundTerminal else { return handler() }
      watch?.interest = []
      EpollLoop.shared.timers.schedule(after: .seconds(1)) { watch?.interest = .readable }
    }
    return watch
  }

  package func stop() {
    watch.take()?.cancel()
  }

  /// Whether reading is paused: input waits in the pipe.
  var isPaused = false {
    didSet { watch?.interest = isPaused ? [] : .readable }
  }

  private static func takeLine(of bytes: inout [UInt8]) -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { bytes.removeFirst(end + 1) }
    return String(decoding: bytes[..<end].filter { $0 > 0x20 }, as: UTF8.self)
  }
}

/// Lines that come in pieces, with their numbers. Lines longer than the limit are not kept.
package struct InputLines {
  /// A line; its text is nil if it is too long.
  package struct Line: Hashable, Sendable {
    package let number: Int
    package let text: String?

    init(number: Int, text: String?) {
      self.number = number
      self.text = text
    }

    /// A line that is typed on a terminal: it has no number.
    package init(typed text: String) { self.init(number: 0, text: text) }
  }

  private let longest: Int
  private var bytes: [UInt8] = []
  private var isTooLong = false
  private var number = 1

  /// - Parameter longest: the length of a line, in bytes, without its end
  package init(longest: Int) { self.longest = longest }

  /// - Returns: the lines that end in the next piece
  package mutating func take(_ piece: ArraySlice<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = piece
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      keep(rest[..<end])
      lines.append(takeLine())
      rest = rest[(end + 1)...]
    }
    keep(rest)
    return lines
  }

  /// - Returns: the text behind the last end of a line; nil if there is none
  package mutating func finish() -> Line? { bytes.isEmpty && !isTooLong ? nil : takeLine() }

  private mutating func keep(_ part: ArraySlice<UInt8>) {
    isTooLong = isTooLong || bytes.count + part.count > longest
    if isTooLong { bytes = [] } else { bytes += part }
  }

  private mutating func takeLine() -> Line {
    defer { (bytes, isTooLong, number) = ([], false, number + 1) }
    return Line(number: number, text: isTooLong ? nil : String(decoding: bytes, as: UTF8.self))
  }
}

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
