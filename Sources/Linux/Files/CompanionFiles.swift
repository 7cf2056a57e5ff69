import Glibc
import HaloSystemCalls

/// The files that a library keeps beside one of this program, under its name with an ending, and opens by these names itself:
/// SQLite has a rollback journal, a log, and an index of the log. What they hold becomes the contents of the file, so that
/// they have to pass the same check.
package enum CompanionFiles {
  /// Verifies that each file beside a file is missing, or a regular file that may be written by the rule of ``FilePlace``.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - endings: those of the files beside it
  ///   - journal: the one of them that has to be empty
  /// - Throws: `.notRegular`, `.foreign`, `.journal`, or the kernel's error
  package static func check(beside path: String, _ endings: [String], journal: String) throws(FileError) {
    let place = try FilePlace(path)
    for ending in endings {
      guard let status = try place.status(beside: ending) else { continue }
      guard status.isRegular else { throw FileError(path + ending, .notRegular) }
      guard place.trusts(status) else { throw FileError(path + ending, .foreign) }
      guard ending != journal || status.st_size == 0 else { throw FileError(path + ending, .journal) }
    }
  }

  /// How often the files are copied anew because another program has written to them meanwhile.
  private static let attempts = 20
  /// The pause before each, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Copies a file, and the one beside it that has its last changes, as both are at one moment.
  ///
  /// - Parameters:
  ///   - path: the file
  ///   - ending: that of the file beside it, which may be missing
  ///   - endings: those of all files that the library makes beside the copy; they are deleted with it
  /// - Throws: `.notRegular`, `.foreign`, `.beingWritten`, or the kernel's error
  package static func copy(
    _ path: String, with ending: String, deleting endings: [String]
  ) throws(FileError) -> FileCopy {
    let place = try FilePlace(path)
    for attempt in 0..<attempts {
      if attempt > 0 { usleep(pause) }
      if let copy = try copyOnce(place, ending, endings) { return copy }
    }
    throw FileError(path, .beingWritten)
  }

  /// - Returns: nil if a file has changed meanwhile
  private static func copyOnce(
    _ place: FilePlace, _ ending: String, _ endings: [String]
  ) throws(FileError) -> FileCopy? {
    let path = place.path
    guard let file = place.open(O_RDONLY), let before = file.status else { throw .last(path) }
    guard before.isRegular else { throw FileError(path, .notRegular) }
    let logBefore = try place.status(beside: ending)
    let copy = try FileCopy(deleting: endings)
    try copy.add("", file, before, path)
    if let logBefore {
      guard logBefore.isRegular else { throw FileError(path + ending, .notRegular) }
      // Another account could put records into a file that it can't write.
      guard logBefore.st_uid == before.st_uid || place.trusts(logBefore) else {
        throw FileError(path + ending, .foreign)
      }
      guard let log = place.open(O_RDONLY, beside: ending) else {
        if errno == ENOENT { return nil }
        throw .last(path + ending)
      }
      guard log.status?.isSame(as: logBefore) == true else { return nil }
      try copy.add(ending, log, logBefore, path + ending)
    }
    let logAfter = try place.status(beside: ending)
    let isLogSame = logBefore.map { logAfter?.isSame(as: $0) == true } ?? (logAfter == nil)
    return isLogSame && file.status?.isSame(as: before) == true ? copy : nil
  }
}

extension FilePlace {
  /// The status of the file that is beside this one, under its name with an ending; nil if there is none.
  fileprivate func status(beside ending: String) throws(FileError) -> stat? {
    var status = stat()
    guard fstatat(folder, name + ending, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw .last(path + ending)
    }
    return status
  }
}

extension stat {
  /// Whether it is the same file, which nobody has written to since.
  fileprivate func isSame(as before: stat) -> Bool {
    st_dev == before.st_dev && st_ino == before.st_ino && st_size == before.st_size
      && st_mtim.tv_sec == before.st_mtim.tv_sec && st_mtim.tv_nsec == before.st_mtim.tv_nsec
  }
}

/// A copy of a file, in a folder that only this user can enter. The copy is deleted with this object.
package final class FileCopy {
  private let location: String
  private let folder: FileDescriptor
  /// The endings of the files beside it.
  private let endings: [String]

  private static let name = "copy"

  /// The path of the copy.
  package var path: String { location + "/" + Self.name }

  fileprivate init(deleting endings: [String]) throws(FileError) {
    let number = String(UInt64.random(in: 0 ... .max), radix: 36)
    location = "\(UserFolders.temporary)/halo-raw-\(getpid())-\(number)"
    guard SystemCall.makeFolder(location, mode: 0o700) == 0,
      let folder = FileDescriptor(SystemCall.open(location, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
    else {
      throw FileError.last(location)
    }
    self.folder = folder
    self.endings = endings
  }

  /// Copies what a file had when it was opened.
  fileprivate func add(
    _ ending: String, _ source: FileDescriptor, _ status: stat, _ path: String
  ) throws(FileError) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    let name = Self.name + ending
    guard let target = FileDescriptor(SystemCall.open(name, flags, mode: 0o600, in: folder.number)) else {
      throw .last(location)
    }
    let size = off_t(status.st_size)
    var position: off_t = 0
    while position < size, let data = Self.data(in: source, from: position, size) {
      position = data.upperBound
      try Self.copy(data, source, path, to: target, location)
    }
    // What is left out is read as zeros.
    guard SystemCall.truncate(target.number, Int(size)) == 0 else { throw .last(location) }
  }

  // lseek(2): the next place with data, and the next without. The Glibc module does not export the constants.
  private static let seekData: Int32 = 3
  private static let seekHole: Int32 = 4

  /// The next part of a file that takes room on the disk: a file of any size can have none. Nil at the end.
  private static func data(
    in file: FileDescriptor, from position: off_t, _ size: off_t
  ) -> Range<off_t>? {
    let start = lseek(file.number, position, seekData)
    if start < 0 { return errno == ENXIO ? nil : position..<size }
    guard start < size else { return nil }
    let end = lseek(file.number, start, seekHole)
    return start..<(end > start ? min(end, size) : size)
  }

  private static func copy(
    _ data: Range<off_t>, _ source: FileDescriptor, _ path: String, to target: FileDescriptor,
    _ location: String
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
      try OutputFile.write(Array(buffer[..<count]), to: target.number, location)
    }
  }

  deinit {
    for ending in [""] + endings { _ = SystemCall.remove(Self.name + ending, in: folder.number) }
    rmdir(location)
  }
}
