import Glibc
import HaloBluetoothCore

/// Files in a folder that follow one another, each with the time of its beginning in its name:
/// `stream-20261122T224500Z.csv`. The file that is being written has `.part` after its name, and loses it when it is
/// complete. Files are new, have mode 0600, and replace no other file.
///
/// Calls that change files wait for the disk. One thread at a time changes the files.
package final class FileSeries: @unchecked Sendable {
  /// The folder.
  package let path: String
  private let stem: String
  private let ending: String
  private let folder: FileDescriptor
  /// The name of the file that is being written, when it is complete.
  private let current = LockedValue<String?>(nil)
  /// The files of this object that are complete, oldest first, each with its end on the clock that is never set.
  private var ended: [(name: String, steadyEnd: Int)] = []

  private static let part = ".part"

  /// The name that a file of a series has, or will have, when it is complete.
  package static func complete(_ name: String) -> String {
    name.hasSuffix(part) ? String(name.dropLast(part.utf8.count)) : name
  }

  /// More files with the same second in their names are not made.
  private static let maximumClashes = 1000

  /// Opens the folder, and creates it (0700) if it is missing. A file that was not completed, because its program was
  /// killed, is completed; if it has lines, without the last one, if that is incomplete.
  ///
  /// - Parameters:
  ///   - path: that of the folder
  ///   - stem: the beginning of the names
  ///   - suffix: the end of the names: `csv`
  ///   - hasLines: whether the files are text
  package init(folder path: String, stem: String, suffix: String, hasLines: Bool) throws(FileError) {
    self.path = path
    self.stem = stem + "-"
    ending = "." + suffix
    folder = try Self.open(path)
    for name in names(with: ending + Self.part) { complete(killed: name, hasLines) }
  }

  /// Opens the folder; a link to it is followed by the rule of ``FilePlace``.
  private static func open(_ path: String) throws(FileError) -> FileDescriptor {
    if SystemCall.makeFolder(path, mode: 0o700) != 0, errno != EEXIST { throw .last(path) }
    let name = path.reversed().drop { $0 == "/" }.prefix { $0 != "/" }
    let isNamed = !["", ".", ".."].contains(String(name))
    let place = isNamed ? try FilePlace(String(path.reversed().drop { $0 == "/" }.reversed())) : nil
    let flags = O_RDONLY | O_DIRECTORY | (isNamed ? O_NOFOLLOW : 0)
    let folder = SystemCall.open(place?.name ?? path, flags, in: place?.folder ?? AT_FDCWD)
    guard let folder = FileDescriptor(folder) else { throw .last(path) }
    return folder
  }

  /// The path of the file that is being written, when it is complete; nil if there is none.
  package var currentPath: String? { current.withLock(\.self).map(location) }

  /// Completes the file that is being written, if any, and creates the next one.
  ///
  /// - Parameters:
  ///   - time: now; its name has the time of day
  ///   - bytes: its beginning
  /// - Returns: its descriptor, which the caller closes. The file is locked until then
  package func next(at time: FileTime, beginning bytes: [UInt8] = []) throws(FileError) -> Int32 {
    if let name = current.withLock(\.self) { ended.append((name, time.steady)) }
    try complete()
    let (name, file) = try create(time.unix)
    current.withLock { $0 = name }
    // Another program of this user leaves a locked file alone.
    guard SystemCall.lock(file.number, LOCK_EX | LOCK_NB) == 0 else { throw .last(location(name)) }
    try OutputFile.write(bytes, to: file.number, location(name))
    return file.take()
  }

  private func create(_ seconds: Int) throws(FileError) -> (name: String, file: FileDescriptor) {
    let start = stem + Self.text(seconds)
    for clash in 0..<Self.maximumClashes {
      let name = start + (clash == 0 ? "" : "_" + DecimalText.padded(clash, 3)) + ending
      guard faccessat(folder.number, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else { continue }
      let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
      if let file = FileDescriptor(SystemCall.open(name + Self.part, flags, mode: 0o600, in: folder.number)) {
        return (name, file)
      }
      guard errno == EEXIST else { throw .last(location(name)) }
    }
    throw FileError(path, .system(EEXIST))
  }

  /// Completes the file that is being written: it gets its name, also if the power fails.
  package func complete() throws(FileError) {
    if let name = current.withLock({ $0.take() }) { try complete(name) }
  }

  private func complete(_ name: String) throws(FileError) {
    if let file = FileDescriptor(SystemCall.open(name + Self.part, O_RDONLY | O_NOFOLLOW, in: folder.number))
    {
      _ = SystemCall.synchronize(file.number)
    }
    guard SystemCall.rename(name + Self.part, to: name, in: folder.number) == 0 else {
      throw .last(location(name))
    }
    _ = SystemCall.synchronize(folder.number)
  }

  /// Completes a file whose program was killed, and leaves one alone that is being written.
  private func complete(killed part: String, _ hasLines: Bool) {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
    guard let file = FileDescriptor(SystemCall.open(part, flags, in: folder.number)),
      let status = file.status,
      status.isRegular, status.st_uid == geteuid(),
      SystemCall.lock(file.number, LOCK_EX | LOCK_NB) == 0
    else { return }
    if hasLines, let end = Self.endOfLines(in: file, Int(status.st_size)) {
      _ = SystemCall.truncate(file.number, end)
    }
    try? complete(String(part.dropLast(Self.part.utf8.count)))
  }

  /// The end of the last complete line, if one ends within the last 64 KiB.
  private static func endOfLines(in file: FileDescriptor, _ length: Int) -> Int? {
    var bytes = [UInt8](repeating: 0, count: min(length, 1 << 16))
    let start = length - bytes.count
    guard pread(file.number, &bytes, bytes.count, off_t(start)) == bytes.count else { return nil }
    return bytes.lastIndex(of: UInt8(ascii: "\n")).map { start + $0 + 1 }
  }

  /// Deletes the files that ended longer than `age` ago, each with its companions.
  ///
  /// The age of a file of this object is counted on the clock that is never set. That of another file follows from the names:
  /// it ended where the next one begins.
  ///
  /// - Parameters:
  ///   - age: in seconds
  ///   - time: now; its time of day must not be later than that of a clock that was not set since this object was made
  ///   - isSynchronized: whether the time of day is known to be right; if not, only files of this object are deleted
  ///   - beside: the endings of the files beside: `.json`
  package func removeFiles(
    olderThan age: Int, at time: FileTime, isSynchronized: Bool = true, beside: [String] = []
  ) -> FileRotation.Removal {
    let own = Set(ended.map(\.name) + [current.withLock(\.self)].compactMap(\.self))
    let others = names(with: ending).filter { !own.contains($0) }
    let limit = stem + Self.text(time.unix - age)
    let old = zip(others, others.dropFirst() + [stem + Self.text(time.unix)]).filter { $1 < limit }.map(\.0)
    let ownOld = ended.prefix { $0.steadyEnd < time.steady - age }.map(\.name)
    ended.removeFirst(ownOld.count)
    var removal = FileRotation.Removal(undecided: isSynchronized ? 0 : old.count)
    for name in (isSynchronized ? old : []) + ownOld {
      if SystemCall.remove(name, in: folder.number) == 0 { removal.deleted.append(name) }
      for ending in beside { _ = SystemCall.remove(name + ending, in: folder.number) }
    }
    return removal
  }

  /// The names of files of this series with an ending, in the order of their times.
  private func names(with ending: String) -> [String] {
    // A folder of its own: the position in a folder belongs to the open file.
    guard let copy = FileDescriptor(SystemCall.open(".", O_RDONLY | O_DIRECTORY, in: folder.number))
    else { return [] }
    return FolderNames.read(taking: copy.take()).filter { isOfSeries($0, ending) }.sorted()
  }

  private func isOfSeries(_ name: String, _ ending: String) -> Bool {
    guard name.hasPrefix(stem), name.hasSuffix(ending) else { return false }
    let time = name.utf8.dropFirst(stem.utf8.count).dropLast(ending.utf8.count)
    return time.count >= 16 && time.allSatisfy { "0123456789TZ_".utf8.contains($0) }
  }

  private func location(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

  /// `20261122T224500Z`.
  private static func text(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    func digits(_ number: Int32, _ count: Int) -> String { DecimalText.padded(Int(number), count) }
    let day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
    return day + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
  }
}
