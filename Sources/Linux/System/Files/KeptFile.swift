import Glibc

/// One file that is written until its program ends, or until another program has moved it away, as logrotate does. One thread
/// at a time opens it.
final class KeptFile: @unchecked Sendable {
  let path: String
  /// The same open file as the descriptor that was returned last: it has the same lock.
  private var current: FileDescriptor?

  init(_ path: String) {
    self.path = path
  }

  /// Opens the file that has the path now; without ``current``, for the first time.
  ///
  /// - Parameters:
  ///   - existing: the treatment of data in it
  ///   - beginning: the beginning of an empty file, if it is not the first one
  /// - Returns: a descriptor that the caller closes
  func open(_ existing: OutputFile.ExistingData, beginning: [UInt8]) throws(FileError) -> Int32 {
    let isFirst = current == nil
    if let current, isStill(current) { return try copy(current.number) }
    guard let file = FileDescriptor(try OutputFile.open(path: path, existing: existing)) else {
      throw .last(path)
    }
    current = FileDescriptor(try copy(file.number))
    if !isFirst, file.status?.st_size == 0 { try OutputFile.write(beginning, to: file.number, path) }
    return file.take()
  }

  /// Whether the path leads to this open file; a device or FIFO stays the same.
  private func isStill(_ file: FileDescriptor) -> Bool {
    guard let identity = FileIdentity(descriptor: file.number) else { return true }
    return FileIdentity(path: path) == identity
  }

  private func copy(_ descriptor: Int32) throws(FileError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw .last(path) }
    return copy
  }
}
