import Glibc

/// A folder of sockets that only its owner, and root, can use: no other user can take a name in it, connect to a socket in it,
/// or fill the queue of one. Its descriptor is only used, and closed with the last copy: any thread may use it.
package struct SocketFolder: @unchecked Sendable {
  let path: String
  /// Its owner.
  package let user: uid_t
  /// Distinguishes it from other folders, however the path is spelled.
  package let identity: Identity
  private let folder: FileDescriptor

  package struct Identity: Hashable, Sendable {
    fileprivate let device: UInt
    fileprivate let inode: UInt
  }

  /// - Returns: nil if there is no such folder, or others than its owner can use it
  package init?(_ path: String) {
    guard path.hasPrefix("/"),
      let folder = FileDescriptor(
        SystemCall.open(path, FilePlace.pathOnly | O_DIRECTORY | O_NOFOLLOW)),
      let status = folder.status, status.st_mode & 0o077 == 0
    else { return nil }
    (self.path, self.folder, user) = (path, folder, status.st_uid)
    identity = Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }

  /// Opens this user's folder, and creates it and its missing parents with mode 0700.
  package static func make(_ path: String) throws(FileError) -> SocketFolder {
    try PrivateFolder.make(path)
    // Some file systems have no modes.
    guard let folder = SocketFolder(path) else { throw FileError(path, .readableByOthers) }
    guard folder.user == geteuid() else { throw FileError(path, .foreign) }
    return folder
  }

  /// Listens on a socket in this folder, replacing one whose process is gone.
  ///
  /// - Returns: the descriptor
  /// - Throws: `EADDRINUSE` if a process listens on it already
  package func listen(_ name: String) throws(FileError) -> Int32 {
    let place = "\(path)/\(name)"
    if !removeIfStale(name) { throw FileError(place, .system(EADDRINUSE)) }
    guard let socket = LocalSocket.listen(at: place) else { throw .last(place) }
    return socket
  }

  /// Whether the kernel has room for the path of a socket in a folder.
  package static func hasRoom(for name: String, in path: String) -> Bool {
    "\(path)/\(name)".utf8.count <= LocalSocket.longestName
  }

  /// A path to the folder that was opened, whatever has become of the path by which it was found.
  package var opened: String { "/proc/self/fd/\(folder.number)" }

  /// Connects a socket to one in this folder.
  ///
  /// - Returns: whether it is connected; if not, `errno` says why
  package func connect(_ socket: Int32, _ name: String) -> Bool {
    var status = stat()
    guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    guard status.kind == S_IFSOCK, status.st_uid == user else {
      errno = ENOENT
      return false
    }
    return LocalSocket.connect(socket, address(of: name))
  }

  /// Removes a socket of which no process is there any more.
  ///
  /// - Returns: whether there is none now
  @discardableResult
  package func removeIfStale(_ name: String) -> Bool {
    guard let socket = FileDescriptor(SystemCall.socket(AF_UNIX, SOCK_STREAM, 0)) else { return false }
    if connect(socket.number, name) { return false }
    guard errno == ECONNREFUSED else { return errno == ENOENT }
    return SystemCall.remove(name, in: folder.number) == 0
  }

  /// Removes a socket.
  package func remove(_ name: String) { _ = SystemCall.remove(name, in: folder.number) }

  private func address(of name: String) -> String { "\(opened)/\(name)" }
}
