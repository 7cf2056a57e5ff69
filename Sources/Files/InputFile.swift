import Glibc
import SystemCalls

/// Reads small files as a whole.
public enum InputFile {
  /// Reads a file of at most `limit` bytes. Opening never blocks; a FIFO or terminal has `patience` milliseconds to
  /// provide its data.
  ///
  /// - Throws: `.tooLarge`, `.noData`, or the kernel's error
  public static func read(_ path: String, limit: Int, patience: Int32 = 5000) throws(FileError) -> [UInt8] {
    guard let file = Descriptor(SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)),
      let status = file.status
    else { throw .last(path) }
    return try read(file, status, path, limit, patience)
  }

  static func read(
    _ file: Descriptor, _ status: stat, _ path: String, _ limit: Int, _ patience: Int32
  ) throws(FileError) -> [UInt8] {
    guard !status.isRegular || status.st_size <= limit else { throw FileError(path, .tooLarge(limit: limit)) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      if !status.isRegular {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, patience) > 0 else { throw FileError(path, .noData) }
      }
      let count = SystemCall.read(file.number, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw .last(path) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw FileError(path, .tooLarge(limit: limit)) }
    }
  }
}
