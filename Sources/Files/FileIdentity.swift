import Glibc

/// The identity of the file that a path or a descriptor refers to, however it is spelled.
public enum FileIdentity: Hashable, Sendable {
  /// An existing regular file.
  case file(device: UInt, inode: UInt)
  /// A file that does not exist yet: its folder, and its name in it.
  case absent(device: UInt, inode: UInt, name: String)

  /// - Returns: nil if it can't be determined, and for devices, FIFOs, sockets and folders, which may safely be used
  ///   twice
  public init?(path: String) {
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

  public init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.isRegular else { return nil }
    self = .file(device: UInt(status.st_dev), inode: UInt(status.st_ino))
  }
}
