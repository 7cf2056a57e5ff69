import Glibc
import SystemCalls

/// Folders that are this user's alone.
public enum PrivateFolder {
  /// Makes a folder, and those above it that are missing, with mode 0700. One that is there has to be this user's, and is
  /// closed to others.
  ///
  /// - Throws: `.foreign`, or the kernel's error
  public static func make(_ path: String) throws(FileError) {
    var end = path.startIndex
    while end < path.endIndex {
      end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
      // One that may not be made may be there all the same.
      _ = SystemCall.makeFolder(String(path[..<end]), mode: 0o700)
    }
    guard let folder = Descriptor(SystemCall.open(path, O_RDONLY | O_DIRECTORY)),
      let status = folder.status
    else { throw .last(path) }
    guard status.st_uid == geteuid() else { throw FileError(path, .foreign) }
    if status.st_mode & 0o077 != 0 { _ = SystemCall.setMode(folder.number, 0o700) }
  }
}
