import Glibc

/// The location of a path: an open folder and a name in it. Symbolic links are resolved here and not by `open`, by the
/// rule of the kernel's `fs.protected_symlinks` (proc_sys_fs(5)), whatever its setting: in a sticky folder that others
/// can write to, only links owned by this user or by the folder's owner are followed. Files are opened relative to the
/// folder without following links, so that the checked file is the opened one.
final class FilePlace {
  let path: String
  let name: String
  /// The status of the file with this name; nil if there is none.
  let found: stat?
  /// The name is in /proc/PID/fd: a link that only the kernel can follow, to a file that may have no name.
  let isKernelLink: Bool
  /// O_PATH: a folder that can't be listed may still be writable. The Glibc module does not export the constant.
  static let pathOnly: Int32 = 0o10_000_000
  private let folderDescriptor: FileDescriptor
  private let folderStatus: stat

  var folder: Int32 { folderDescriptor.number }
  var folderIdentity: stat { folderStatus }

  init(_ path: String) throws(FileError) {
    self.path = path
    var rest = path
    var base: FileDescriptor?
    for _ in 0..<40 {
      let slash = rest.lastIndex(of: "/")
      let name = slash.map { String(rest[rest.index(after: $0)...]) } ?? rest
      let parent = slash.map { $0 == rest.startIndex ? "/" : String(rest[..<$0]) } ?? "."
      guard !rest.isEmpty else { throw FileError(path, .system(ENOENT)) }
      guard !name.isEmpty, name != ".", name != ".." else { throw FileError(path, .system(EISDIR)) }
      guard
        let folder = FileDescriptor(
          SystemCall.open(parent, Self.pathOnly | O_DIRECTORY, in: base?.number ?? AT_FDCWD)),
        let folderStatus = folder.status
      else { throw .last(path) }
      var found = stat()
      let isThere = fstatat(folder.number, name, &found, AT_SYMLINK_NOFOLLOW) == 0
      guard isThere || errno == ENOENT else { throw .last(path) }
      let isLink = isThere && found.kind == S_IFLNK
      let isKernelLink = isLink && Self.isProc(folder)
      if !isLink || isKernelLink {
        self.name = name
        self.found = isThere ? found : nil
        self.isKernelLink = isKernelLink
        folderDescriptor = folder
        self.folderStatus = folderStatus
        return
      }
      guard !folderStatus.isSharedFolder || found.st_uid == geteuid() || found.st_uid == folderStatus.st_uid
      else { throw FileError(path, .foreign) }
      var target = [CChar](repeating: 0, count: Int(PATH_MAX))
      let length = readlinkat(folder.number, name, &target, target.count)
      guard length > 0, length < target.count else { throw .last(path) }
      rest = String(decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      base = folder
    }
    throw FileError(path, .system(ELOOP))
  }

  private static func isProc(_ folder: FileDescriptor) -> Bool {
    var proc = stat()
    return stat("/proc", &proc) == 0 && folder.status?.st_dev == proc.st_dev
  }

  /// Opens the file without blocking and without following links; `flags` are added.
  ///
  /// - Parameter ending: another file is opened, which has the name of this one with this ending
  func open(_ flags: Int32, beside ending: String = "") -> FileDescriptor? {
    FileDescriptor(
      SystemCall.open(
        name + ending, flags | O_NONBLOCK | O_NOCTTY | (isKernelLink ? 0 : O_NOFOLLOW), mode: 0o600,
        in: folder))
  }

  /// Whether a file found here may be written: in a folder shared by several users, a regular file or FIFO has to be
  /// owned by this user or the folder's owner, as with `fs.protected_regular` and `fs.protected_fifos`.
  func trusts(_ status: stat) -> Bool {
    guard folderStatus.isSharedFolder, status.isRegular || status.kind == S_IFIFO else { return true }
    return status.st_uid == geteuid() || status.st_uid == folderStatus.st_uid
  }
}

/// The identity of the file that a path or a descriptor refers to, however it is spelled.
package enum FileIdentity: Hashable, Sendable {
  /// An existing regular file.
  case file(device: UInt, inode: UInt)
  /// A file that does not exist yet: its folder, and its name in it.
  case absent(device: UInt, inode: UInt, name: String)

  /// - Returns: nil if it can't be determined, and for devices, FIFOs, sockets and folders, which may safely be used
  ///   twice
  package init?(path: String) {
    guard let place = try? FilePlace(path) else { return nil }
    if place.isKernelLink {
      var status = stat()
      guard fstatat(place.folder, place.name, &status, 0) == 0 else { return nil }
      self.init(status)
    } else if let found = place.found {
      self.init(found)
    } else {
      let folder = place.folderIdentity
      self = .absent(device: UInt(folder.st_dev), inode: UInt(folder.st_ino), name: place.name)
    }
  }

  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.isRegular else { return nil }
    self = .file(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }
}

/// Folders accessible only to this user.
package enum PrivateFolder {
  /// Creates a folder and its missing parents with mode 0700. An existing folder has to be owned by this user, and is
  /// made inaccessible to others.
  ///
  /// - Throws: `.foreign`, or the kernel's error
  package static func make(_ path: String) throws(FileError) {
    var end = path.startIndex
    var refusal: FileError?
    while end < path.endIndex {
      end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
      // A folder that may not be created may exist already.
      let folder = String(path[..<end])
      if SystemCall.makeFolder(folder, mode: 0o700) != 0, errno != EEXIST, errno != ENOENT {
        refusal = .last(folder)
      }
    }
    guard let folder = FileDescriptor(SystemCall.open(path, O_RDONLY | O_DIRECTORY)),
      let status = folder.status
    else {
      let error = FileError.last(path)
      throw error.reason == .system(ENOENT) ? refusal ?? error : error
    }
    guard status.st_uid == geteuid() else { throw FileError(path, .foreign) }
    if status.st_mode & 0o077 != 0 { _ = SystemCall.setMode(folder.number, 0o700) }
  }
}
