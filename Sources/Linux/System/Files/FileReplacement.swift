import Glibc

extension OutputFile {
  /// Replaces the contents of a path. A regular file is replaced atomically: readers find the old or the new contents,
  /// even after a power failure. It keeps its mode and owner; if a new file can't have them, or can't be created in the
  /// folder, the file is written in place.
  ///
  /// - Returns: nil if the contents have been synchronized; an open device or FIFO that the caller has to write them to
  package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) -> OutputFile? {
    let place = try FilePlace(path)
    guard place.found != nil else {
      try Draft(place, bytes).move(to: place.name)
      return nil
    }
    let file = try OutputFile(place, makes: false)
    guard file.isRegular else { return file }
    do throws(FileError) {
      guard !place.isKernelLink, file.status.st_nlink == 1 else { throw FileError(path, .system(EXDEV)) }
      let draft = try Draft(place, bytes, like: file.status)
      try draft.move(to: place.name)
    } catch  where error.isOfTheFolder {
      try file.truncate()
      try write(bytes, to: file.descriptor, path)
      guard SystemCall.synchronize(file.descriptor) == 0 || errno == EINVAL else { throw .last(path) }
    }
    return nil
  }

  /// Writes all bytes to a regular file.
  static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { SystemCall.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count == 0 || errno != EINTR {
        throw count == 0 ? FileError(path, .system(EIO)) : .last(path)
      }
    }
  }
}

extension FileError {
  /// The folder, and not the disk, does not permit replacing a file: writing in place can succeed.
  fileprivate var isOfTheFolder: Bool {
    guard case .system(let number) = reason else { return false }
    return [EACCES, EPERM, EROFS, EBUSY, EXDEV, ENAMETOOLONG].contains(number)
  }
}

/// A temporary file with the new contents, in the folder of the file that it replaces. It is deleted unless it is
/// moved.
private final class Draft {
  private let place: FilePlace
  private let name: String
  private var isMoved = false

  /// - Parameter old: the file whose mode and owner are copied
  init(_ place: FilePlace, _ bytes: [UInt8], like old: stat? = nil) throws(FileError) {
    self.place = place
    name = ".halo-raw-\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
    guard
      let file = FileDescriptor(
        SystemCall.open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, in: place.folder))
    else { throw .last(place.path) }
    do throws(FileError) {
      if let old {
        if old.st_uid != geteuid() || old.st_gid != file.status?.st_gid {
          guard SystemCall.setOwner(file.number, old.st_uid, old.st_gid) == 0 else { throw .last(place.path) }
        }
        guard SystemCall.setMode(file.number, old.st_mode & 0o777) == 0 else { throw .last(place.path) }
      }
      try OutputFile.write(bytes, to: file.number, place.path)
      guard SystemCall.synchronize(file.number) == 0 || errno == EINVAL else { throw .last(place.path) }
    } catch {
      _ = SystemCall.remove(name, in: place.folder)
      isMoved = true
      throw error
    }
  }

  deinit {
    if !isMoved { _ = SystemCall.remove(name, in: place.folder) }
  }

  func move(to target: String) throws(FileError) {
    guard SystemCall.rename(name, to: target, in: place.folder) == 0 else { throw .last(place.path) }
    isMoved = true
    // Synchronizing the folder makes the new name durable, too.
    if let folder = FileDescriptor(SystemCall.open(".", O_RDONLY | O_DIRECTORY, in: place.folder)) {
      _ = SystemCall.synchronize(folder.number)
    }
  }
}
