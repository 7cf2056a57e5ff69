import Glibc

/// The files that SQLite keeps beside a file, under its name with an ending, and opens by these names itself. Their data become
/// contents of the file, so they have to pass the same check.
package enum CompanionFiles {
  /// A rollback journal: it replaces parts of the file, and names another file, which SQLite deletes.
  private static let journal = "-journal"
  /// The write-ahead log: it has the last changes.
  private static let log = "-wal"
  /// The endings of all of them, with the index of the log.
  package static let endings = [journal, log, "-shm"]

  /// How often a journal is looked for before it counts as one that stays: other programs have one for a moment.
  private static let looks = 50
  /// How often the file is copied anew because another program has written to it in a way that the log does not show.
  private static let copies = 5
  /// The pause before each, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Verifies that each file beside a file is missing, or a regular file that may be written by the rule of `FilePlace`.
  ///
  /// - Throws: `.notRegular`, `.foreign`, `.journal` if there is a rollback journal, or the kernel's error
  package static func check(beside path: String) throws(FileError) {
    let place = try FilePlace(path)
    for ending in endings {
      guard let status = try place.status(beside: ending) else { continue }
      guard status.isRegular else { throw FileError(path + ending, .notRegular) }
      guard place.trusts(status) else { throw FileError(path + ending, .foreign) }
    }
    try waitForJournal(at: place)
  }

  /// - Throws: `.journal` if there is a rollback journal that stays
  private static func waitForJournal(at place: FilePlace) throws(FileError) {
    for look in 0..<looks {
      if look > 0 { usleep(pause) }
      guard let status = try place.status(beside: journal), status.st_size > 0 else { return }
    }
    throw FileError(place.path + journal, .journal)
  }

  /// Copies a file together with its log, as both are at one moment, while other programs may write to the log.
  ///
  /// - Throws: `.notRegular`, `.foreign`, `.journal`, `.beingWritten`, `.noCopy`, or the kernel's error
  package static func copy(_ path: String) throws(FileError) -> FileCopy {
    let place = try FilePlace(path)
    for _ in 0..<copies {
      try waitForJournal(at: place)
      if let copy = try copyOnce(place) { return copy }
      usleep(pause)
    }
    throw FileError(path, .beingWritten)
  }

  /// A log grows at its end only, and keeps the pages that were moved into the file until it begins anew, with another header.
  /// An incomplete entry at its end does not count. So the copies of the file, and then of the log, belong together if the log
  /// has the same header before and after. Without a log, the file must not change.
  ///
  /// - Returns: nil if the copies may not belong together
  private static func copyOnce(_ place: FilePlace) throws(FileError) -> FileCopy? {
    let path = place.path
    guard let file = place.open(O_RDONLY), let before = file.status else { throw .last(path) }
    guard before.isRegular else { throw FileError(path, .notRegular) }
    let header = try openLog(of: place, before).flatMap(self.header)
    let copy = try FileCopy(deleting: endings)
    try copy.add("", file, before, path)
    let log = try openLog(of: place, before)
    if let log, let status = log.status {
      try copy.add(self.log, log, status, path + self.log)
    }
    guard log.flatMap(self.header) == header, try openLog(of: place, before).flatMap(self.header) == header
    else { return nil }
    guard header != nil || file.status?.isSame(as: before) == true else { return nil }
    try copy.publish()
    return copy
  }

  /// - Returns: nil if there is none
  private static func openLog(of place: FilePlace, _ file: stat) throws(FileError) -> FileDescriptor? {
    let path = place.path + log
    guard let descriptor = place.open(O_RDONLY, beside: log), let status = descriptor.status else {
      if errno == ENOENT { return nil }
      throw errno == ELOOP ? FileError(path, .notRegular) : .last(path)
    }
    guard status.isRegular else { throw FileError(path, .notRegular) }
    // Another account could put records into a file that it can't write.
    guard status.st_uid == file.st_uid || place.trusts(status) else { throw FileError(path, .foreign) }
    return descriptor
  }

  /// The header of a log (sqlite.org/fileformat.html, 4.1): its numbers change each time that it begins anew.
  ///
  /// - Returns: nil if it is shorter
  private static func header(_ log: FileDescriptor) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 32)
    return pread(log.number, &bytes, bytes.count, 0) == bytes.count ? bytes : nil
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
  /// Whether it is the same file, and was not written to since.
  fileprivate func isSame(as before: stat) -> Bool {
    st_dev == before.st_dev && st_ino == before.st_ino && st_size == before.st_size
      && st_mtim.tv_sec == before.st_mtim.tv_sec && st_mtim.tv_nsec == before.st_mtim.tv_nsec
  }
}
