import Glibc

/// `make install` leaves two files of one program: PREFIX/bin/halo-raw, which everybody may run and which has no
/// privilege, and PREFIX/lib/halo-raw/halo-raw, which has capabilities and which only root and a group may run. The first
/// becomes the second where a command needs it.
public enum PrivilegedProgram {
  private static let location = "/lib/halo-raw/halo-raw"

  /// The second file's path, beside this program's own; nil if this program was not installed, or is the second one. It
  /// depends on nothing that a user can set.
  public static var path: String? { executable.flatMap { path(besides: $0) } }

  /// `/usr/local/lib/halo-raw/halo-raw` for `/usr/local/bin/halo-raw`.
  public static func path(besides executable: String) -> String? {
    let suffix = "/bin/halo-raw"
    guard executable.hasSuffix(suffix) else { return nil }
    return executable.dropLast(suffix.count) + location
  }

  /// Whether `make install` has put this program where it is.
  public static var isInstalled: Bool { group != nil || executable?.hasSuffix(location) ?? false }

  /// Whether a file is what `make install` leaves: root's, and for no other user to write.
  public static func isTrusted(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == 0
      && status.st_mode & (S_IWGRP | S_IWOTH) == 0
  }

  /// The group whose members may run it; nil if it is not there.
  public static var group: String? {
    var status = stat()
    guard let path, lstat(path, &status) == 0 else { return nil }
    return getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? "\(status.st_gid)"
  }

  /// Makes this process that program, with the same arguments and environment, if this user may run it. Only returns if
  /// that is not so. No thread may be there but the main one.
  public static func become() {
    guard let path, isTrusted(path), access(path, X_OK) == 0 else { return }
    execv(path, CommandLine.unsafeArgv)
  }

  private static var executable: String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
