import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem

/// A file that is written as a whole.
enum WholeFile {
  /// Writes the file, atomically. A FIFO or device has ten seconds to take it.
  @BluetoothActor
  static func write(_ bytes: [UInt8], to path: String) async throws(Failure) {
    do throws(FileError) {
      guard let stream = try OutputFile.replace(path, with: bytes) else { return }
      try await write(bytes, to: stream)
    } catch {
      throw Failure(ExitCode(error), "cannot write \(error)")
    }
  }

  /// Writes to a device or FIFO without blocking the loop.
  @BluetoothActor
  private static func write(_ bytes: [UInt8], to stream: OutputFile) async throws(FileError) {
    let timers = EpollLoop.shared.timers
    let deadline = timers.current + .seconds(10)
    _ = fcntl(stream.descriptor, F_SETFL, fcntl(stream.descriptor, F_GETFL) | O_NONBLOCK)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { SystemCall.write(stream.descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN, timers.current < deadline {
        await timers.sleep(for: .milliseconds(20))
      } else if count == 0 || errno != EINTR {
        throw FileError(stream.path, .system(count == 0 ? EIO : errno))
      }
    }
  }
}
