import Glibc

/// Reads files. Opening never blocks, and a FIFO or a terminal has a time to provide its data.
package enum InputFile {
  /// Reads a file of any length in pieces.
  ///
  /// - Parameters:
  ///   - path: the file; `-` is standard input, which is waited for
  ///   - timeout: in milliseconds; how long a FIFO or a terminal may provide nothing
  ///   - mustBeRegular: whether anything but a regular file is refused
  ///   - take: gets each piece; reading ends when it returns false
  /// - Throws: `.notRegular`, `.noData`, or the kernel's error
  package static func read(
    _ path: String, timeout: Int32 = 5000, mustBeRegular: Bool = false,
    _ take: (ArraySlice<UInt8>) -> Bool
  ) throws(FileError) {
    let isInput = path == "-"
    guard
      let file = FileDescriptor(
        isInput ? STDIN_FILENO : SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY))
    else { throw .last(path) }
    defer { if isInput { _ = file.take() } }
    guard let status = file.status else { throw .last(path) }
    guard !mustBeRegular || status.isRegular else { throw FileError(path, .notRegular) }
    try read(file, status, path, isInput ? -1 : timeout, take)
  }

  /// Reads a file of at most `limit` bytes as a whole. A FIFO or terminal has `timeout` milliseconds to provide its data.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - limit: in bytes
  ///   - timeout: in milliseconds
  ///   - owner: who has to own the file; nil for anybody
  /// - Throws: `.tooLarge`, `.noData`, `.foreign`, or the kernel's error
  package static func read(
    _ path: String, limit: Int, timeout: Int32 = 5000, owner: uid_t? = nil
  ) throws(FileError) -> [UInt8] {
    guard let file = FileDescriptor(SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)),
      let status = file.status
    else { throw .last(path) }
    guard owner == nil || owner == status.st_uid else { throw FileError(path, .foreign) }
    return try read(file, status, path, limit, timeout)
  }

  /// Reads a file with a secret, such as a password: of this user, whom alone it is readable for, or of root, which may share it
  /// with a group.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - limit: in bytes
  /// - Throws: `.notRegular`, `.foreign`, `.readableByOthers`, `.tooLarge`, or the kernel's error
  package static func readSecret(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    guard let file = FileDescriptor(SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)),
      let status = file.status
    else { throw .last(path) }
    guard status.isRegular else { throw FileError(path, .notRegular) }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw FileError(path, .foreign) }
    let others: mode_t = status.st_uid == 0 && geteuid() != 0 ? 0o007 : 0o077
    guard status.st_mode & others == 0 else { throw FileError(path, .readableByOthers) }
    return try read(file, status, path, limit, 0)
  }

  static func read(
    _ file: FileDescriptor, _ status: stat, _ path: String, _ limit: Int, _ timeout: Int32
  ) throws(FileError) -> [UInt8] {
    guard !status.isRegular || status.st_size <= limit else { throw FileError(path, .tooLarge(limit: limit)) }
    var bytes: [UInt8] = []
    try read(file, status, path, timeout) {
      bytes += $0
      return bytes.count <= limit
    }
    guard bytes.count <= limit else { throw FileError(path, .tooLarge(limit: limit)) }
    return bytes
  }

  private static func read(
    _ file: FileDescriptor, _ status: stat, _ path: String, _ timeout: Int32,
    _ take: (ArraySlice<UInt8>) -> Bool
  ) throws(FileError) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if !status.isRegular {
        var poll = pollfd(fd: file.number, events: Int16(POLLIN), revents: 0)
        let count = Glibc.poll(&poll, 1, timeout)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw FileError(path, .noData) }
      }
      let count = SystemCall.read(file.number, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw .last(path) }
      if count == 0 || !take(buffer[..<count]) { return }
    }
  }
}

/// A file that is written in place. A device or FIFO is kept, and opening does not wait for a FIFO's reader. New files
/// are accessible to their owner only (0600), as this package writes health data.
package final class OutputFile {
  /// The file.
  package let path: String
  /// Open for writing; -1 once taken.
  package private(set) var descriptor: Int32
  /// Otherwise a device, a FIFO or a socket.
  package let isRegular: Bool
  let place: FilePlace
  let status: stat

  /// Opens a file, or creates it. Its contents stay until ``truncate()``.
  ///
  /// - Throws: `.noReader`, `.foreign`, or the kernel's error
  package convenience init(path: String) throws(FileError) {
    // The file may appear and disappear in between.
    for _ in 0..<16 {
      let place = try FilePlace(path)
      do throws(FileError) {
        try self.init(place, makes: place.found == nil)
        return
      } catch  where [.system(ENOENT), .system(EEXIST), .system(ELOOP)].contains(error.reason) {
        // ENOENT: a link in /proc has no target that could be created.
        if place.isKernelLink { throw error }
      }
    }
    throw FileError(path, .system(EAGAIN))
  }

  init(_ place: FilePlace, makes: Bool) throws(FileError) {
    guard let file = place.open(O_WRONLY | (makes ? O_CREAT | O_EXCL : 0)), let status = file.status else {
      throw errno == ENXIO && place.found?.kind == S_IFIFO
        ? FileError(place.path, .noReader) : .last(place.path)
    }
    guard place.trusts(status) else { throw FileError(place.path, .foreign) }
    // The caller's writes may block, as with any file; only opening must not.
    _ = fcntl(file.number, F_SETFL, fcntl(file.number, F_GETFL) & ~O_NONBLOCK)
    descriptor = file.take()
    path = place.path
    isRegular = status.isRegular
    self.place = place
    self.status = status
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Empties a regular file; others have no length.
  package func truncate() throws(FileError) {
    guard isRegular else { return }
    guard SystemCall.truncate(descriptor, 0) == 0 else { throw .last(path) }
  }

  /// Transfers the descriptor to the caller, which closes it.
  package func take() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }

  /// Opens or creates a file, and truncates it.
  ///
  /// - Returns: a descriptor that the caller closes
  package static func open(path: String) throws(FileError) -> Int32 {
    let file = try OutputFile(path: path)
    try file.truncate()
    return file.take()
  }

  /// Opens or creates a file for records that can't be made again. It belongs to this program until it is closed: a second
  /// one is refused. Each write goes to its end, also after another program has emptied it, as logrotate does.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - existing: the treatment of data in it
  /// - Returns: a descriptor that the caller closes
  /// - Throws: `.beingWritten`, `.hasData`, and the errors of ``init(path:)``; then the file is as it was
  package static func open(path: String, existing: ExistingData) throws(FileError) -> Int32 {
    let file = try OutputFile(path: path)
    guard file.isRegular else { return file.take() }
    // Some network file systems have no locks.
    if SystemCall.lock(file.descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
      throw FileError(path, .beingWritten)
    }
    _ = fcntl(file.descriptor, F_SETFL, fcntl(file.descriptor, F_GETFL) | O_APPEND)
    switch existing {
    case .keep: break
    case .replace: try file.truncate()
    case .refuse where try file.length > 0: throw FileError(path, .hasData)
    case .refuse: break
    }
    return file.take()
  }

  /// In bytes, now.
  package var length: Int {
    get throws(FileError) {
      var status = stat()
      guard SystemCall.status(descriptor, &status) == 0 else { throw .last(path) }
      return Int(status.st_size)
    }
  }

  /// The treatment of the data of a file that is opened.
  package enum ExistingData: Hashable, Sendable {
    /// It stays, and new data follow it.
    case keep
    /// It is deleted.
    case replace
    /// A file with data is not opened.
    case refuse
  }
}
