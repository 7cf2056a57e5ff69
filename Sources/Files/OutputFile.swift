import Glibc
import SystemCalls

/// A file that is written where it is. A device or FIFO stays one, and nothing here waits for a FIFO's reader. A file
/// that is made belongs to its user alone (0600): what this package writes are health data.
public final class OutputFile {
  public let path: String
  /// Open for writing; -1 once it was taken.
  public private(set) var descriptor: Int32
  /// Else a device, a FIFO or a socket.
  public let isRegular: Bool
  let place: FilePlace
  let status: stat

  /// Opens a file, or makes it. Its contents stay until ``truncate()``.
  ///
  /// - Throws: `.noReader`, `.foreign`, or the kernel's error
  public convenience init(path: String) throws(FileError) {
    // The name may come and go in between.
    for _ in 0..<16 {
      let place = try FilePlace(path)
      do throws(FileError) {
        try self.init(place, makes: place.found == nil)
        return
      } catch  where [.system(ENOENT), .system(EEXIST), .system(ELOOP)].contains(error.reason) {
        // ENOENT: of a link in /proc, there is nothing to make.
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
    // The caller's writes wait, as with any file; only opening must not.
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
  public func truncate() throws(FileError) {
    guard isRegular else { return }
    guard SystemCall.truncate(descriptor, 0) == 0 else { throw .last(path) }
  }

  /// The descriptor, which its taker closes.
  public func take() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }
}

extension OutputFile {
  /// Opens a file, or makes it, and empties it.
  ///
  /// - Returns: a descriptor that its taker closes
  public static func open(path: String) throws(FileError) -> Int32 {
    let file = try OutputFile(path: path)
    try file.truncate()
    return file.take()
  }
}
