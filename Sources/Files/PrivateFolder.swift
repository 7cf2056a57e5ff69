import Glibc
import SystemCalls

/// Folders accessible only to this user.
public enum PrivateFolder {
  /// Creates a folder and its missing parents with mode 0700. An existing folder has to be owned by this user, and is
  /// made inaccessible to others.
  ///
  /// - Throws: `.foreign`, or the kernel's error
  public static func make(_ path: String) throws(FileError) {
    var end = path.startIndex
    while end < path.endIndex {
      end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
      // A folder that may not be created may exist already.
      _ = SystemCall.makeFolder(String(path[..<end]), mode: 0o700)
    }
    guard let folder = Descriptor(SystemCall.open(path, O_RDONLY | O_DIRECTORY)),
      let status = folder.status
    else { throw .last(path) }
    guard status.st_uid == geteuid() else { throw FileError(path, .foreign) }
    if status.st_mode & 0o077 != 0 { _ = SystemCall.setMode(folder.number, 0o700) }
  }
}
