import Glibc

/// `make install` and the package install two files of one program: PREFIX/bin/halo-raw, which everyone may run and which
/// has no capabilities, and PREFIX/lib/halo-raw/halo-raw, which has capabilities and which only root and a group may run.
/// The first executes the second if a command needs it.
package enum PrivilegedProgram {
  private static let location = "/lib/halo-raw/halo-raw"

  /// The path of the second file, relative to this program's own; nil if this program was not installed, or is the
  /// second file. It does not depend on anything that a user can set.
  package static var path: String? { executable.flatMap { path(besides: $0) } }

  /// `/usr/local/lib/halo-raw/halo-raw` for `/usr/local/bin/halo-raw`.
  package static func path(besides executable: String) -> String? {
    let suffix = "/bin/halo-raw"
    guard executable.hasSuffix(suffix) else { return nil }
    return executable.dropLast(suffix.count) + location
  }

  /// Whether this program was installed with privileges.
  package static var isInstalled: Bool { group != nil || executable?.hasSuffix(location) ?? false }

  /// Whether a file is as installed: owned by root, and not writable by other users.
  static func isTrusted(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == 0
      && status.st_mode & (S_IWGRP | S_IWOTH) == 0
  }

  /// The group whose members may run it; nil if it does not exist.
  package static var group: String? {
    var status = stat()
    guard let path, lstat(path, &status) == 0 else { return nil }
    return getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(status.st_gid)"
  }

  /// Replaces this process by that program, with the same arguments and environment, if this user may run it; returns
  /// only if not. Call it while the main thread is the only one.
  package static func become() {
    guard let path, isTrusted(path), access(path, X_OK) == 0 else { return }
    execv(path, CommandLine.unsafeArgv)
  }

  /// This program, with all links resolved.
  package static var executable: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
