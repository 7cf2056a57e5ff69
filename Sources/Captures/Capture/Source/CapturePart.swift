import Glibc
import HaloFiles
import HaloSystemCalls

/// One stream of records: a file, a pipe, or a capture that was taken out of an archive or a bug report.
final class CapturePart: Sendable {
  /// For messages: the path, and the name within an archive.
  let name: String
  /// The file that the user has named; "-" is standard input.
  let path: String
  let descriptor: Int32
  let isRegular: Bool
  /// Whether it is Android's summary of recent packets, most of which are cut.
  let isSummary: Bool
  /// Whether it is a copy, which leads to no file by its path and never grows.
  let isCopy: Bool

  /// Opens a file for reading.
  ///
  /// - Parameter path: "-" is standard input
  init(path: String) throws(CaptureError) {
    // Opening a FIFO must not wait for a writer.
    descriptor = path == "-" ? STDIN_FILENO : SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    guard descriptor >= 0 else { throw CaptureError(.cannotOpen(lastSystemError), path: path) }
    self.path = path
    name = path
    isCopy = false
    isSummary = EntryKind.isSummary(path)
    var status = stat()
    let kind = SystemCall.status(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    isRegular = kind == S_IFREG
    // The file is closed with this object.
    if kind == S_IFDIR { throw CaptureError(.cannotOpen("is a directory"), path: path) }
  }

  /// - Parameters:
  ///   - copy: the copied bytes; its descriptor belongs to the part
  ///   - name: for messages
  ///   - path: the file that has them
  ///   - isSummary: whether it was made of btsnooz; a file of that name is one, too
  init(_ copy: consuming TemporaryCopy, name: String, path: String, isSummary: Bool = false) {
    descriptor = copy.take()
    self.name = name
    self.path = path
    isRegular = true
    isCopy = true
    self.isSummary = isSummary || EntryKind.isSummary(name)
  }

  deinit {
    if descriptor > STDIN_FILENO { close(descriptor) }
  }

  /// Begins again at the first byte. Standard input and pipes go on where they are.
  func rewind() {
    if isRegular, path != "-" || isCopy { lseek(descriptor, 0, SEEK_SET) }
  }

  /// The first bytes of a regular file, at most 512; the position in it does not change. Empty for standard input.
  var beginning: [UInt8] {
    guard isRegular, path != "-" || isCopy else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: 512) { buffer, count in
      count = max(0, SystemCall.read(descriptor, buffer.baseAddress, buffer.count))
    }
    rewind()
    return bytes
  }
}

/// A file without a name, in the folder for large temporary files: nobody else can open it, and it is gone with the process.
struct TemporaryCopy: ~Copyable {
  private var descriptor: Int32
  private(set) var count = 0

  init() throws(CaptureError) {
    descriptor = SystemCall.openUnnamed(in: UserFolders.temporary)
    guard descriptor >= 0 else { throw CaptureError(.cannotCopy(errno)) }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Appends bytes.
  mutating func write(_ bytes: RawSpan) throws(CaptureError) {
    var written = 0
    while written < bytes.byteCount {
      let result = bytes.withUnsafeBytes { bytes in
        SystemCall.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw CaptureError(.cannotCopy(errno)) }
      written += result
    }
    count += written
  }

  /// Transfers the descriptor, at its first byte, to the caller.
  consuming func take() -> Int32 {
    lseek(descriptor, 0, SEEK_SET)
    let taken = descriptor
    descriptor = -1
    return taken
  }
}
