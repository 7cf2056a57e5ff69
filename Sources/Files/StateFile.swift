import Glibc
import SystemCalls

/// A small state file in a private folder (``PrivateFolder``), kept between runs of a program. Reading, changing and
/// replacing it is one step under a lock; readers always find complete contents.
public struct StateFile: Sendable {
  /// The file.
  public let path: String
  /// The maximum size of the file.
  public let limit: Int
  /// How long a change waits for the lock, in milliseconds.
  private let patience: Int

  /// Does not touch the file.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - limit: the maximum size of the file, in bytes
  ///   - patience: how long a change waits for the lock, in milliseconds
  public init(path: String, limit: Int = 256 << 10, patience: Int = 2000) {
    self.path = path
    self.limit = limit
    self.patience = patience
  }

  private var folder: String {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// The contents.
  ///
  /// - Returns: nil if the file does not exist
  /// - Throws: `.tooLarge`; `.notRegular`; `.foreign`, if another user owns it; or the kernel's error
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

  /// Runs `change` while no other process changes the file. It receives the result of ``read()``, and returns the new
  /// contents, or nil to leave the file unchanged.
  ///
  /// - Throws: `.locked`, `.foreign`, or the kernel's error; the file is unchanged
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

  /// Renames a damaged file, so that its contents are kept and a new one can be created. Call it only in the `change`
  /// closure of ``update(_:)``.
  ///
  /// - Returns: the new name
  public func setAside() throws(FileError) -> String {
    let aside = path + ".damaged"
    guard SystemCall.rename(path, to: aside) == 0 else { throw .last(path) }
    return aside
  }
}
