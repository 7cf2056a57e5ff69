import Glibc
import HaloBluetoothCore

/// The bytes of a file or of standard input, piece by piece as they come. The loop is not blocked.
@BluetoothActor
package final class InputPieces {
  private struct Piece {
    var bytes: [UInt8] = []
    var code: Int32 = 0
  }

  private let path: String
  private let descriptor: Int32
  private let isRegular: Bool
  private nonisolated static let length = 1 << 16

  /// Opens a file; nil if the task is cancelled.
  ///
  /// - Parameter path: the file; `-` is standard input
  package init?(_ path: String) async throws(FileError) {
    let opened = await offTheLoop { () -> Result<(Int32, Bool), FileError> in
      let number = path == "-" ? STDIN_FILENO : SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      guard let file = FileDescriptor(number), let status = file.status else { return .failure(.last(path)) }
      return .success((file.take(), status.isRegular))
    }
    guard let opened else { return nil }
    self.path = path
    (descriptor, isRegular) = try opened.get()
  }

  deinit {
    if path != "-" { close(descriptor) }
  }

  /// Waits for bytes.
  ///
  /// - Returns: nil at the end, and if the task is cancelled
  package func next() async throws(FileError) -> [UInt8]? {
    let descriptor = descriptor
    if !isRegular { await untilReadable(descriptor) }
    while !Task.isCancelled {
      let read = isRegular ? await offTheLoop { Self.read(descriptor) } : Self.read(descriptor)
      switch read?.code {
      case 0?: return read.flatMap { $0.bytes.isEmpty ? nil : $0.bytes }
      case nil, EINTR?: continue
      case EAGAIN?: await untilReadable(descriptor)
      case let code?: throw FileError(path, .system(code))
      }
    }
    return nil
  }

  private nonisolated static func read(_ descriptor: Int32) -> Piece {
    var buffer = [UInt8](repeating: 0, count: length)
    let count = SystemCall.read(descriptor, &buffer, buffer.count)
    guard count >= 0 else { return Piece(code: errno) }
    buffer.removeLast(buffer.count - count)
    return Piece(bytes: buffer)
  }
}

/// Waits until a read would not block, or the task is cancelled. A file on a disk is always readable.
@BluetoothActor
package func untilReadable(_ descriptor: Int32) async {
  await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
    var watch: EpollLoop.Watch?
    let end = OneShot<Void> { _ in
      watch?.cancel()
      done(.success(()))
    }
    watch = try? EpollLoop.shared.watch(descriptor, for: .readable) { _ in end() }
    if watch == nil { end() }
    return { end() }
  }
}
