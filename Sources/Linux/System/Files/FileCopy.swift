import Glibc

/// A copy of a file, and of one beside it, in a folder that only this user can enter.
///
/// The files have no names while they are copied, which takes time, so that a program that is killed leaves none. `publish()`
/// gives them names, for a library that opens them; these are deleted with this object. The files of a program that was killed
/// in between are deleted when another copy is made: the folder of a running program is locked.
package final class FileCopy {
  private let location: String
  private let folder: FileDescriptor
  /// The endings of the files beside it.
  private let endings: [String]
  /// The files that have no name yet, and the one that they get.
  private var unnamed: [(file: FileDescriptor, name: String)] = []

  private static let name = "copy"
  private static let prefix = "halo-raw-copy-"
  /// A folder that is younger may belong to a program that has not locked it yet, in seconds.
  private static let youngest = 60
  /// O_TMPFILE, which the Glibc module does not export.
  private static let withoutName = 0o20_000_000 | O_DIRECTORY

  /// The path of the copy.
  package var path: String { location + "/" + Self.name }

  /// - Parameter endings: those of all files that a library makes beside the copy
  init(deleting endings: [String]) throws(FileError) {
    let places = UserFolders.forCopies
    self.endings = endings
    var failure = FileError(places[0], .noCopy(in: places[0], ENOENT))
    for place in places {
      Self.sweep(place, endings)
      let location = "\(place)/\(Self.prefix)\(String(UInt64.random(in: 0 ... .max), radix: 36))"
      if SystemCall.makeFolder(location, mode: 0o700) == 0,
        let folder = FileDescriptor(SystemCall.open(location, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)),
        flock(folder.number, LOCK_EX | LOCK_NB) == 0
      {
        (self.location, self.folder) = (location, folder)
        return
      }
      if place == places[0] { failure = FileError(place, .noCopy(in: place, errno)) }
    }
    throw failure
  }

  /// Deletes the copies of programs that were killed.
  private static func sweep(_ place: String, _ endings: [String]) {
    for name in FolderNames.read(place) where name.hasPrefix(prefix) {
      let path = "\(place)/\(name)"
      guard let folder = FileDescriptor(SystemCall.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)),
        let status = folder.status, status.st_uid == geteuid(),
        abs(time(nil) - status.st_mtim.tv_sec) > youngest, flock(folder.number, LOCK_EX | LOCK_NB) == 0
      else { continue }
      remove(folder, path, endings)
    }
  }

  private static func remove(_ folder: FileDescriptor, _ path: String, _ endings: [String]) {
    for ending in [""] + endings { _ = SystemCall.remove(name + ending, in: folder.number) }
    rmdir(path)
  }

  deinit { Self.remove(folder, location, endings) }

  /// Copies the present contents of a file.
  ///
  /// - Parameters:
  ///   - ending: that of the copy
  ///   - source: the file
  ///   - status: its status
  ///   - path: its path, for errors
  func add(_ ending: String, _ source: FileDescriptor, _ status: stat, _ path: String) throws(FileError) {
    let target = try create(Self.name + ending, path)
    let size = off_t(status.st_size)
    var position: off_t = 0
    while position < size, let data = Self.data(in: source, from: position, size) {
      position = data.upperBound
      try copy(data, source, path, to: target)
    }
    // The part that is left out is read as zeros.
    guard SystemCall.truncate(target.number, Int(size)) == 0 else { throw failure(path) }
  }

  private func create(_ name: String, _ path: String) throws(FileError) -> FileDescriptor {
    if let file = FileDescriptor(
      SystemCall.open(".", O_RDWR | Self.withoutName, mode: 0o600, in: folder.number))
    {
      unnamed.append((file, name))
      return file
    }
    // The file system has no files without a name.
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
    guard let file = FileDescriptor(SystemCall.open(name, flags, mode: 0o600, in: folder.number)) else {
      throw failure(path)
    }
    return file
  }

  /// Gives the copies their names.
  func publish() throws(FileError) {
    for (file, name) in unnamed {
      let source = "/proc/self/fd/\(file.number)"
      guard linkat(AT_FDCWD, source, folder.number, name, AT_SYMLINK_FOLLOW) == 0 else {
        throw failure(path)
      }
    }
    unnamed = []
  }

  private func failure(_ path: String) -> FileError { FileError(path, .noCopy(in: location, errno)) }

  // lseek(2): the next place with data, and the next without. The Glibc module does not export the constants.
  private static let seekData: Int32 = 3
  private static let seekHole: Int32 = 4

  /// The next part of a file that takes room on the disk: a file of any size can have none. Nil at the end.
  private static func data(in file: FileDescriptor, from position: off_t, _ size: off_t) -> Range<off_t>? {
    let start = lseek(file.number, position, seekData)
    if start < 0 { return errno == ENXIO ? nil : position..<size }
    guard start < size else { return nil }
    let end = lseek(file.number, start, seekHole)
    return start..<(end > start ? min(end, size) : size)
  }

  private func copy(
    _ data: Range<off_t>, _ source: FileDescriptor, _ path: String, to target: FileDescriptor
  ) throws(FileError) {
    lseek(source.number, data.lowerBound, SEEK_SET)
    lseek(target.number, data.lowerBound, SEEK_SET)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var rest = Int(data.upperBound - data.lowerBound)
    while rest > 0 {
      let count = SystemCall.read(source.number, &buffer, min(rest, buffer.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .last(path) }
      if count == 0 { return }
      rest -= count
      do throws(FileError) {
        try OutputFile.write(Array(buffer[..<count]), to: target.number, location)
      } catch {
        throw FileError(path, .noCopy(in: location, error.systemError ?? EIO))
      }
    }
  }
}
