import Glibc

/// The user who started the program with sudo.
struct InvokingUser: Hashable, Sendable {
  var user: uid_t
  var group: gid_t
  /// Nil for a user without an entry in the user database.
  var name: String?
  var home: String?

  /// The user in sudo's environment variables; nil without sudo, and if root itself used it.
  ///
  /// The variables only count for root: any other user may set them to anything.
  static func current() -> InvokingUser? {
    guard geteuid() == 0, let ids = ids(user: variable("SUDO_UID"), group: variable("SUDO_GID")) else {
      return nil
    }
    var result = InvokingUser(user: ids.user, group: ids.group)
    if let entry = getpwuid(ids.user) {
      result.name = String(cString: entry.pointee.pw_name)
      result.home = String(cString: entry.pointee.pw_dir)
    }
    return result
  }

  /// Reads the two ids. Neither may be missing, 0, or -1, which means "unchanged" to the kernel.
  static func ids(user: String?, group: String?) -> (user: uid_t, group: gid_t)? {
    guard let user = user.flatMap({ uid_t($0) }), let group = group.flatMap({ gid_t($0) }),
      user != 0, user != .max, group != .max
    else { return nil }
    return (user, group)
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
