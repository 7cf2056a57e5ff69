import Glibc

/// A small state file in a private folder (``PrivateFolder``), kept between runs of a program. Reading, changing and
/// replacing it is one step under a lock; readers always find complete contents.
package struct StateFile: Sendable {
  /// The file.
  package let path: String
  /// The maximum size of the file.
  package let limit: Int
  /// How long a change waits for the lock, in milliseconds.
  private let timeout: Int
  private let isSecret: Bool

  /// The maximum size of a file, in bytes, unless another one is given.
  package static let standardLimit = 256 << 10

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - limit: the maximum size of the file, in bytes
  ///   - timeout: how long a change waits for the lock, in milliseconds
  ///   - isSecret: whether others lose the right to read the file, if it was given to them after it was made
  package init(path: String, limit: Int = Self.standardLimit, timeout: Int = 2000, isSecret: Bool = false) {
    self.path = path
    self.limit = limit
    self.timeout = timeout
    self.isSecret = isSecret
  }

  /// What tells one state of a file from another.
  package struct Stamp: Hashable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let times: [Int]

    fileprivate init(_ status: stat) {
      (device, inode, size) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
      times = [status.st_mtim, status.st_ctim].flatMap { [Int($0.tv_sec), Int($0.tv_nsec)] }
    }
  }

  /// Changes whenever the file does, so that it need not be read to know that it has not changed; nil if there is none.
  package var stamp: Stamp? {
    var status = stat()
    return stat(path, &status) == 0 ? Stamp(status) : nil
  }

  private var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// The contents.
  ///
  /// - Returns: nil if the file does not exist
  /// - Throws: `.tooLarge`; `.notRegular`; `.foreign`, if another user owns it; `.readableByOthers`, if a secret one stays so;
  ///   or the kernel's error
  package func read() throws(FileError) -> [UInt8]? {
    guard let file = FileDescriptor(SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)) else {
      let error = FileError.last(path)
      // A link that leads nowhere, as to a disk that is not there, is no missing file where it has keys.
      var status = stat()
      if errno == ENOENT || errno == ENOTDIR, !isSecret || lstat(path, &status) != 0 { return nil }
      throw error
    }
    guard let status = file.status else { throw .last(path) }
    guard status.isRegular else { throw FileError(path, .notRegular) }
    // Before root is given up, a file of root may be one that the caller of sudo has made a link to.
    let caller = UserFolders.caller
    guard status.st_uid == caller || status.st_uid == 0 && caller == geteuid() else {
      throw FileError(path, .foreign)
    }
    if isSecret, status.st_mode & 0o077 != 0, SystemCall.setMode(file.number, 0o600) != 0 {
      throw FileError(path, .readableByOthers)
    }
    return try InputFile.read(file, status, path, limit, 0)
  }

  /// Runs `change` while no other process changes the file. It receives the result of ``read()``, and returns the new
  /// contents, or nil to leave the file unchanged.
  ///
  /// - Throws: `.locked`, `.foreign`, or the kernel's error; the file is unchanged
  package func update(
    _ change: (Result<[UInt8]?, FileError>) throws(FileError) -> [UInt8]?
  ) throws(FileError) {
    try PrivateFolder.make(folder)
    let lock = try FileLock.acquire(path + ".lock", timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    let found: Result<[UInt8]?, FileError>
    do throws(FileError) {
      found = .success(try read())
    } catch {
      found = .failure(error)
    }
    guard let bytes = try change(found) else { return }
    guard try OutputFile.replace(path, with: bytes) == nil else { throw FileError(path, .notRegular) }
  }

  /// Renames a damaged file, so that its contents are kept and a new one can be created. Call it only in the `change`
  /// closure of ``update(_:)``.
  ///
  /// - Returns: the new name
  package func setAside() throws(FileError) -> String {
    let aside = path + ".damaged"
    guard SystemCall.rename(path, to: aside) == 0 else { throw .last(path) }
    return aside
  }
}

/// A lock between processes, on a file beside the protected one. The file is owned by this user and has mode 0600, so
/// other users can't open it or hold the lock. The kernel releases the lock when its holder ends, for any reason.
package final class FileLock {
  private let path: String
  private let file: FileDescriptor

  private init(_ path: String, _ file: FileDescriptor) {
    self.path = path
    self.file = file
  }

  /// Acquires the lock if it is free.
  ///
  /// - Returns: nil if another process, or another part of this one, holds it
  /// - Throws: `.foreign`, or the kernel's error
  package static func attempt(_ path: String) throws(FileError) -> FileLock? {
    // Its last holder may remove the file while it is opened here.
    for _ in 0..<16 {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
      guard let file = FileDescriptor(SystemCall.open(path, flags, mode: 0o600)), let status = file.status
      else {
        throw .last(path)
      }
      guard status.isRegular, status.st_uid == geteuid() else { throw FileError(path, .foreign) }
      if status.st_mode & 0o077 != 0 { _ = SystemCall.setMode(file.number, 0o600) }
      guard SystemCall.lock(file.number, LOCK_EX | LOCK_NB) == 0 else {
        if errno == EWOULDBLOCK { return nil }
        throw .last(path)
      }
      var named = stat()
      if stat(path, &named) == 0, named.st_ino == status.st_ino, named.st_dev == status.st_dev {
        return FileLock(path, file)
      }
    }
    throw FileError(path, .locked)
  }

  /// Acquires the lock, waiting at most the given number of milliseconds.
  ///
  /// - Throws: `.locked`, and as ``attempt(_:)``
  package static func acquire(_ path: String, timeout: Int) throws(FileError) -> FileLock {
    let start = milliseconds
    while true {
      if let lock = try attempt(path) { return lock }
      guard milliseconds - start < timeout else { throw FileError(path, .locked) }
      usleep(5000)
    }
  }

  private static var milliseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  /// Removes the file; the lock is released with the last reference to this object.
  package func remove() {
    unlink(path)
  }
}
