import Glibc

/// An output descriptor, with non-blocking writes where possible.
///
/// `O_NONBLOCK` belongs to the open file, not to the descriptor: setting it on standard output would set it for the
/// shell and for every other program on the same terminal or pipe. So a pipe or a terminal is reopened through its
/// `/proc/self/fd` entry, which creates a separate open file; a socket has `MSG_DONTWAIT`.
struct OutputDescriptor {
  /// The result of a write.
  enum Outcome {
    /// The number of bytes written; zero if there is no room now.
    case taken(Int)
    case failed(SystemError)
  }

  let descriptor: Int32
  /// Whether a write returns immediately if there is no room. Writes to regular files may block on a slow disk.
  let isNonBlocking: Bool
  let isRegularFile: Bool
  /// The most bytes that a write takes all or none of. Other programs may write to the same pipe or terminal, and a line
  /// of theirs must not appear within one of ours (`PIPE_BUF` of pipe(7)).
  let atomicSize: Int
  private let isSocket: Bool
  private let closes: Bool

  /// - Parameter owned: whether ``close()`` closes it
  init(_ original: Int32, owned: Bool) {
    var status = stat()
    let kind = SystemCall.status(original, &status) == 0 ? status.st_mode & S_IFMT : 0
    isRegularFile = kind == S_IFREG
    isSocket = kind == S_IFSOCK
    atomicSize = kind == S_IFIFO || kind == S_IFCHR ? Int(PIPE_BUF) : .max
    // The memory devices (null, full, zero) have the major number 1 and always return at once.
    let isMemoryDevice = kind == S_IFCHR && status.st_rdev >> 8 == 1
    var reopened: Int32 = -1
    if kind == S_IFIFO || kind == S_IFCHR && isatty(original) == 1 {
      reopened = SystemCall.open("/proc/self/fd/\(original)", O_WRONLY | O_NONBLOCK | O_NOCTTY)
    }
    let blocks = fcntl(original, F_GETFL) & O_NONBLOCK == 0
    if reopened >= 0 {
      if owned { Glibc.close(original) }
      descriptor = reopened
    } else {
      descriptor = original
    }
    closes = owned || reopened >= 0
    isNonBlocking = reopened >= 0 || isSocket || isMemoryDevice || !blocks && !isRegularFile
  }

  func close() {
    if closes { Glibc.close(descriptor) }
  }

  /// Writes once. Waits only if ``isNonBlocking`` is false.
  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    while true {
      let count =
        isSocket
        ? SystemCall.send(descriptor, bytes.baseAddress, bytes.count, waits: false)
        : SystemCall.write(descriptor, bytes.baseAddress, bytes.count)
      if count >= 0 { return .taken(count) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .taken(0)
      default: return .failed(.last("write"))
      }
    }
  }

  /// Whether it is a regular file without a byte.
  var isEmptyFile: Bool {
    var status = stat()
    return isRegularFile && SystemCall.status(descriptor, &status) == 0 && status.st_size == 0
  }

  /// Waits until there may be room.
  func waitForRoom() {
    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    poll(&wait, 1, -1)
  }

  /// Removes the last `count` bytes that were written to a regular file, as an incomplete record is useless.
  func takeBack(_ count: Int) {
    guard isRegularFile, count > 0 else { return }
    let position = lseek(descriptor, 0, SEEK_CUR)
    if position >= count, SystemCall.truncate(descriptor, Int(position) - count) == 0 {
      lseek(descriptor, -off_t(count), SEEK_CUR)
    }
  }
}
