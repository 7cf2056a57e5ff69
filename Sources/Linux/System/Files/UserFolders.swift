import Glibc

/// The user's folders for programs of this package, by the XDG Base Directory Specification.
package enum UserFolders {
  /// State: `$XDG_STATE_HOME/halo-raw`, else `~/.local/state/halo-raw`.
  package static var state: String? { folder("XDG_STATE_HOME", ".local/state") }

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

  private static func folder(_ variable: String, _ place: String) -> String? {
    if let base = environment(variable), base.hasPrefix("/") { return base + "/halo-raw" }
    return home.flatMap { $0.hasPrefix("/") ? "\($0)/\(place)/halo-raw" : nil }
  }

  /// The home of the current user. Under sudo, the environment has that of root.
  private static var home: String? {
    if environment("SUDO_UID") != nil, let user = getpwuid(geteuid()) {
      return String(cString: user.pointee.pw_dir)
    }
    return environment("HOME")
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }
}
