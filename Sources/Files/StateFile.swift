import Glibc
import SystemCalls

/// A small file in which a program keeps what it knows from one run to the next, in a folder of this user's alone
/// (``PrivateFolder``). It is read, changed and replaced as one step, under a lock; who only reads finds it whole.
public struct StateFile: Sendable {
  public let path: String
  /// A larger file is not read.
  public let limit: Int
  /// How long a change waits for the lock, in milliseconds.
  private let patience: Int

  public init(path: String, limit: Int = 256 << 10, patience: Int = 2000) {
    self.path = path
    self.limit = limit
    self.patience = patience
  }

  private var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// What it holds.
  ///
  /// - Returns: nil if there is no such file
  /// - Throws: `.tooLarge`; `.notRegular`; `.foreign`, if another user has written it; or the kernel's error
  public func read() throws(FileError) -> [UInt8]? {
    guard let file = Descriptor(SystemCall.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)) else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .last(path)
    }
    guard let status = file.status else { throw .last(path) }
    guard status.isRegular else { throw FileError(path, .notRegular) }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw FileError(path, .foreign) }
    return try InputFile.read(file, status, path, limit, 0)
  }

  /// Runs `change` while no other process changes the file. It finds what ``read()`` says, and gives what the file is to
  /// hold, or nil to leave it as it is.
  ///
  /// - Throws: `.locked`, `.foreign`, or the kernel's error: the file is as it was
  public func update(
    _ change: (Result<[UInt8]?, FileError>) throws(FileError) -> [UInt8]?
  ) throws(FileError) {
    try PrivateFolder.make(folder)
    let lock = try FileLock.acquire(path + ".lock", patience: patience)
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

  /// Gives a damaged file another name, so that nothing is lost and a new one can be made. Only to be called by the
  /// `change` of ``update(_:)``.
  ///
  /// - Returns: the new name
  public func setAside() throws(FileError) -> String {
    let aside = path + ".damaged"
    guard SystemCall.rename(path, to: aside) == 0 else { throw .last(path) }
    return aside
  }
}
