import Glibc

/// The user's folders for programs of this package, by the XDG Base Directory Specification.
package enum UserFolders {
  /// State: `$XDG_STATE_HOME/halo-raw`, else `~/.local/state/halo-raw`.
  package static var state: String? { folder("XDG_STATE_HOME", ".local/state") }

  /// The same of the user who has called sudo, also before root is given up.
  package static var stateOfCaller: String? { folder("XDG_STATE_HOME", ".local/state", of: caller) }

  /// The user who has called sudo, else the current one.
  package static var caller: uid_t {
    let own = geteuid()
    return own == 0 ? environment("SUDO_UID").flatMap { uid_t($0) } ?? own : own
  }

  /// Data: `$XDG_DATA_HOME/halo-raw`, else `~/.local/share/halo-raw`.
  package static var data: String? { folder("XDG_DATA_HOME", ".local/share") }

  /// Configuration: `$XDG_CONFIG_HOME/halo-raw`, else `~/.config/halo-raw`.
  package static var configuration: String? { folder("XDG_CONFIG_HOME", ".config") }

  /// For files that are valid until the machine restarts: `/run/halo-raw`, which only root can make, else the folder for state.
  package static var runtime: [String] { ["/run/halo-raw"] + (state.map { [$0] } ?? []) }

  /// For large temporary files: `$TMPDIR`, else `/var/tmp`.
  package static var temporary: String { environment("TMPDIR") ?? "/var/tmp" }

  /// For copies of files, the best first: where the first can't be used, another one has to do.
  package static var forCopies: [String] { [temporary, "/tmp", "/dev/shm"] }

  /// For sockets, the best first: in `$XDG_RUNTIME_DIR`, which a login has, or in `$RUNTIME_DIRECTORY`, which a service has, if
  /// it is this user's and no other user can write to it, else those for ``runtime``.
  package static var sockets: [String] {
    let variables = ["XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY"]
    // The second may have several, between colons.
    let bases = variables.compactMap { environment($0)?.split(separator: ":").first.map(String.init) }
    return bases.filter(isOwn).map { $0 + "/halo-raw" } + runtime
  }

  private static func isOwn(_ path: String) -> Bool {
    var status = stat()
    return path.hasPrefix("/") && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
  }

  private static func folder(_ variable: String, _ place: String, of user: uid_t = geteuid()) -> String? {
    if let base = environment(variable), base.hasPrefix("/") { return base + "/halo-raw" }
    return home(of: user).flatMap { $0.hasPrefix("/") ? "\($0)/\(place)/halo-raw" : nil }
  }

  /// The home of the current user, or of the one who has called sudo. Under sudo, the environment has that of root.
  private static func home(of user: uid_t) -> String? {
    if environment("SUDO_UID") != nil, let user = getpwuid(user) {
      return String(cString: user.pointee.pw_dir)
    }
    return environment("HOME")
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}

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
    return LocalSocket.connect(socket, "\(opened)/\(name)")
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
}
