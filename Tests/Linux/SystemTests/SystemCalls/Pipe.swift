import Glibc
import HaloSystem
import Synchronization

/// A pipe whose reader is the test.
final class Pipe {
  let reading: Int32
  let writing: Int32

  /// `F_SETPIPE_SZ` of fcntl(2), which Swift's Glibc module leaves out.
  private static let setSize: Int32 = 1031

  /// - Parameter capacity: what the kernel keeps, at least a page
  init(capacity: Int32 = 4096) {
    signal(SIGPIPE, SIG_IGN)
    var pair: [Int32] = [0, 0]
    pipe(&pair)
    (reading, writing) = (pair[0], pair[1])
    _ = fcntl(writing, Self.setSize, capacity)
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Reads what is there, and waits for it if nothing is.
  func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = Glibc.read(reading, &buffer, buffer.count)
    return Array(buffer[..<max(0, count)])
  }

  /// Reads until there are `count` bytes, or the pipe is at its end.
  func read(_ count: Int) -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count {
      let more = read()
      if more.isEmpty { break }
      all += more
    }
    return all
  }
}

extension OutputQueue {
  @discardableResult
  func write(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// Waits until all is written.
  func drained() async {
    await withCheckedContinuation { continuation in whenDrained { continuation.resume() } }
  }
}
